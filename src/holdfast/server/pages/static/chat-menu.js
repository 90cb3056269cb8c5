// A small menu below a button, with arrow keys and Escape; it closes when the focus leaves it.
import { el } from "./core.js";

/** Opens a menu at a button; `items` are `{ label, kind, act }`. Focus comes back to the button. */
export function openMenu(button, items) {
  const list = el(
    "div",
    { class: "menu-list", role: "menu", popover: "auto" },
    items.map(({ label, kind = "", act }) =>
      el("button", {
        type: "button",
        role: "menuitem",
        class: `quiet ${kind}`,
        tabindex: "-1",
        onclick: () => {
          list.hidePopover();
          act();
        },
      }, label)
    ),
  );
  const entries = [...list.children];
  list.addEventListener("keydown", (event) => {
    const at = entries.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (event.key === "Tab") list.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    entries[(to + entries.length) % entries.length].focus();
  });
  list.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    button.setAttribute("aria-expanded", "false");
    if (list.contains(document.activeElement) || document.activeElement === document.body) button.focus();
    list.remove();
  });
  document.body.append(list);
  list.showPopover();
  button.setAttribute("aria-expanded", "true");
  const anchor = button.getBoundingClientRect();
  const left = Math.min(anchor.left, innerWidth - list.offsetWidth - 8);
  const top = anchor.bottom + list.offsetHeight + 8 > innerHeight
    ? anchor.top - list.offsetHeight
    : anchor.bottom;
  list.style.left = `${Math.max(8, left)}px`;
  list.style.top = `${Math.max(8, top)}px`;
  entries[0].focus();
}
