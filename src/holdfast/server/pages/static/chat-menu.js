// A small menu below a button: arrow keys, Escape, and away with it when one looks elsewhere. It knows no page.
import { el } from "./core.js";

/** Opens a menu at a button; `items` are `{ label, kind, act }`. Focus comes back to the button. */
export function menu(button, items) {
  const made = el("div", { class: "menu-list", role: "menu", popover: "auto" }, items.map(({ label, kind = "", act }) =>
    el("button", { type: "button", role: "menuitem", class: `quiet ${kind}`, tabindex: "-1", onclick: () => {
      made.hidePopover();
      act();
    } }, label)));
  const entries = [...made.children];
  made.addEventListener("keydown", (event) => {
    const at = entries.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (event.key === "Tab") made.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    entries[(to + entries.length) % entries.length].focus();
  });
  made.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    button.setAttribute("aria-expanded", "false");
    if (made.contains(document.activeElement) || document.activeElement === document.body) button.focus();
    made.remove();
  });
  document.body.append(made);
  made.showPopover();
  button.setAttribute("aria-expanded", "true");
  const at = button.getBoundingClientRect();
  const left = Math.min(at.left, innerWidth - made.offsetWidth - 8);
  const top = at.bottom + made.offsetHeight + 8 > innerHeight ? at.top - made.offsetHeight : at.bottom;
  made.style.left = `${Math.max(8, left)}px`;
  made.style.top = `${Math.max(8, top)}px`;
  entries[0].focus();
}
