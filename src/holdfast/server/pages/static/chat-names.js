// Names of files while one types them after an @, as a list below the field. It knows no conversation.
import { api, el, later, word } from "./core.js";
import { announce } from "./chat-state.js";

// What is typed so far, up to where one is: an @ at the beginning of a word, and a path in quotes or without.
const typed = /(^|[\s(])@("([^"]*)|[^\s"@]*)$/;

/** Completes in `field`, with choices in `list`. Gives what to ask first about every key: whether it was ours. */
export function names(field, list) {
  let allowed = true, found = null, chosen = 0, number = 0;

  const close = () => {
    found = null;
    list.hidden = true;
    field.removeAttribute("aria-activedescendant");
  };

  const look = later(async () => {
    const at = typed.exec(field.value.slice(0, field.selectionStart));
    if (!at || !allowed) return close();
    const mine = ++number, path = at[3] ?? at[2];
    const told = await api(`/api/files/complete?q=${encodeURIComponent(path)}`).catch(() => null);
    if (mine !== number || !told) return undefined;
    allowed = told.allowed;
    if (!told.files.length || (told.files.length === 1 && told.files[0].path === path)) return close();
    found = told.files;
    return show();
  }, 120);

  const show = () => {
    chosen = 0;
    list.hidden = false;
    list.replaceChildren(...found.map((one, at) => el("li", { role: "option", id: `name-${at}`, onmousedown: (event) => {
      event.preventDefault();
      pick(at);
    } }, one.path)));
    announce(word("files_found", { n: found.length }));
    point(0);
  };

  const point = (to) => {
    chosen = (to + found.length) % found.length;
    [...list.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", `name-${chosen}`);
  };

  const pick = (at) => {
    const { path, folder } = found[at];
    const end = field.selectionStart, start = end - typed.exec(field.value.slice(0, end))[2].length;
    const quoted = /\s/.test(path);
    const text = `${quoted ? '"' : ""}${path}${quoted && !folder ? '"' : ""}${folder ? "" : " "}`;
    field.setRangeText(text, start, end, "end");
    close();
    field.dispatchEvent(new Event("input"));
  };

  field.addEventListener("input", look);
  field.addEventListener("blur", close);
  return (event) => {
    if (!found || event.isComposing) return false;
    if (event.key === "ArrowDown") point(chosen + 1);
    else if (event.key === "ArrowUp") point(chosen - 1);
    else if (event.key === "Enter" || event.key === "Tab") pick(chosen);
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
}
