// What stands around a conversation: the side bar on small screens, private or group, starters, addresses, keys.
import { copier } from "./core.js";
import * as composer from "./chat-composer.js";
import * as list from "./chat-list.js";
import { keep, state } from "./chat-state.js";

const side = document.getElementById("side");
const opener = document.getElementById("side-open");

/** The list of conversations on a small screen: over the page, or away. */
export function sideways(on) {
  side.classList.toggle("open", on);
  document.getElementById("veil").hidden = !on;
  opener.setAttribute("aria-expanded", String(on));
  if (on) document.getElementById("find").focus();
}

/** Shows, and keeps, whose conversations these are. */
export function kinds() {
  keep("kind", state.kind);
  for (const button of document.querySelectorAll("[data-kind]")) button.setAttribute("aria-pressed", String(button.dataset.kind === state.kind));
}

/** `open(id)` shows a conversation, "" is a new one; `stop()` ends an answer that is being written. */
export function frame({ open, stop }) {
  document.getElementById("new").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open("");
  });
  for (const button of document.querySelectorAll("[data-kind]")) button.addEventListener("click", () => {
    if (state.kind === button.dataset.kind) return;
    state.kind = button.dataset.kind;
    kinds();
    list.load();
    open("");
  });
  const away = () => {
    sideways(false);
    opener.focus();
  };
  opener.addEventListener("click", () => sideways(!side.classList.contains("open")));
  for (const id of ["side-close", "veil"]) document.getElementById(id).addEventListener("click", away);
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return;
    if (side.classList.contains("open")) away();
    else stop();
  });
  kinds();
  starters();
  addresses();
}

function starters() {
  for (const button of document.getElementById("starters").children) {
    const text = button.textContent;
    // One that ends with a space is to be gone on with.
    button.textContent = text.endsWith(" ") ? `${text.trim().replace(/:$/, "")} …` : text;
    button.addEventListener("click", () => composer.write(text));
  }
}

/** Where other programs find us. */
function addresses() {
  for (const code of document.querySelectorAll("#addresses code")) {
    code.textContent = location.origin + code.dataset.path;
    code.after(copier(code.textContent));
  }
}
