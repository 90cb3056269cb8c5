// One memory as people see it: its words and where they come from; corrected in place, pinned, forgotten, its history.
import { attempt, date, el, moment, number, toast, word } from "./core.js";
import { ask, headersOf, owned } from "./memory-scope.js";
import { marked, why } from "./memory-hit.js";

const KINDS = ["fact", "decision", "preference", "note"];
const UNDO = 12_000;
const when = (memory) => Math.max(memory.valid_from, memory.seen);

/** An article for an item {id, memory, chats}; `tools` hears of what becomes of it. */
export function article(item, tools) {
  const { memory } = item;
  const made = el("article", { class: `memory ${memory.superseded_by ? "former" : ""}`, tabindex: "-1", "aria-label": memory.text.slice(0, 80) });
  const open = (name, label, work, extra = {}) => el("button", { type: "button", class: "quiet", data: { do: name }, onclick: work, ...extra }, label);
  const edit = () => editing(made, item, tools);
  made.append(
    el("p", { class: "text", dir: "auto" }, ...(item.words ? marked(memory.text, item.words) : [memory.text])),
    item.why ? why(item.why) : "",
    el("div", { class: "foot" }, about(item), el("div", { class: "actions" },
      open("edit", word("edit"), edit),
      open("pin", word(memory.pinned ? "unpin" : "pin"), () => pin(item, tools), { title: word("pin_more") }),
      open("history", word("history"), (event) => unfold(event.currentTarget, made, item), { "aria-expanded": "false" }),
      open("forget", word("forget"), () => forget(item, tools)))),
  );
  return made;
}

function about(item) {
  const { memory, chats } = item;
  const share = Math.round(memory.importance * 100);
  const bar = el("i", { "aria-hidden": "true" });
  bar.style.width = `${share}%`;
  const at = when(memory);
  return el("p", { class: "about small faint" },
    el("span", { class: `tag kind ${memory.kind}` }, word(memory.kind)),
    memory.pinned && el("span", { class: "tag" }, word("pinned")),
    at ? el("time", { datetime: new Date(at * 1000).toISOString(), title: moment(at) }, date(at)) : null,
    el("span", { class: "importance", role: "img", "aria-label": word("importance_is", { n: share }), title: word("importance_is", { n: share }) }, bar),
    source(memory, chats),
    owned(memory.scope) && el("span", { class: "tag", dir: "auto" }, owned(memory.scope)),
    memory.superseded_by && el("span", {}, memory.valid_until ? word("until", { date: date(memory.valid_until) }) : word("replaced")));
}

/** Where it was learned: a link where there is still something to be seen. */
function source(memory, chats) {
  if (!memory.conversation) return el("span", {}, word("by_you"));
  const chat = chats?.[memory.conversation];
  if (!chat) return el("span", {}, word("chat_gone"));
  const title = chat.title || word("untitled");
  const more = memory.also.length ? ` +${number(memory.also.length)}` : "";
  // The chat page shows a person's own conversations.
  if (chat.kind === "group" || chat.project !== "default") return el("span", { dir: "auto" }, word("from_chat", { title }) + more);
  return el("a", { href: `/c/${encodeURIComponent(memory.conversation)}`, dir: "auto" }, word("from_chat", { title }) + more);
}

