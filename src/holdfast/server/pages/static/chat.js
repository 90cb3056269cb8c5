// The chat page: which conversation is open, and what happens when somebody asks, edits, stops or goes elsewhere.
import { attempt, el, events, toast, word } from "./core.js";
import * as composer from "./chat-composer.js";
import { frame, kinds, sideways } from "./chat-frame.js";
import * as list from "./chat-list.js";
import { follow, Live } from "./chat-live.js";
import * as kept from "./chat-kept.js";
import { actions, editor, message } from "./chat-message.js";
import * as messages from "./chat-messages.js";
import { announce, call, here, state, stream } from "./chat-state.js";
import { facts, remembered, sources } from "./chat-under.js";

const root = document.getElementById("chat");
const title = document.getElementById("title");
const welcome = document.getElementById("welcome");
const context = document.getElementById("context");

// The turn that is shown as it is written, and what ends looking at it (not the turn).
let running = null;

const acts = {
  edit: (entry, made) => editor(entry, made).then((text) => text !== null && ask({ text, edit: entry.id, from: made })),
  regenerate: (entry) => ask({ regenerate: entry.id, from: messageOf(entry.id) }),
  fork: (entry) => attempt(async () => {
    const made = await call(here("/fork"), { method: "POST", body: { message: entry.id } });
    list.touched(made);
    await open(made.id);
    toast(word("forked"));
  }),
  turn: (id) => attempt(async () => {
    await call(here("/head"), { method: "PUT", body: { message: id } });
    await show();
    messageOf(id)?.focus({ preventScroll: true });
  }),
};

const messageOf = (id) => document.querySelector(`#messages > [data-message="${CSS.escape(id)}"]`);

/** Shows a conversation, or with no id a new one. */
async function open(id, { sought = "", push = true } = {}) {
  leave();
  state.conversation = id;
  state.chat = null;
  const path = id ? `/c/${id}` : "/";
  if (push && location.pathname + location.hash !== path + (sought ? `#${sought}` : "")) history.pushState({ id }, "", path + (sought ? `#${sought}` : ""));
  sideways(false);
  list.mark();
  head();
  if (!id) {
    messages.clear();
    welcome.hidden = false;
    return composer.focus();
  }
  // At once: who goes on elsewhere with the keyboard while it loads is not fetched back.
  if (!sought && matchMedia("(hover: hover)").matches) composer.focus();
  await show();
  if (sought) await messages.seek(sought);
  return undefined;
}

/** The open conversation as the server has it; an answer that is being written is followed. */
async function show() {
  leave();
  welcome.hidden = true;
  const opened = state.conversation;
  try {
    const told = await messages.load();
    if (opened !== state.conversation) return;
    head();
    if (told.turn) watch(told.turn);
    else if (told.messages.some((entry) => entry.finish === "writing")) elsewhere();
    else unanswered(told.messages);
  } catch (error) {
    if (error.status === 404 && (await otherKind())) return;
    messages.clear();
    toast(error.status === 404 ? word("not_there") : error.message, "error");
  }
}

// What is listened to, and of which kind of conversation.
let source = null, heard = "";

/** The same conversation may be a group's, or a private one: an address does not tell. */
async function otherKind() {
  const was = state.kind;
  state.kind = was === "private" ? "group" : "private";
  const there = await call(here("/messages?limit=1")).catch(() => null);
  if (!there) {
    state.kind = was;
    return false;
  }
  kinds();
  list.load();
  await show();
  return true;
}

function head() {
  const name = state.chat ? state.chat.title || word("untitled") : word("new_chat");
  title.textContent = name;
  document.title = `${name} · Holdfast`;
  document.getElementById("mark").hidden = state.kind !== "group";
  context.hidden = !state.conversation;
  context.href = `/c/${state.conversation}/context`;
  if (source && heard !== state.kind && !document.hidden) {
    source.close();
    listen();
  }
}

/** Stops looking at a turn; it goes on without us. */
function leave() {
  running?.leaving.abort();
  running = null;
  composer.working(false);
}

/** A question without an answer can be answered still. */
function unanswered(entries) {
  const last = entries[entries.length - 1];
  if (last?.role !== "user" || !last.id) return;
  messageOf(last.id)?.querySelector(".actions")?.prepend(again(last.id));
}

