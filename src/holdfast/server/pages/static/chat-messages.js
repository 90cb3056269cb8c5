// The messages of the open conversation: the end first, others when one scrolls there, banners in their place.
// However long it is, a few hundred are on the page at most. What one of them looks like is in chat-message.js.
import { _, attempt, byId, el } from "./core.js";
import { prepareMessages, renderMessage } from "./chat-message.js";
import { call, chatPath, state } from "./chat-state.js";
import { setWindow } from "./gauge.js";

// So many are asked for at a time, and so many are on the page at most.
const portion = 40, most = 200;
const scroll = byId("scroll");
const place = byId("messages");
const toEnd = byId("to-end");
// Nearer to the end than this counts as being there, and nearer than that loads more.
const near = 80, soon = 400;

const older = el(
  "button",
  { type: "button", class: "quiet older", hidden: true, onclick: () => loadOlder() },
  _("Load older messages"),
);
// The messages beyond which there are others, in both directions; null where there are none.
let next = null, newer = null;
let request = null, isFollowing = true, acts = {};

export function startMessages(callbacks) {
  acts = callbacks;
  scroll.addEventListener("scroll", () => {
    const distance = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight;
    isFollowing = !newer && distance < near;
    toEnd.hidden = isFollowing;
    if (scroll.scrollTop < soon && !place.classList.contains("folded")) loadOlder();
    else if (distance < soon) loadNewer();
  }, { passive: true });
  toEnd.addEventListener("click", () => (newer ? attempt(loadMessages) : scrollToEnd(true)));
  // What is added while one is at the end keeps one there.
  new ResizeObserver(() => isFollowing && scrollToEnd()).observe(place);
  addEventListener("resize", () => isFollowing && scrollToEnd());
}

/** Scrolls to the newest; `force` does it wherever one is. */
export function scrollToEnd(force = false) {
  if (force) isFollowing = true;
  if (isFollowing) scroll.scrollTop = scroll.scrollHeight;
  toEnd.hidden = isFollowing;
}

/** Empties the page: no conversation is open. */
export function clearMessages() {
  [next, newer] = [null, null];
  isFollowing = false;
  toEnd.hidden = true;
  scroll.scrollTop = 0;
  older.hidden = true;
  place.replaceChildren(older);
  place.classList.remove("folded");
}

/** Loads the end of the open conversation; returns the server's reply. */
export async function loadMessages() {
  const reply = await call(chatPath(`/messages?limit=${portion}&html=true`));
  if (reply.banners.length) banners ??= await import("./chat-banners.js");
  await prepareMessages(reply.messages);
  clearMessages();
  isFollowing = true;
  state.chat = reply.chat;
  place.append(...renderAll(reply));
  next = reply.next;
  older.hidden = !next;
  showBanners(reply.banners, true);
  scrollToEnd(true);
  showLastWindow(reply.messages);
  return reply;
}

/** Loads the end of the conversation unless it is shown already. */
export const loadEnd = () => (newer ? loadMessages() : null);

/** The messages of a reply as elements. */
export const renderAll = (reply) => reply.messages.filter(isShown).map((entry) => renderMessage(entry, acts));
const isShown = (entry) =>
  entry.type !== "compaction" && entry.role !== "system" && entry.finish !== "writing";

/** The gauge shows the window that the newest answer was made from. */
async function showLastWindow(entries) {
  const conversation = state.conversation;
  const report = await call(chatPath("/window")).catch(() => null);
  if (conversation !== state.conversation) return;
  const last = entries.findLast((entry) => entry.role === "assistant");
  setWindow(report, last?.numbers);
}

/** Loads older messages; while a page is being loaded, returns that request. */
function loadOlder() {
  if (next && !request) request = loadPage(`before=${next}`, insertOlder).finally(() => (request = null));
  return request;
}

function loadNewer() {
  if (newer && !request) request = loadPage(`after=${newer}`, insertNewer).finally(() => (request = null));
  return request;
}

async function loadPage(query, insert) {
  const conversation = state.conversation, from = [next, newer].join();
  const reply = await attempt(() => call(chatPath(`/messages?limit=${portion}&html=true&${query}`)));
  // Somebody may have gone elsewhere meanwhile.
  if (!reply || conversation !== state.conversation || from !== [next, newer].join()) return;
  keepPosition(() => {
    insert(reply);
    older.hidden = !next;
    showBanners(reply.banners);
  });
}

function insertOlder(reply) {
  older.after(...renderAll(reply));
  next = reply.next;
  const articles = place.querySelectorAll("article[data-message]");
  // While an answer is being written, its place stays.
  if (articles.length <= most || place.querySelector(".writing")) return;
  for (const article of [...articles].slice(most)) article.remove();
  newer = articles[most - 1].dataset.message;
}

function insertNewer(reply) {
  place.append(...renderAll(reply));
  newer = reply.newer;
  const articles = place.querySelectorAll("article[data-message]");
  if (articles.length <= most) return;
  for (const article of [...articles].slice(0, articles.length - most)) article.remove();
  next = articles[articles.length - most].dataset.message;
}

/** Runs `work` and keeps what is being read at its place. */
function keepPosition(work) {
  const top = scroll.getBoundingClientRect().top;
  const anchor = [...place.querySelectorAll("article")].find((article) =>
    article.getBoundingClientRect().bottom > top
  );
  const topBefore = anchor?.getBoundingClientRect().top;
  work();
  if (anchor?.isConnected) scroll.scrollTop += anchor.getBoundingClientRect().top - topBefore;
}

/** Scrolls to a message, however far up it is. */
export async function scrollToMessage(id) {
  const findTarget = () => [...place.children].find((element) => element.dataset.message === id);
  if (!findTarget()) {
    const reply = await attempt(() => call(chatPath(`/messages?limit=${portion}&html=true&around=${id}`)));
    if (!reply) return;
    clearMessages();
    place.append(...renderAll(reply));
    [next, newer] = [reply.next, reply.newer];
    older.hidden = !next;
    showBanners(reply.banners);
  }
  const target = findTarget();
  if (!target) return;
  place.classList.remove("folded");
  banners?.updateBanners();
  isFollowing = false;
  target.scrollIntoView({ block: "center" });
  target.classList.add("sought");
  target.focus({ preventScroll: true });
}

/** Adds an element at the end. */
export function addElement(element) {
  place.append(element);
  scrollToEnd();
}

/** Takes away this message and all after it. */
export function removeFrom(element) {
  if (element) newer = null;
  while (element) {
    const after = element.nextElementSibling;
    element.remove();
    element = after;
  }
}

// What shows summaries, once there is one.
let banners = null;

/** Shows where summaries are. With `fold`, the messages that the last one covers are hidden. */
export async function showBanners(summaries, fold = false) {
  if (!summaries.length && !banners) return;
  banners ??= await import("./chat-banners.js");
  banners.showBanners(summaries, { older, fold, stay: () => (isFollowing = false), refresh: refreshBanners });
  scrollToEnd();
}

/** Loads where summaries are, after one was made or undone. */
export async function refreshBanners() {
  const conversation = state.conversation;
  const reply = await attempt(() => call(chatPath("/messages?limit=1")));
  if (reply && conversation === state.conversation) showBanners(reply.banners);
}
