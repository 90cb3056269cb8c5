// What stands around a conversation: the side bar on small screens, private or group, starters, addresses, keys.
import { byId, createCopyButton, queryAll } from "./core.js";
import * as composer from "./chat-composer.js";
import * as list from "./chat-list.js";
import { state, store } from "./chat-state.js";

const side = byId("side");
const opener = byId("side-open");

/** Opens or closes the side bar on a small screen. */
export function toggleSide(on) {
  side.classList.toggle("open", on);
  document.body.classList.toggle("drawn", on);
  byId("veil").hidden = !on;
  opener.setAttribute("aria-expanded", String(on));
  // On a touch screen the field would bring up the keyboard, over the list.
  if (on) byId(matchMedia("(hover: none)").matches ? "side-close" : "find").focus();
}

/** Marks which kind of conversations is shown, and stores the choice. */
export function showKind() {
  store("kind", state.kind);
  for (const button of queryAll("[data-kind]")) {
    button.setAttribute("aria-pressed", String(button.dataset.kind === state.kind));
  }
}

/** `open(id)` shows a conversation, "" is a new one; `stop()` ends an answer that is being written. */
export function startFrame({ open, stop }) {
  for (const id of ["new", "new-top"]) {
    byId(id).addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open("");
    });
  }
  fitKeyboard();
  for (const button of queryAll("[data-kind]")) {
    button.addEventListener("click", () => {
      if (state.kind === button.dataset.kind) return;
      state.kind = button.dataset.kind;
      showKind();
      list.load();
      open("");
    });
  }
  const closeSide = () => {
    toggleSide(false);
    opener.focus();
  };
  opener.addEventListener("click", () => toggleSide(!side.classList.contains("open")));
  for (const id of ["side-close", "veil"]) byId(id).addEventListener("click", closeSide);
  addEventListener("keydown", (event) => {
    if (
      event.key !== "Escape" || event.defaultPrevented ||
      document.querySelector("dialog[open], :popover-open")
    ) return;
    if (side.classList.contains("open")) closeSide();
    else stop();
  });
  showKind();
  fillStarters();
  fillAddresses();
}

/** Where the keyboard of a phone covers the page instead of shrinking it, the page ends above it all the same. */
function fitKeyboard() {
  const view = globalThis.visualViewport;
  view?.addEventListener("resize", () => {
    const isCovered = innerHeight - view.height > 1 && view.scale === 1;
    document.body.style.height = isCovered ? `${view.height}px` : "";
  });
}

function fillStarters() {
  for (const button of byId("starters").children) {
    const text = button.textContent;
    // A starter that ends with a space is meant to be continued.
    button.textContent = text.endsWith(" ") ? `${text.trim().replace(/:$/, "")}\u00a0…` : text;
    button.addEventListener("click", () => composer.write(text));
  }
}

/** Fills in the addresses for other programs. */
function fillAddresses() {
  for (const code of queryAll("#addresses code")) {
    code.textContent = location.origin + code.dataset.path;
    code.after(createCopyButton(code.textContent));
  }
}
