// The messages of the open conversation: the end first, others when one scrolls there, banners in their place.
// However long it is, a few hundred are on the page at most. What one of them looks like is in chat-message.js.
import { attempt, el, number, toast, word } from "./core.js";
import { message, put } from "./chat-message.js";
import { call, here, state } from "./chat-state.js";
import { windowed } from "./chat-under.js";

// So many are asked for at a time, and so many are on the page at most.
const portion = 40, most = 200;
const scroll = document.getElementById("scroll");
const place = document.getElementById("messages");
const toEnd = document.getElementById("to-end");
// Nearer to the end than this counts as being there, and nearer than that loads more.
const near = 80, soon = 400;

const older = el("button", { type: "button", class: "quiet older", hidden: true, onclick: () => more() }, word("older_messages"));
// The messages beyond which there are others, in both directions; null where there are none.
let next = null, newer = null;
let loading = null, follows = true, acts = {};

export function start(given) {
  acts = given;
  scroll.addEventListener("scroll", () => {
    const left = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight;
    follows = !newer && left < near;
    toEnd.hidden = follows;
    if (scroll.scrollTop < soon && !place.classList.contains("folded")) more();
    else if (left < soon) on();
  }, { passive: true });
  toEnd.addEventListener("click", () => (newer ? attempt(load) : end(true)));
  // What is added while one is at the end keeps one there.
  new ResizeObserver(() => follows && end()).observe(place);
  addEventListener("resize", () => follows && end());
}

/** Scrolls to the newest; `force` does it wherever one is. */
export function end(force = false) {
  if (force) follows = true;
  if (follows) scroll.scrollTop = scroll.scrollHeight;
  toEnd.hidden = follows;
}

/** Nothing is open. */
export function clear() {
  [next, newer] = [null, null];
  follows = false;
  toEnd.hidden = true;
  scroll.scrollTop = 0;
  older.hidden = true;
  place.replaceChildren(older);
  place.classList.remove("folded");
}

/** The open conversation from its end; gives what the server told of it. */
export async function load() {
  const told = await call(here(`/messages?limit=${portion}&html=true`));
  clear();
  follows = true;
  state.chat = told.chat;
  place.append(...made(told));
  next = told.next;
  older.hidden = !next;
  banners(told.banners, true);
  end(true);
  lastWindow();
  return told;
}

/** Whoever says something says it at the end. */
export const atEnd = () => (newer ? load() : null);

const made = (told) => told.messages.filter(isSaid).map((entry) => message(entry, acts));
const isSaid = (entry) => entry.type !== "compaction" && entry.role !== "system" && entry.finish !== "writing";

/** The newest answer is shown with the window it was made from. */
async function lastWindow() {
  const answers = place.querySelectorAll("article.assistant[data-message]");
  const last = answers[answers.length - 1];
  if (!last || last.querySelector(".windowed")) return;
  const report = await call(here("/window")).catch(() => null);
  if (report?.sections && last.isConnected) last.querySelector(".actions").before(windowed(report));
}

/** Who asks for more while some are on their way waits for those. */
function more() {
  if (next && !loading) loading = fetched(`before=${next}`, backward).finally(() => (loading = null));
  return loading;
}

function on() {
  if (newer && !loading) loading = fetched(`after=${newer}`, forward).finally(() => (loading = null));
  return loading;
}

async function fetched(where, place_in) {
  const opened = state.conversation, from = [next, newer].join();
  const told = await attempt(() => call(here(`/messages?limit=${portion}&html=true&${where}`)));
  // Somebody may have gone elsewhere meanwhile.
  if (!told || opened !== state.conversation || from !== [next, newer].join()) return;
  still(() => {
    place_in(told);
    older.hidden = !next;
    banners(told.banners);
  });
}

function backward(told) {
  older.after(...made(told));
  next = told.next;
  const said = place.querySelectorAll("article[data-message]");
  // While an answer is being written, its place stays.
  if (said.length <= most || place.querySelector(".writing")) return;
  for (const one of [...said].slice(most)) one.remove();
  newer = said[most - 1].dataset.message;
}

