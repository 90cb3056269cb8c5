// Keys for what is done often, and a list of them.
import { _, byId, el, showDialog } from "./core.js";

const keys = [
  ["Enter", _("Send; while an answer is written, ask it next")],
  ["Shift+Enter", _("A new line")],
  ["↑", _("In the empty field: edit the last question")],
  ["/", _("At the beginning: a prompt of the library")],
  ["Esc", _("Stop the answer, close what is open")],
  ["Ctrl+K", _("Find a chat, a page, a command or a setting")],
  ["Ctrl+Shift+O", _("New chat")],
  ["?", _("This list")],
];

function showList() {
  const rows = keys.map(([key, text]) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)));
  return showDialog(_("Shortcuts"), el("dl", { class: "shortcuts" }, rows), [
    { value: "", label: _("Close") },
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
