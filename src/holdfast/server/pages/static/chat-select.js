// Choosing several conversations in the list, to archive, move, save or delete them together.
import { byId, el, queryAll, word } from "./core.js";
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
    "aria-label": word("select_chat", { title: chat.title || word("untitled") }),
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
  const save = createButton(word("export"), () =>
    openMenu(save, [
      { label: word("export_markdown"), act: () => run((chats) => exportSeveral(chats, "markdown")) },
      { label: word("export_json"), act: () => run((chats) => exportSeveral(chats, "json")) },
    ]));
  const move = createButton(word("move_here"), () =>
    openMenu(
      move,
      [
        { label: word("move"), act: () => run(moveChats) },
        state.kind === "private" && {
          label: word("move_project"),
          act: () => run(moveToProject),
        },
      ].filter(Boolean),
    ));
  for (const button of [save, move]) button.setAttribute("aria-haspopup", "menu");
  bar.replaceChildren(
    el("span", { class: "grow", role: "status" }, word("selected", { n })),
    el("button", { type: "button", class: "quiet", onclick: () => setSelecting(false) }, word("done")),
    el(
      "div",
      { class: "select-actions" },
      createButton(word("archive"), () => run((chats) => arrange(chats, { archived: true }))),
      move,
      save,
      createButton(word("delete"), () => run(deleteChats), "danger"),
    ),
  );
}