const again = (id) => el("button", { type: "button", class: "quiet again", onclick: () => ask({ regenerate: id, from: null }) }, word("try_again"));

/** An answer for another program is being written: it is shown when it is there. */
function elsewhere() {
  const opened = state.conversation;
  const note = el("p", { class: "facts" }, word("elsewhere"));
  messages.add(note);
  const look = setInterval(async () => {
    if (opened !== state.conversation || running || !note.isConnected) return clearInterval(look);
    const told = await call(here("/messages?limit=1")).catch(() => null);
    if (told && !told.messages.some((entry) => entry.finish === "writing")) {
      clearInterval(look);
      show();
    }
    return undefined;
  }, 2000);
}

/** A turn that runs already, begun in another tab or before the page was loaded again. */
function watch(job) {
  const live = begin();
  live.job = job;
  carry(live, () => stream(`/api/chats/turns/${job}`, { signal: running.leaving.signal }), {});
}

function begin() {
  leave();
  const live = new Live();
  running = { live, leaving: new AbortController() };
  composer.working(true);
  return live;
}

/** Asks something: new, in the place of an earlier question, or for another answer. */
async function ask({ text = "", images, files, research = false, attachments, edit, regenerate, from = null }) {
  const fresh = !edit && !regenerate;
  if (fresh) await attempt(messages.atEnd);
  const live = begin();
  const mine = running;
  welcome.hidden = true;
  const before = from ? [...from.parentElement.children].slice([...from.parentElement.children].indexOf(from)) : [];
  document.querySelector("#messages .again")?.remove();
  messages.cut(from);
  // The button that was pressed is gone.
  if (document.activeElement === document.body) document.getElementById("scroll").focus({ preventScroll: true });
  const asked = regenerate ? null : question(text, edit ? {} : { attachments });
  if (asked) messages.add(asked);
  messages.add(live.element);
  messages.end(true);
  const given = { text, attachments };
  /** Nothing came of it: everything as it was. */
  const back = (why) => {
    live.close();
    live.element.remove();
    if (!live.job) {
      asked?.remove();
      for (const one of before) messages.add(one);
      if (fresh) composer.restore(given);
      if (!state.conversation) welcome.hidden = false;
    }
    if (running === mine) leave();
    if (why) toast(why, "error");
  };
  let finding = null;
  if (research && fresh) {
    finding = await searched(live, text, mine.leaving.signal).catch((error) => {
      back("");
      if (error.name !== "AbortError") composer.note(word("no_research", { why: error.message }));
      return null;
    });
    if (!finding) return;
  }
  const body = { model: composer.model(), text, conversation: state.conversation || null, kind: state.kind, edit, regenerate, research: finding?.id };
  if (fresh) Object.assign(body, { images, files });
  const first = () => stream("/api/chats/turns", { method: "POST", body, signal: mine.leaving.signal });
  await carry(live, first, { asked, back });
}

/** The question as it is shown until the server has kept it. */
function question(text, { attachments = [] }) {
  const shown = attachments.filter((one) => one.picture).map((one) => one.address);
  const files = attachments.filter((one) => !one.picture).map((one) => ({ name: one.name, characters: one.size }));
  return message({ id: null, role: "user", text, content: text, images: shown.length, pictures: shown, files }, acts);
}

async function searched(live, question, signal) {
  live.says("researching");
  live.hears = (data) => data.phase === "gathering" && live.says("researching_n", { done: data.done, total: data.total });
  const found = await call("/api/research", { method: "POST", body: { question, fetch: true }, signal });
  live.hears = null;
  live.says("asking");
  return found;
}

/** Follows a turn to its end, and puts what came of it in its place. */
async function carry(live, first, { asked = null, back = () => {} }) {
  const mine = running;
  if (!live.element.isConnected) messages.add(live.element);
  const start = (data) => {
    if (!state.conversation) {
      state.conversation = data.conversation;
      history.pushState({ id: data.conversation }, "", `/c/${data.conversation}`);
    }
    state.chat = data.chat;
    live.element.dataset.parent = data.question ?? "";
    list.touched(data.chat);
    head();
    if (asked && data.question) identify(asked, data);
  };
  let last;
  try {
    last = await follow(live, first, { start, signal: mine.leaving.signal });
  } catch (error) {
    if (error.name === "AbortError") return live.close();
    if (error.status !== 409) return back(error.message);
    // Somebody was faster, in another tab: theirs is shown.
    back(word("busy"));
    return show();
  }
  if (running !== mine) return live.close();
  if (last === null) {
    await show();
    return toast(word("taken_up"));
  }
  if (last.kind === "error") return failed(live, last.data, mine, back);
  finish(live, last.data);
  announce(word("answered"));
  return leave();
}

