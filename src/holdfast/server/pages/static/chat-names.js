// Names of files while one types them after an @, as a list below the field.
import { api, debounce, el, word } from "./core.js";
import { announce } from "./chat-state.js";

// What is typed so far, up to where one is: an @ at the beginning of a word, and a path in quotes or without.
const mention = /(^|[\s(])@("([^"]*)|[^\s"@]*)$/;

/** Completes names in `field`, with choices in `list`. Returns a handler for keys, which says whether it used one. */
export function completeNames(field, list) {
  let isAllowed = true, files = null, chosen = 0, lookups = 0;

  const close = () => {
    files = null;
    list.hidden = true;
    field.removeAttribute("aria-activedescendant");
  };

  const lookUp = debounce(async () => {
    const match = mention.exec(field.value.slice(0, field.selectionStart));
    if (!match || !isAllowed) return close();
    const lookup = ++lookups, path = match[3] ?? match[2];
    const reply = await api(`/api/files/complete?q=${encodeURIComponent(path)}`).catch(() => null);
    if (lookup !== lookups || !reply) return undefined;
    isAllowed = reply.allowed;
    if (!reply.files.length || (reply.files.length === 1 && reply.files[0].path === path)) return close();
    files = reply.files;
    return show();
  }, 120);

  const show = () => {
    chosen = 0;
    list.hidden = false;
    list.replaceChildren(
      ...files.map((file, at) =>
        el("li", {
          role: "option",
          id: `name-${at}`,
          onmousedown: (event) => {
            event.preventDefault();
            pick(at);
          },
        }, file.path)
      ),
    );
    announce(word("files_found", { n: files.length }));
    moveTo(0);
  };

  const moveTo = (to) => {
    chosen = (to + files.length) % files.length;
    [...list.children].forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", `name-${chosen}`);
  };

  const pick = (at) => {
    const { path, folder } = files[at];
    const end = field.selectionStart, start = end - mention.exec(field.value.slice(0, end))[2].length;
    const needsQuotes = /\s/.test(path);
    const text = `${needsQuotes ? '"' : ""}${path}${needsQuotes && !folder ? '"' : ""}${folder ? "" : " "}`;
    field.setRangeText(text, start, end, "end");
    close();
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