/** The fields of a memory in a form; gives the form and what is in it. */
function fields(memory, label) {
  const text = el("textarea", { rows: 3, dir: "auto", required: true, "aria-label": word("text"), value: memory.text });
  const grow = () => {
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight + 2, 400)}px`;
  };
  text.addEventListener("input", grow);
  const kind = el("select", {}, ...KINDS.map((one) => el("option", { value: one }, word(one))));
  if (!KINDS.includes(memory.kind)) kind.append(el("option", { value: memory.kind }, memory.kind));
  kind.value = memory.kind;
  const importance = el("input", { type: "range", min: 0, max: 100, step: 5, value: Math.round(memory.importance * 100) });
  const share = el("output", {}, `${importance.value} %`);
  importance.addEventListener("input", () => (share.textContent = `${importance.value} %`));
  const pinned = el("input", { type: "checkbox", checked: memory.pinned });
  const cancel = el("button", { type: "button" }, word("cancel"));
  const form = el("form", { class: "card memory-form" }, text,
    el("div", { class: "row" }, el("label", { class: "row" }, el("span", {}, word("kind")), kind),
      el("label", { class: "row" }, el("span", {}, word("importance")), importance, share),
      el("label", { class: "row", title: word("pin_more") }, pinned, el("span", {}, word("pinned")))),
    el("div", { class: "buttons" }, cancel, el("button", { class: "main" }, label)));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      cancel.click();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  const values = () => ({ text: text.value, kind: kind.value, importance: importance.value / 100, pinned: pinned.checked });
  return { form, cancel, values, begin: () => (grow(), text.focus()) };
}

function editing(made, item, tools) {
  const { form, cancel, values, begin } = fields(item.memory, word("save"));
  const shown = [...made.childNodes];
  const back = () => {
    made.replaceChildren(...shown);
    made.querySelector('[data-do="edit"]').focus();
  };
  cancel.addEventListener("click", back);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = Object.entries(values()).filter(([name, value]) => value !== item.memory[name]);
    if (!wanted.length) return back();
    tools.touched(item.id);
    const saved = await attempt(() => ask(`/api/memory/${encodeURIComponent(item.id)}`, { method: "PUT", body: Object.fromEntries(wanted) }));
    if (!saved) return undefined;
    const next = tools.changed({ ...item, memory: saved });
    next?.querySelector('[data-do="edit"]').focus();
    return toast(word("saved"));
  });
  made.replaceChildren(form);
  begin();
}

async function pin(item, tools) {
  tools.touched(item.id);
  const saved = await attempt(() => ask(`/api/memory/${encodeURIComponent(item.id)}`, { method: "PUT", body: { pinned: !item.memory.pinned } }));
  if (saved) tools.changed({ ...item, memory: saved })?.querySelector('[data-do="pin"]').focus();
}

async function forget(item, tools) {
  tools.touched(item.id);
  const done = await attempt(async () => ((await ask(`/api/memory/${encodeURIComponent(item.id)}`, { method: "DELETE" })), true));
  if (!done) return;
  tools.gone(item);
  undoable(word("forgotten", { text: item.memory.text.length > 60 ? `${item.memory.text.slice(0, 60)} …` : item.memory.text }), () =>
    // Brought in as it was, it is the same one again, with its source and its dates.
    ask("/api/memory/import", { method: "POST", body: { memories: [item.memory] }, headers: headersOf(item.memory.scope) }));
}

/** A message with a way back, for a while. Whoever reads or reaches for it is given time. */
function undoable(text, undo) {
  const button = el("button", { type: "button", class: "undo" }, word("undo"));
  const made = el("div", { class: "toast with-undo" }, el("span", { dir: "auto" }, text), button);
  let timer = setTimeout(() => made.remove(), UNDO);
  const wait = () => clearTimeout(timer);
  const go = () => (timer = setTimeout(() => made.remove(), UNDO));
  made.addEventListener("mouseenter", wait);
  made.addEventListener("focusin", wait);
  made.addEventListener("mouseleave", go);
  made.addEventListener("focusout", go);
  button.addEventListener("click", async () => {
    made.remove();
    if (await attempt(undo)) toast(word("undone"));
  });
  document.getElementById("toasts").append(made);
}

/** All that stood in its place, the newest first, each with the time in which it held. */
async function unfold(button, made, item) {
  const there = made.querySelector(".past");
  button.setAttribute("aria-expanded", String(!there));
  if (there) return there.remove();
  const told = await attempt(() => ask(`/api/memory/${encodeURIComponent(item.id)}/history`));
  if (!told) return button.setAttribute("aria-expanded", "false");
  const rows = told.slot.length > 1 ? told.slot.map((memory) => el("li", { class: memory.superseded_by ? "former" : "", "aria-current": memory.id === item.id ? "true" : undefined },
    el("span", { class: "faint small" }, held(memory)), " ", el(memory.superseded_by ? "s" : "span", { dir: "auto" }, memory.text))) : [];
  return made.append(el("div", { class: "past", role: "group", "aria-label": word("history") },
    rows.length ? el("ol", {}, ...rows) : el("p", { class: "faint small" }, word("no_history"))));
}

function held(memory) {
  const from = memory.valid_from ? date(memory.valid_from) : "";
  if (!memory.superseded_by) return from ? word("since", { date: from }) : word("holds_now");
  const until = memory.valid_until ? date(memory.valid_until) : "";
  if (!until) return word("replaced");
  return from ? word("from_until", { from, until }) : word("until", { date: until });
}

/** A form for something new, under the button that asked for it. */
export function adding(place, button, added) {
  if (place.firstChild) return place.querySelector("textarea").focus();
  const { form, cancel, values, begin } = fields({ text: "", kind: "fact", importance: 0.8, pinned: false }, word("remember"));
  const close = () => {
    place.replaceChildren();
    button.focus();
  };
  cancel.addEventListener("click", close);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const made = await attempt(() => ask("/api/memory", { method: "POST", body: values() }));
    if (!made) return;
    close();
    added({ id: made.memory.id, memory: made.memory, chats: {} });
    toast(word(made.replaced.length ? "added_replaced" : made.action === "added" ? "added" : "known_already", { n: made.replaced.length }));
  });
  place.replaceChildren(form);
  return begin();
}