/** The question has been kept, so that something can be done with it. */
function identify(made, data) {
  Object.assign(made.dataset, { message: data.question });
  const text = made.querySelector(".words")?.textContent ?? "";
  made.querySelector(".actions")?.remove();
  made.append(actions({ id: data.question, role: "user", text, content: text }, made, acts, true));
}

async function failed(live, data, mine, back) {
  const stopped = mine.stopped;
  back("");
  await show();
  const why = [data.message, data.hint].filter(Boolean).join(" ");
  if (stopped) toast(word("stopped"));
  else messages.add(el("p", { class: "trouble", role: "alert", dir: "auto" }, why));
}

function finish(live, done) {
  live.close();
  const made = live.element;
  made.dataset.message = done.message;
  const model = composer.model();
  made.setAttribute("aria-label", word("answer_of", { model }));
  if (done.html) {
    const whole = message({ id: null, role: "assistant", content: done.text, html: done.html }, acts);
    live.body.replaceWith(whole.querySelector(".markdown"));
  }
  const line = facts({ ...done, model: live.report?.model ?? model });
  const used = done.memories.length ? remembered(done.message, done.memories.length, done.memories) : null;
  const trouble = done.trouble && !running?.stopped ? el("p", { class: "trouble", role: "alert", dir: "auto" }, [done.trouble.message, done.trouble.hint].filter(Boolean).join(" ")) : null;
  live.below.before(...[trouble, line, used, done.findings.length ? sources(done.findings) : null].filter(Boolean));
  made.append(actions({ id: done.message, role: "assistant", text: done.text, content: done.text }, made, acts, false));
  kept.under(made);
  messages.banners(done.banners);
  messages.end();
}

async function stop() {
  const mine = running;
  if (!mine) return;
  mine.stopped = true;
  if (!mine.live.job) return mine.leaving.abort();
  await attempt(() => call(`/api/jobs/${mine.live.job}`, { method: "DELETE" }));
  composer.focus();
}

const fromAddress = () => decodeURIComponent(location.pathname.match(/^\/c\/([^/]+)/)?.[1] ?? "");

frame({ open, stop: () => running && stop() });
addEventListener("popstate", () => open(fromAddress(), { sought: location.hash.slice(1), push: false }));
messages.start(acts);
composer.start({ send: ask, stop });
list.start({
  open: (id, sought) => open(id, { sought }),
  renamed: (chat) => {
    if (chat.id === state.conversation) {
      state.chat = chat;
      head();
    }
  },
  deleted: (id) => id === state.conversation && open(""),
});
open(root.dataset.conversation || fromAddress(), { sought: location.hash.slice(1), push: false });

/** What happens elsewhere. A browser has few connections for all its tabs, so one that nobody looks at needs none. */
function listen() {
  heard = state.kind;
  source = events(["compaction", "job", "kept", "research"], (kind, data) => {
    const begun = kind === "job" && data.status === "running" && data.kind === "main" && !running;
    const ours = data.conversation === state.conversation;
    if (kind === "research") running?.live.hears?.(data);
    else if (kind === "kept") ours && kept.hear(data);
    else if (kind === "compaction" && data.phase === "done" && ours && !running) messages.refresh();
    else if (begun && ours) show();
    else if (begun) list.load();
  }, `/api/events?kind=${state.kind}`);
}

/** What happened while nobody looked. */
async function catchUp() {
  list.load();
  if (!state.conversation || running) return;
  const opened = state.conversation;
  const told = await call(here("/messages?limit=1")).catch(() => null);
  const last = told?.messages[0]?.id;
  if (last && opened === state.conversation && !running && !document.querySelector(".editor") && !messageOf(last)) show();
}

listen();
document.addEventListener("visibilitychange", () => {
  source.close();
  if (document.hidden) return;
  listen();
  catchUp();
});