function forward(told) {
  place.append(...made(told));
  newer = told.newer;
  const said = place.querySelectorAll("article[data-message]");
  if (said.length <= most) return;
  for (const one of [...said].slice(0, said.length - most)) one.remove();
  next = said[said.length - most].dataset.message;
}

/** Changes something without moving what one reads. */
function still(work) {
  const top = scroll.getBoundingClientRect().top;
  const anchor = [...place.querySelectorAll("article")].find((one) => one.getBoundingClientRect().bottom > top);
  const was = anchor?.getBoundingClientRect().top;
  work();
  if (anchor?.isConnected) scroll.scrollTop += anchor.getBoundingClientRect().top - was;
}

/** Scrolls to a message, however far up it is. */
export async function seek(id) {
  const found = () => [...place.children].find((one) => one.dataset.message === id);
  if (!found()) {
    const told = await attempt(() => call(here(`/messages?limit=${portion}&html=true&around=${id}`)));
    if (!told) return;
    clear();
    place.append(...made(told));
    [next, newer] = [told.next, told.newer];
    older.hidden = !next;
    banners(told.banners);
  }
  const sought = found();
  if (!sought) return;
  place.classList.remove("folded");
  retell();
  follows = false;
  sought.scrollIntoView({ block: "center" });
  sought.classList.add("sought");
  sought.focus({ preventScroll: true });
}

/** A message at the end. */
export function add(one) {
  place.append(one);
  end();
}

/** Takes away this message and all after it. */
export function cut(one) {
  if (one) newer = null;
  while (one) {
    const after = one.nextElementSibling;
    one.remove();
    one = after;
  }
}

/** Where summaries stand. When a conversation is opened, what the last one covers is folded away. */
export function banners(found, fold = false) {
  for (const one of place.querySelectorAll(".compaction")) one.remove();
  let last = null;
  for (const one of found) {
    const after = [...place.children].find((made) => made.dataset.message === one.after);
    if (after) after.after((last = banner(one)));
  }
  for (const made of place.children) made.classList.remove("covered");
  for (let made = last?.previousElementSibling; made && made !== older; made = made.previousElementSibling) made.classList.add("covered");
  older.classList.toggle("covered", Boolean(last));
  if (!last) place.classList.remove("folded");
  else if (fold) place.classList.add("folded");
  retell();
}

function banner(one) {
  const share = one.tokens_before ? Math.max(0, Math.floor((100 * (one.tokens_before - one.tokens_after)) / one.tokens_before)) : 0;
  const text = word("summarised", { before: number(one.tokens_before), after: number(one.tokens_after), share: number(share) });
  return el("aside", { class: "compaction", data: { covers: one.covers }, "aria-label": text },
    el("p", {}, text),
    el("div", { class: "row" },
      el("button", { type: "button", class: "quiet originals", onclick: originals }),
      el("button", { type: "button", class: "quiet", onclick: () => undo(one) }, word("undo"))),
    one.html && instead(one.html));
}

function instead(html) {
  const text = el("div", { class: "markdown", dir: "auto" });
  put(text, html);
  return el("details", { class: "fold" }, el("summary", {}, word("show_summary")), text);
}

function originals() {
  const last = [...place.querySelectorAll(".compaction")].pop();
  const top = last.getBoundingClientRect().top;
  follows = false;
  place.classList.toggle("folded");
  retell();
  scroll.scrollTop += last.getBoundingClientRect().top - top;
}

function retell() {
  const folded = place.classList.contains("folded");
  for (const one of place.querySelectorAll(".compaction")) {
    const button = one.querySelector(".originals");
    button.textContent = folded ? word("show_originals", { n: number(Number(one.dataset.covers)) }) : word("hide_originals");
    button.setAttribute("aria-expanded", String(!folded));
  }
}

async function undo(one) {
  const undone = await attempt(() => call(here("/undo"), { method: "POST", body: { decision: one.decision } }));
  if (!undone) return;
  toast(word("undone", { n: number(undone.back.length) }));
  await refresh();
  scroll.focus({ preventScroll: true });
}

/** Where summaries stand by now: one was made or undone. */
export async function refresh() {
  const opened = state.conversation;
  const told = await attempt(() => call(here("/messages?limit=1")));
  if (told && opened === state.conversation) banners(told.banners);
}
