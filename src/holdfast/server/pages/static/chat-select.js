// Choosing several conversations in the list, to archive, move, save or delete them together.
import { _, byId, el, pgettext, queryAll } from "./core.js";
import { openMenu } from "./chat-menu.js";
import { arrange, deleteChats, exportSeveral, moveChats, moveToProject } from "./chat-actions.js";
import { state } from "./chat-state.js";

const bar = byId("select-bar");
const selected = new Map();
let list = {}, isOn = false, last = "";

/** `show()` draws the list anew, `find(id)` is a conversation of it. */
export function startSelection(hooks) {
  list = hooks;
  bar.addEventListener("keydown", leaveOnEscape);
  byId("chats").addEventListener("keydown", leaveOnEscape);
}

function leaveOnEscape(event) {
  if (event.key !== "Escape" || !isOn) return;
  event.stopPropagation();
  setSelecting(false);
}

export const isSelecting = () => isOn;

export function setSelecting(on) {
  isOn = on;
  last = "";
  selected.clear();
  byId("side").classList.toggle("selecting", on);
  list.show();
  update();
  queryAll(on ? "#chats input" : "#chats a")[0]?.focus();
}

/** The box before a conversation; with Shift all from the last one to this one are chosen. */
export function renderCheckbox(chat) {
  return el("input", {
    type: "checkbox",
    "aria-label": _("Select: {title}", { title: chat.title || _("Untitled") }),
    data: { select: chat.id },
    checked: selected.has(chat.id),
    onclick: (event) => toggle(chat.id, event.target.checked, event.shiftKey),
  });
}

function toggle(id, on, isRange) {
  const boxes = /** @type {HTMLInputElement[]} */ (queryAll("#chats input[data-select]"));
  const ids = boxes.map((box) => box.dataset.select);
  const [from, to] = [ids.indexOf(isRange && last ? last : id), ids.indexOf(id)].sort((a, b) => a - b);
  for (const box of boxes.slice(from, to + 1)) {
    box.checked = on;
    if (on) selected.set(box.dataset.select, list.find(box.dataset.select));
    else selected.delete(box.dataset.select);
  }
  last = id;
  update();
}

const chosen = () => [...selected.values()];

/** Does something with those that are chosen, and is done with choosing. */
async function run(work) {
  const chats = chosen();
  if ((await work(chats)) !== false) setSelecting(false);
}

function update() {
  bar.hidden = !isOn;
  const n = selected.size;
  const createButton = (label, work, kind = "") =>
    el("button", { type: "button", class: kind, disabled: !n, onclick: work }, label);
  const save = createButton(_("Export"), () =>
    openMenu(save, [
      { label: _("Save as Markdown"), act: () => run((chats) => exportSeveral(chats, "markdown")) },
      { label: _("Save as JSON"), act: () => run((chats) => exportSeveral(chats, "json")) },
    ]));
  const move = createButton(_("Move"), () =>
    openMenu(
      move,
      [
        { label: _("Move to a folder"), act: () => run(moveChats) },
        state.kind === "private" && {
          label: _("Move to a project"),
          act: () => run(moveToProject),
        },
      ].filter(Boolean),
    ));
  for (const button of [save, move]) button.setAttribute("aria-haspopup", "menu");
  bar.replaceChildren(
    el("span", { class: "grow", role: "status" }, _("{n} selected", { n })),
    el("button", { type: "button", class: "quiet", onclick: () => setSelecting(false) }, _("Done")),
    el(
      "div",
      { class: "select-actions" },
      createButton(
        pgettext("what can be done with a chat", "Archive"),
        () => run((chats) => arrange(chats, { archived: true })),
      ),
      move,
      save,
      createButton(_("Delete"), () => run(deleteChats), "danger"),
    ),
  );
}
