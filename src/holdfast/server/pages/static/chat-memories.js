// What was remembered of a question: one quiet line under its answer, which opens, is corrected, forgotten and undone.
import { _, attempt, byId, el, formatNumber, showDialog } from "./core.js";
import { call } from "./chat-state.js";

// Longest text of a memory in the line, in characters.
const SHOWN = 90;
// Memories that were reported before their answer was on the page, by message.
const early = new Map();
const place = byId("messages");

/** Puts the line for memories in a place that was left for it; those that are on the page already stay there. */
export function fillPlace(place, memories) {
  const line = place.parentElement?.querySelector(".kept");
  const missing = memories.filter(({ id }) => !byId(`kept-${id}`));
  if (line) { for (const memory of missing) addMemory(line, memory); }
  place.replaceWith(...(line || !missing.length ? [] : [renderLine(missing)]));
}

/** The line for memories {id, text}; others may come later. */
function renderLine(memories) {
  const fold = el("details", { class: "fold kept" }, el("summary"), el("ul", { class: "used" }));
  for (const memory of memories) addMemory(fold, memory);
  fold.addEventListener(
    "toggle",
    () => fold.open && fold.querySelectorAll("li").forEach((item) => item.loadHistory()),
  );
  return fold;
}

/** Shows the memories that were reported before the answer was there. */
export function showUnder(answer) {
  for (const id of [answer.dataset.parent, answer.dataset.message]) {
    for (const memory of early.get(id)?.values() ?? []) showMemory(answer, memory);
    early.delete(id);
  }
}

/** Handles an event about a memory that was extracted from these messages. */
export function handleEvent({ change, messages, id, text, memory }) {
  const item = byId(`kept-${id}`);
  if (["forgotten", "superseded", "archived"].includes(change)) {
    for (const memories of early.values()) memories.delete(id);
    if (item && change === "archived") item.markArchived();
    else if (item && !item.isOwn) memory ? item.markGone(memory) : dropItem(item);
    return;
  }
  if (item) return item.setText(text);
  for (const message of messages) {
    const name = CSS.escape(message);
    const answer = place.querySelector(
      `article.assistant[data-message="${name}"], article.assistant[data-parent="${name}"][data-message]`,
    );
    if (answer) return showMemory(answer, { id, text });
  }
  const last = messages[messages.length - 1];
  if (last) early.set(last, (early.get(last) ?? new Map()).set(id, { id, text }));
}

function showMemory(answer, memory) {
  const fold = answer.querySelector(".kept");
  if (fold) addMemory(fold, memory);
  else answer.querySelector(".actions").before(renderLine([memory]));
}

function dropItem(item) {
  const fold = item.closest(".kept");
  item.remove();
  if (fold.querySelector("li")) updateTitle(fold);
  else fold.remove();
}

function describeState(item, text) {
  if (!item.isGone) return _("Remembered: {text}", { text });
  return item.goneBy === "archive"
    ? _("Moved to the archive: {text}", { text })
    : _("Not remembered any more: {text}", { text });
}

function updateTitle(fold) {
  const items = [...fold.querySelectorAll("li")];
  const first = items.find((item) => !item.isGone) ?? items[0];
  const text = first.text.length > SHOWN ? `${first.text.slice(0, SHOWN)} …` : first.text;
  const rest = items.length > 1 ? ` ${_("and {n} more", { n: formatNumber(items.length - 1) })}` : "";
  fold.querySelector("summary").replaceChildren(
    el("span", { dir: "auto" }, describeState(first, text) + rest),
    ...(first.isGone ? [] : [" · ", el("span", { class: "wrong" }, _("wrong?"))]),
  );
}

