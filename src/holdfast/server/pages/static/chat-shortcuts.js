// Keys for what is done often, and a list of them.
import { byId, el, showDialog, word } from "./core.js";

// What each key does is a sentence of the page: `key_` and its name.
const keys = [
  ["Enter", "send"],
  ["Shift+Enter", "line"],
  ["↑", "edit"],
  ["/", "prompt"],
  ["Esc", "stop"],
  ["Ctrl+K", "find"],
  ["Ctrl+Shift+O", "new"],
  ["?", "list"],
];

function showList() {
  const rows = keys.map(([key, name]) =>
    el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, word(`key_${name}`)))
  );
  return showDialog(word("shortcuts"), el("dl", { class: "shortcuts" }, rows), [
    { value: "", label: word("close") },
  ]);
}

const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]");

/** `open("")` begins a new chat. */
export function startShortcuts({ open }) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return;
    const isControl = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (isControl && event.shiftKey && key === "o") {
      event.preventDefault();
      open("");
    } else if (event.key === "?" && !isControl && !isTyping(event.target)) {
      event.preventDefault();
      showList();
    }
  });
  byId("shortcuts").addEventListener("click", showList);
}
