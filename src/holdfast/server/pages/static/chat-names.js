// Names while one types them, as a list below the field: of files after an @, of prompts after a slash.
import { _, api, debounce, el, ngettext } from "./core.js";
import { announce } from "./chat-state.js";

let isAllowed = true;

// Where names come from (a NameSource): `pattern` is what is typed so far, up to where one is, with what is replaced at its end;
// `look` finds entries for it, `pick` returns the text to insert, null for none.
/** @typedef {{ pattern: RegExp, label: any, detail: any, look: any, pick: any }} NameSource */

/** @type {NameSource} */
const fileSource = {
  // An @ at the beginning of a word, and a path in quotes or without.
  pattern: /(^|[\s(])@("([^"]*)|[^\s"@]*)$/,
  label: (file) => file.path,
  detail: () => "",
  async look(typed) {
    const path = typed.replace(/^"/, "");
    const reply = isAllowed
      ? await api(`/api/files/complete?q=${encodeURIComponent(path)}`).catch(() => null)
      : null;
    if (!reply) return [];
    isAllowed = reply.allowed;
    return reply.files.length === 1 && reply.files[0].path === path ? [] : reply.files;
  },
  pick({ path, folder }) {
    const needsQuotes = /\s/.test(path);
    return `${needsQuotes ? '"' : ""}${path}${needsQuotes && !folder ? '"' : ""}${folder ? "" : " "}`;
  },
};

const loadPrompts = () => import("./chat-prompts.js");

/**
 * A slash at the beginning, and the name of a prompt; the last entry of the whole list is where they are managed.
 * @type {NameSource}
 */
const promptSource = {
  pattern: /^(\/)([\p{L}\p{N}_-]*)$/u,
  label: (prompt) => (prompt.name === "" ? _("Manage prompts …") : `/${prompt.name}`),
  detail: (prompt) => prompt.text ?? "",
  async look(typed) {
    const { prompts } = await api("/api/prompts").catch(() => ({ prompts: [] }));
    const fits = prompts.filter(({ name }) => name.toLowerCase().startsWith(typed.toLowerCase()));
    return [...fits, ...(typed ? [] : [{ name: "" }])];
  },
  async pick(prompt) {
    const { fill, showLibrary } = await loadPrompts();
    if (prompt.name) return fill(prompt);
    await showLibrary();
    return "";
  },
};
const sources = [promptSource, fileSource];

/** Completes names in `field`, with choices in `list`. Returns a handler for keys, which says whether it used one. */
export function completeNames(field, list) {
  let files = null, source = fileSource, chosen = 0, lookups = 0;

  const close = () => {
    files = null;
    list.hidden = true;
    field.removeAttribute("aria-activedescendant");
  };

  const readTyped = () => field.value.slice(0, field.selectionStart);

  const lookUp = debounce(async () => {
    const lookup = ++lookups, found = sources.find(({ pattern }) => pattern.test(readTyped()));
    if (!found) return close();
    const entries = await found.look(found.pattern.exec(readTyped())[2]);
    if (lookup !== lookups) return undefined;
    if (!entries.length) return close();
    files = entries;
    source = found;
    return show();
  }, 120);

  const show = () => {
    chosen = 0;
    list.hidden = false;
    list.replaceChildren(
      ...files.map((file, at) =>
        el(
          "li",
          {
            role: "option",
            id: `name-${at}`,
            onmousedown: (event) => {
              event.preventDefault();
              pick(at);
            },
          },
          el("span", {}, source.label(file)),
          el("span", { class: "faint" }, source.detail(file)),
        )
      ),
    );
    announce(ngettext("1 file", "{n} files", { n: files.length }));
    moveTo(0);
  };

  const moveTo = (to) => {
    chosen = (to + files.length) % files.length;
    [...list.children].forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", `name-${chosen}`);
  };

  const pick = async (at) => {
    const entry = files[at], end = field.selectionStart;
    const match = source.pattern.exec(readTyped());
    // A slash is replaced with the name behind it, an @ stays.
    const start = end - match[2].length - (source === promptSource ? 1 : 0);
    close();
    const text = await source.pick(entry);
    if (text === null) return field.focus();
    field.setRangeText(text, start, end, "end");
    field.focus();
    field.dispatchEvent(new Event("input"));
  };

  field.addEventListener("input", lookUp);
  field.addEventListener("blur", close);
  return (event) => {
    if (!files || event.isComposing) return false;
    if (event.key === "ArrowDown") moveTo(chosen + 1);
    else if (event.key === "ArrowUp") moveTo(chosen - 1);
    else if (event.key === "Enter" || event.key === "Tab") pick(chosen);
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
}
