// What was remembered of a question: one quiet line under its answer, which opens, is corrected, forgotten and undone.
import { attempt, dialog, el, number, word } from "./core.js";
import { call } from "./chat-state.js";

// So much of a memory stands in the line.
const SHOWN = 90;
// What was heard before its answer was on the page, by the message that it was taken from.
const early = new Map();
const place = document.getElementById("messages");

/** The line for memories {id, text}; others may come later. */
export function line(memories) {
  const made = el("details", { class: "fold kept" }, el("summary"), el("ul", { class: "used" }));
  for (const memory of memories) add(made, memory);
  made.addEventListener("toggle", () => made.open && made.querySelectorAll("li").forEach((item) => item.look()));
  return made;
}

/** Puts what is known of an answer's question under it. */
export function under(answer) {
  for (const id of [answer.dataset.parent, answer.dataset.message]) {
    for (const memory of early.get(id)?.values() ?? []) show(answer, memory);
    early.delete(id);
  }
}

/** Something became of a memory that was taken from these messages. */
export function hear({ change, messages, id, text }) {
  const there = document.getElementById(`kept-${id}`);
  if (["forgotten", "superseded", "archived"].includes(change)) {
    for (const known of early.values()) known.delete(id);
    if (there && !there.ours) drop(there);
    return;
  }
  if (there) return there.say(text);
  for (const message of messages) {
    const name = CSS.escape(message);
    const answer = place.querySelector(`article.assistant[data-message="${name}"], article.assistant[data-parent="${name}"][data-message]`);
    if (answer) return show(answer, { id, text });
  }
  const last = messages[messages.length - 1];
  if (last) early.set(last, (early.get(last) ?? new Map()).set(id, { id, text }));
}

function show(answer, memory) {
  const there = answer.querySelector(".kept");
  if (there) add(there, memory);
  else answer.querySelector(".actions").before(line([memory]));
}

function drop(item) {
  const made = item.closest(".kept");
  item.remove();
  if (made.querySelector("li")) title(made);
  else made.remove();
}

function title(made) {
  const items = [...made.querySelectorAll("li")];
  const first = items.find((item) => !item.gone) ?? items[0];
  const text = first.text.length > SHOWN ? `${first.text.slice(0, SHOWN)} …` : first.text;
  const more = items.length > 1 ? ` ${word("kept_more", { n: number(items.length - 1) })}` : "";
  made.querySelector("summary").replaceChildren(
    el("span", { dir: "auto" }, word(first.gone ? "kept_gone" : "kept", { text }) + more),
    ...(first.gone ? [] : [" · ", el("span", { class: "wrong" }, word("wrong"))]));
}

function add(made, { id, text }) {
  if (document.getElementById(`kept-${id}`)) return;
  const button = (label, work) => el("button", { type: "button", class: "quiet", onclick: work }, label);
  const said = el("span", { dir: "auto" }), before = el("span", { class: "small" }), deeds = el("span", { class: "deeds" });
  const item = el("li", { id: `kept-${id}` }, said, before, deeds);
  // `text` is what it says now, `ours` that it was changed here: then it stays until somebody goes elsewhere.
  Object.assign(item, { text, gone: false, ours: false });
  item.say = (now) => {
    item.text = said.textContent = now;
    if (made.contains(item)) title(made);
  };
  const usual = (more = []) => deeds.replaceChildren(button(word("correct"), correct), button(word("forget"), forget), ...more);
  const done = (gone, undo) => {
    Object.assign(item, { gone, ours: true });
    said.classList.toggle("gone", gone);
    const back = button(word("undo"), async () => {
      if (!(await attempt(async () => (await undo(), true)))) return;
      Object.assign(item, { gone: false });
      said.classList.remove("gone");
      usual();
      title(made);
      deeds.querySelector("button").focus();
    });
    if (gone) deeds.replaceChildren(back);
    else usual([back]);
    title(made);
    back.focus();
  };
  async function correct() {
    const field = el("textarea", { rows: "3", dir: "auto", class: "wide", value: item.text });
    const pressed = await dialog(word("correct"), el("label", {}, word("memory_text"), field), [
      { value: "", label: word("cancel") }, { value: "yes", label: word("save"), kind: "main" }]);
    const was = item.text;
    if (pressed !== "yes" || !field.value.trim() || field.value === was) return;
    const put = async (words) => item.say((await call(`/api/memory/${id}`, { method: "PUT", body: { text: words } })).text);
    if (await attempt(async () => (await put(field.value), true))) done(false, () => put(was));
  }
  const leave = (method, path) => async () => {
    item.ours = true;
    const whole = await attempt(async () => {
      const memory = await call(`/api/memory/${id}`);
      await call(path, { method });
      return memory;
    });
    // Brought in as it was, it is the same one again, with its source and its dates.
    if (whole) done(true, () => call("/api/memory/import", { method: "POST", body: { memories: [whole] } }));
  };
  const forget = leave("DELETE", `/api/memory/${id}`);
  const takeBack = leave("POST", `/api/memory/${id}/take-back`);
  let asked = false;
  item.look = async () => {
    if (asked || item.gone) return;
    asked = true;
    const told = await call(`/api/memory/${id}/history`).catch(() => null);
    if (told?.rival) return choose(told.rival);
    const former = told?.replaced.filter((one) => one.superseded_by === id) ?? [];
    if (!former.length) return;
    before.replaceChildren(...former.map((one) => el("span", { dir: "auto" },
      ` ${word("instead_of", { text: one.text })}`)));
    if (!item.ours) usual([button(word("take_back"), takeBack)]);
  };
  /** It may take the place of an older one: the person says. */
  function choose(older) {
    const decide = (how) => async () => {
      item.ours = true;
      if (!(await attempt(async () => (await call(`/api/memory/${id}/${how}`, { method: "POST" }), true)))) return;
      before.replaceChildren(how === "replace" ? el("span", { dir: "auto" }, ` ${word("instead_of", { text: older.text })}`) : "");
      usual(how === "replace" ? [button(word("take_back"), takeBack)] : []);
      deeds.querySelector("button").focus();
    };
    before.replaceChildren(el("span", { dir: "auto" }, ` ${word("or", { text: older.text })}`));
    usual([button(word("replace"), decide("replace")), button(word("keep_both"), decide("keep-both"))]);
  }
  usual();
  made.querySelector("ul").append(item);
  item.say(text);
  if (made.open) item.look();
}