function addMemory(fold, { id, text }) {
  if (byId(`kept-${id}`)) return;
  const createButton = (label, work) =>
    el("button", { type: "button", class: "quiet", onclick: work }, label);
  const textSpan = el("span", { dir: "auto" }),
    formerSpan = el("span", { class: "small" }),
    deeds = el("span", { class: "deeds" });
  const item = el("li", { id: `kept-${id}` }, textSpan, formerSpan, deeds);
  // `text` is what it says now, `isOwn` that it was changed here: then it stays until somebody goes elsewhere.
  Object.assign(item, { text, isGone: false, isOwn: false });
  item.setText = (now) => {
    item.text = textSpan.textContent = now;
    if (fold.contains(item)) updateTitle(fold);
  };
  const showUsual = (extra = []) =>
    deeds.replaceChildren(
      createButton(_("Correct"), correct),
      createButton(_("Forget"), forget),
      ...extra,
    );
  const markChanged = (gone, undo, { focus = true, goneBy = "" } = {}) => {
    Object.assign(item, { isGone: gone, isOwn: true, goneBy });
    textSpan.classList.toggle("gone", gone);
    const undoButton = createButton(_("Undo"), async () => {
      if (!(await attempt(async () => (await undo(), true)))) return;
      Object.assign(item, { isGone: false });
      textSpan.classList.remove("gone");
      showUsual();
      updateTitle(fold);
      deeds.querySelector("button").focus();
    });
    if (gone) deeds.replaceChildren(undoButton);
    else showUsual([undoButton]);
    updateTitle(fold);
    if (focus) undoButton.focus();
  };
  // Brought in as it was, it is the same one again, with its source and its dates.
  const bringBack = (memory) => () =>
    call("/api/memory/import", { method: "POST", body: { memories: [memory] } });
  // It made room for newer ones; the archive has it.
  item.markArchived = () => {
    const restore = () => call(`/api/memory/${id}/restore`, { method: "POST" });
    markChanged(true, restore, { focus: false, goneBy: "archive" });
    deeds.append(el("a", { href: "/settings/memory" }, _("Open the archive")));
  };
  // Somebody took it back in what they wrote.
  item.markGone = (memory) => markChanged(true, bringBack(memory), { focus: false });
  async function correct() {
    const field = el("textarea", { rows: "3", dir: "auto", class: "wide", value: item.text });
    const choice = await showDialog(_("Correct"), el("label", {}, _("What is remembered"), field), [
      { value: "", label: _("Cancel") },
      { value: "yes", label: _("Save"), kind: "main" },
    ]);
    const formerText = item.text;
    if (choice !== "yes" || !field.value.trim() || field.value === formerText) return;
    const saveText = async (words) =>
      item.setText((await call(`/api/memory/${id}`, { method: "PUT", body: { text: words } })).text);
    if (await attempt(async () => (await saveText(field.value), true))) {
      markChanged(false, () => saveText(formerText));
    }
  }
  const removeBy = (method, path) => async () => {
    item.isOwn = true;
    const memory = await attempt(async () => {
      const memory = await call(`/api/memory/${id}`);
      await call(path, { method });
      return memory;
    });
    if (memory) markChanged(true, bringBack(memory));
  };
  const forget = removeBy("DELETE", `/api/memory/${id}`);
  const takeBack = removeBy("POST", `/api/memory/${id}/take-back`);
  let isLoaded = false;
  item.loadHistory = async () => {
    if (isLoaded || item.isGone) return;
    isLoaded = true;
    const past = await call(`/api/memory/${id}/history`).catch(() => null);
    if (past?.rival) return choose(past.rival);
    const former = past?.replaced.filter((memory) => memory.superseded_by === id) ?? [];
    if (!former.length) return;
    formerSpan.replaceChildren(
      ...former.map((memory) =>
        el("span", { dir: "auto" }, ` ${_("(instead of: {text})", { text: memory.text })}`)
      ),
    );
    if (!item.isOwn) showUsual([createButton(_("Take back, the old one holds"), takeBack)]);
  };
  /** Asks whether the memory replaces an older one. */
  function choose(older) {
    const decide = (action) => async () => {
      item.isOwn = true;
      if (
        !(await attempt(async () => (await call(`/api/memory/${id}/${action}`, { method: "POST" }), true)))
      ) return;
      formerSpan.replaceChildren(
        action === "replace"
          ? el("span", { dir: "auto" }, ` ${_("(instead of: {text})", { text: older.text })}`)
          : "",
      );
      showUsual(action === "replace" ? [createButton(_("Take back, the old one holds"), takeBack)] : []);
      deeds.querySelector("button").focus();
    };
    formerSpan.replaceChildren(
      el("span", { dir: "auto" }, ` ${_("Or does this still hold: {text}", { text: older.text })}`),
    );
    showUsual([
      createButton(_("Replace it"), decide("replace")),
      createButton(_("Keep both"), decide("keep-both")),
    ]);
  }
  showUsual();
  fold.querySelector("ul").append(item);
  item.setText(text);
  if (fold.open) item.loadHistory();
}
