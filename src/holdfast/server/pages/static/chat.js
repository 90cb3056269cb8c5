// The chat page: which conversation is open, and what happens when somebody asks, edits, stops or goes elsewhere.
import { _, attempt, byId, debounce, el, palette, queryAll, subscribe, toast } from "./core.js";
import * as composer from "./chat-composer.js";
import { showKind, startFrame, toggleSide } from "./chat-frame.js";
import * as list from "./chat-list.js";
import { followTurn, Live } from "./chat-live.js";
import { setWindow, startGauge } from "./gauge.js";
import { renderMessage } from "./chat-message.js";
import * as messages from "./chat-messages.js";
import * as models from "./chat-models.js";
import { currentOptions, startOptions, useOptions } from "./chat-options.js";
import { memoryWish, startForgetful, useMemory } from "./chat-temporary.js";
import { startPrinting } from "./chat-print.js";
import { startShortcuts } from "./chat-shortcuts.js";
import { announce, call, chatPath, state, stream } from "./chat-state.js";
import { renderNotices } from "./chat-details.js";

const root = byId("chat");
const title = byId("title");
const welcome = byId("welcome");
const context = byId("context");

// The turn that is shown while it is written; its `aborter` ends watching it, not the turn itself.
let turn = null;

const actions = {
  edit: async (entry, element) => {
    const { openEditor } = await import("./chat-editor.js");
    const edit = await openEditor(entry, element);
    if (edit?.only) {
      await attempt(async () => (await loadRevisions()).saveText(entry, edit.text, revisionPage));
    } else if (edit) await ask({ text: edit.text, edit: entry.id, from: element });
  },
  extend: (entry) => ask({ extend: entry.id }),
  more: (entry, element, button) =>
    attempt(async () => (await loadRevisions()).openMessageMenu(entry, element, button, revisionPage)),
  regenerate: (entry) => ask({ regenerate: entry.id, from: findMessage(entry.id) }),
  fork: (entry) =>
    attempt(async () => {
      const copy = await call(chatPath("/fork"), { method: "POST", body: { message: entry.id } });
      list.moveToFront(copy);
      await openChat(copy.id);
      toast(_("This is the fork; the original stays as it is."));
    }),
  turn: (id) =>
    attempt(async () => {
      await call(chatPath("/head"), { method: "PUT", body: { message: id } });
      await showChat();
      findMessage(id)?.focus({ preventScroll: true });
    }),
};

// Loaded when somebody wants it: most messages are only read, and of most nothing is remembered.
const loadRevisions = () => import("./chat-revise.js");
const loadMemories = () => import("./chat-memories.js");

// What revisions of single messages need of this page.
const revisionPage = {
  show: () => showChat(),
  find: (id) => findMessage(id),
  ask: (wish) => ask(wish),
};

/** Shows what this chat may teach the profile. */
const showProposals = debounce(async () => {
  if (!state.conversation || state.kind === "group") return;
  // Where the server is gone meanwhile there is nothing to propose.
  const proposals = await import("./chat-proposals.js").catch(() => null);
  proposals?.loadProposals();
}, 300);

const findMessage = (id) => queryAll(`#messages > [data-message="${CSS.escape(id)}"]`)[0];

/** Shows a conversation, or with no id a new one. */
async function openChat(id, { message = "", push = true } = {}) {
  leaveTurn();
  state.conversation = id;
  state.chat = null;
  composer.openDraft(id || state.kind);
  const path = id ? `/c/${id}` : "/";
  if (push && location.pathname + location.hash !== path + (message ? `#${message}` : "")) {
    history.pushState({ id }, "", path + (message ? `#${message}` : ""));
  }
  toggleSide(false);
  list.markCurrent();
  showHead();
  if (!id) {
    models.useModel("");
    useOptions({});
    useMemory(true);
    setWindow(null);
    messages.clearMessages();
    welcome.hidden = false;
    return composer.focus();
  }
  // Before loading, so that the focus is not taken from somebody who moved it meanwhile.
  if (!message && matchMedia("(hover: hover)").matches) composer.focus();
  await showChat();
  if (message) await messages.scrollToMessage(message);
  return undefined;
}

/** The open conversation as the server has it; an answer that is being written is followed. */
async function showChat() {
  leaveTurn();
  welcome.hidden = true;
  const conversation = state.conversation;
  try {
    const reply = await messages.loadMessages();
    if (conversation !== state.conversation) return;
    showHead();
    models.useModel(reply.messages.findLast((entry) => entry.model)?.model ?? "");
    useOptions(reply.options);
    useMemory(reply.memory);
    showProposals();
    if (reply.turn) watchJob(reply.turn);
    else if (reply.messages.some((entry) => entry.finish === "writing")) awaitAnswer();
    else offerAnswer(reply.messages);
  } catch (error) {
    if (error.status === 404 && (await tryOtherKind())) return;
    messages.clearMessages();
    composer.showNote(error.status === 404 ? _("This conversation is not there (any more).") : error.message);
  }
}

// The event stream, and for which kind of conversations it is.
let source = null, sourceKind = "";

/** Tries the other kind of conversation, private or a group's: an address does not tell which it is. */
async function tryOtherKind() {
  const kindBefore = state.kind;
  state.kind = kindBefore === "private" ? "group" : "private";
  const reply = await call(chatPath("/messages?limit=1")).catch(() => null);
  if (!reply) {
    state.kind = kindBefore;
    return false;
  }
  showKind();
  list.load();
  await showChat();
  return true;
}

function showHead() {
  const name = state.chat ? state.chat.title || _("Untitled") : _("New chat");
  title.textContent = name;
  document.title = `${name} · Holdfast`;
  byId("mark").hidden = state.kind !== "group";
  const project = state.kind === "group"
    ? ""
    : state.chat?.project ?? (state.conversation ? "" : state.project);
  byId("project-mark").hidden = !project || project === "default";
  byId("project-mark").textContent = project;
  context.hidden = !state.conversation;
  context.href = `/c/${state.conversation}/context`;
  if (source && sourceKind !== state.kind && !document.hidden) {
    source.close();
    listenAgain();
  }
}

/** Stops looking at a turn; it goes on without us. */
function leaveTurn() {
  turn?.aborter.abort();
  turn = null;
  composer.setBusy(false);
}

/** Offers to answer a last question that has no answer, and says why it has none. */
function offerAnswer(entries) {
  const last = entries[entries.length - 1];
  if (last?.role !== "user" || !last.id) return;
  findMessage(last.id)?.after(renderTrouble(last.trouble ?? _("This question has no answer yet."), last.id));
  messages.scrollToEnd();
}

/** Says what went wrong, and offers the next steps; `question` is asked again. */
const renderTrouble = (text, question) =>
  el(
    "div",
    { class: "trouble again", role: "alert" },
    el("p", { dir: "auto" }, text),
    el(
      "p",
      { class: "row" },
      question &&
        el(
          "button",
          { type: "button", onclick: () => ask({ regenerate: question, from: null }) },
          _("Try again"),
        ),
      el("a", { href: "/settings#servers" }, _("Settings of the model servers")),
    ),
  );

/** Waits for an answer that is being written for another program, and shows it then. */
function awaitAnswer() {
  const conversation = state.conversation;
  const note = el("p", { class: "facts" }, _("This answer is being written for another program."));
  messages.addElement(note);
  const look = setInterval(async () => {
    if (conversation !== state.conversation || turn || !note.isConnected) return clearInterval(look);
    const reply = await call(chatPath("/messages?limit=1")).catch(() => null);
    if (reply && !reply.messages.some((entry) => entry.finish === "writing")) {
      clearInterval(look);
      showChat();
    }
    return undefined;
  }, 2000);
}

/** Watches a turn that was begun in another tab or before the page was reloaded. */
function watchJob(job) {
  const live = beginTurn();
  live.job = job;
  followToEnd(live, () => stream(`/api/chats/turns/${job}`, { signal: turn.aborter.signal }), {});
}

function beginTurn() {
  leaveTurn();
  const live = new Live();
  turn = { live, aborter: new AbortController() };
  composer.setBusy(true);
  return live;
}

/**
 * Asks something: new, in the place of an earlier question, or for another answer.
 * @param {{
 *   text?: string, images?: string[], files?: object[], research?: boolean, attachments?: any[],
 *   edit?: string, regenerate?: string, extend?: string, from?: HTMLElement | null, model?: string, beside?: any,
 *   second?: string,
 * }} wish
 */
async function ask(
  {
    text = "",
    images,
    files,
    research = false,
    attachments,
    edit,
    regenerate,
    extend,
    from = null,
    model = models.currentModel(),
    beside = null,
    second = "",
  },
) {
  const fresh = !edit && !regenerate && !extend;
  if (second) beside = (await loadRevisions()).askSecond(model, second, revisionPage);
  // Whoever asks on beside two versions goes on with the newest.
  if (fresh) await attempt(document.querySelector(".pair") ? showChat : messages.loadEnd);
  const live = beginTurn();
  const current = Object.assign(turn, { beside });
  welcome.hidden = true;
  models.endFirstRun();
  const before = from
    ? [...from.parentElement.children].slice([...from.parentElement.children].indexOf(from))
    : [];
  for (const element of queryAll("#messages .again")) element.remove();
  messages.removeFrom(from);
  // The button that was pressed is gone.
  if (document.activeElement === document.body) byId("scroll").focus({ preventScroll: true });
  const questionElement = regenerate || extend ? null : renderQuestion(text, edit ? {} : { attachments });
  if (questionElement) messages.addElement(questionElement);
  const place = beside ? beside.render(before[0], live.element) : live.element;
  messages.addElement(place);
  messages.scrollToEnd(true);
  const draft = { text, attachments };
  /** Restores everything as it was before asking. */
  const revert = (reason) => {
    live.close();
    place.remove();
    if (!live.job) {
      questionElement?.remove();
      for (const element of before) messages.addElement(element);
      if (fresh) composer.restore(draft);
      else messages.scrollToEnd();
      if (!state.conversation) welcome.hidden = false;
    }
    if (turn === current) leaveTurn();
    if (reason) composer.showFailure(reason);
  };
  let result = null;
  if (research && fresh) {
    result = await doResearch(live, text, current.aborter.signal).catch((error) => {
      revert(null);
      if (error.name !== "AbortError") {
        composer.showNote(
          _("Research did not work, so nothing was asked yet: {why} Switch it off to ask without sources.", {
            why: error.message,
          }),
        );
      }
      return null;
    });
    if (!result) return;
  }
  const body = {
    model,
    text,
    conversation: state.conversation || null,
    kind: state.kind,
    edit,
    regenerate,
    extend,
    research: result?.id,
  };
  if (fresh) Object.assign(body, { images, files });
  if (!state.conversation) {
    const project = state.kind === "private" && state.project ? state.project : undefined;
    Object.assign(body, { options: currentOptions(), memory: memoryWish(), project });
  }
  const openStream = () =>
    stream("/api/chats/turns", { method: "POST", body, signal: current.aborter.signal });
  const end = (answer) => {
    if (extend) findMessage(extend)?.remove();
    return beside && attempt(() => beside.end(answer, place));
  };
  await followToEnd(live, openStream, { questionElement, revert, end });
}

/** The question as it is shown until the server has kept it. */
function renderQuestion(text, { attachments = [] }) {
  const pictures = attachments.filter((upload) => upload.picture).map((upload) => upload.address);
  const files = attachments.filter((upload) => !upload.picture).map((upload) => ({
    name: upload.name,
    characters: upload.size,
  }));
  return renderMessage({
    id: null,
    role: "user",
    text,
    content: text,
    images: pictures.length,
    pictures: pictures,
    files,
  }, actions);
}

async function doResearch(live, question, signal) {
  live.say(_("Looking for sources …"));
  live.onResearch = (data) =>
    data.phase === "gathering" &&
    live.say(_("Looking for sources: {done} of {total}", { done: data.done, total: data.total }));
  const finding = await call("/api/research", { method: "POST", body: { question, fetch: true }, signal });
  live.onResearch = null;
  live.say(_("Sending …"));
  return finding;
}

/** Follows a turn to its end, and puts what came of it in its place. */
async function followToEnd(
  live,
  first,
  { questionElement = null, revert = (_error) => {}, end = (_answer) => null },
) {
  const current = turn;
  if (!live.element.isConnected) messages.addElement(live.element);
  const start = (data) => {
    if (!state.conversation) {
      state.conversation = data.conversation;
      composer.nameDraft(data.conversation);
      history.pushState({ id: data.conversation }, "", `/c/${data.conversation}`);
    }
    state.chat = data.chat;
    live.element.dataset.parent = data.question ?? "";
    list.moveToFront(data.chat);
    showHead();
    if (questionElement && data.entry) questionElement.replaceWith(renderMessage(data.entry, actions));
    live.showVersions(data.versions);
    current.beside?.start?.(data, current.aborter.signal);
  };
  let last;
  try {
    last = await followTurn(live, first, { start, signal: current.aborter.signal });
  } catch (error) {
    if (error.name === "AbortError") return live.close();
    if (error.status !== 409) return revert(error);
    // Somebody was faster, in another tab: theirs is shown.
    revert(new Error(_("An answer is being written here already.")));
    return showChat();
  }
  if (turn !== current) return live.close();
  if (last === null) {
    await showChat();
    return toast(_("The answer did not get to its end. This is what was kept."));
  }
  if (last.kind === "error") return showFailure(last.data, current, revert);
  finishAnswer(live, last.data);
  await end(last.data.entries.find((entry) => entry.id === last.data.message));
  if (turn !== current) return undefined;
  announce(_("The answer is complete."));
  // Whoever looks at the page needs no notification.
  if (document.hidden) {
    attempt(async () => (await import("./chat-notify.js")).notifyDone(state.chat?.title ?? ""));
  }
  showProposals();
  leaveTurn();
  return composer.sendQueued();
}

async function showFailure(data, current, revert) {
  const wasStopped = current.isStopped;
  revert(null);
  await showChat();
  if (wasStopped) return toast(_("Stopped."));
  models.loadModels();
  if (!queryAll("#messages .again").length) {
    // The conversation is as it was before another version was asked for.
    messages.addElement(renderTrouble(joinSentences(data), ""));
  }
  return undefined;
}

const joinSentences = ({ message, hint }) => [message, hint].filter(Boolean).join(" ");

/** Puts the finished turn in the place of what was shown while it was written, as a reload would show it. */
function finishAnswer(live, done) {
  live.close();
  let element = live.element;
  for (const entry of done.entries) {
    const rendered = renderMessage(entry, actions);
    if (entry.id === done.message) {
      // It is there already if the messages were loaded just when it was finished.
      findMessage(entry.id)?.remove();
      live.element.replaceWith(rendered);
      element = rendered;
    } else findMessage(entry.id)?.replaceWith(rendered);
  }
  // A fold that somebody opened while it was written stays open.
  const folds = queryAll("details.thinking", live.element);
  for (const [at, fold] of queryAll("details.thinking", element).entries()) {
    if (folds[at]) fold.toggleAttribute("open", folds[at].hasAttribute("open"));
  }
  const foot = element.querySelector(".foot");
  if (done.trouble && !turn?.isStopped) {
    foot.before(el("p", { class: "trouble", role: "alert", dir: "auto" }, joinSentences(done.trouble)));
  }
  if (done.repeated) {
    foot.before(el("p", { class: "facts", role: "status" }, _("The same answer again, word for word.")));
  }
  if (live.report) foot.before(...[renderNotices(live.report)].filter(Boolean));
  if (live.report) setWindow(live.report, done);
  attempt(async () => (await loadMemories()).showUnder(element));
  messages.showBanners(done.banners);
  messages.scrollToEnd();
}

async function stopTurn() {
  const current = turn;
  if (!current) return;
  current.isStopped = true;
  if (!current.live.job) return current.aborter.abort();
  await attempt(() =>
    Promise.all([call(`/api/jobs/${current.live.job}`, { method: "DELETE" }), current.beside?.stop?.()])
  );
  composer.focus();
}

/** Opens the last question to be changed; returns whether there is one. */
function editLast() {
  const last = queryAll("#messages > .message.user[data-message]").pop();
  if (turn || !last) return false;
  last.querySelector(/** @type {any} */ (".actions .edit")).click();
  return true;
}

const readAddress = () => decodeURIComponent(location.pathname.match(/^\/c\/([^/]+)/)?.[1] ?? "");

startFrame({ open: openChat, stop: () => turn && stopTurn() });
addEventListener("popstate", () => openChat(readAddress(), { message: location.hash.slice(1), push: false }));
messages.startMessages(actions);
startPrinting();
startShortcuts({ open: openChat });
Object.assign(palette, {
  open: (id, message) => openChat(id, { message }),
  commands: async () => [...(state.chat ? await list.actionsOf(state.chat) : []), ...list.listActions()],
  headers: () => ({ "x-holdfast-kind": state.kind }),
});
composer.start({ send: ask, stop: stopTurn, editLast });
startGauge();
startOptions();
startForgetful();
list.start({
  open: (id, message) => openChat(id, { message }),
  onRename: (chat) => {
    if (chat.id === state.conversation) {
      state.chat = chat;
      showHead();
    }
  },
  onDelete: (id) => id === state.conversation && openChat(""),
});
openChat(root.dataset.conversation || readAddress(), { message: location.hash.slice(1), push: false });

/** Subscribes to events. A browser has few connections for all its tabs, so hidden tabs use none. */
function listenAgain() {
  sourceKind = state.kind;
  source = subscribe(["compaction", "job", "kept", "research", "title"], (kind, data) => {
    const hasBegun = kind === "job" && data.status === "running" && data.kind === "main" && !turn;
    const ours = data.conversation === state.conversation;
    if (kind === "title") list.rename(data.conversation, data.title);
    else if (kind === "research") turn?.live.onResearch?.(data);
    // The first memory of a new chat may be reported before the page knows the chat's id.
    else if (kind === "kept") {
      if (ours || (turn && !state.conversation)) {
        attempt(async () => (await loadMemories()).handleEvent(data));
      }
      if (ours && !turn) showProposals();
    } else if (kind === "compaction" && data.phase === "done" && ours && !turn) messages.refreshBanners();
    else if (hasBegun && ours) showChat();
    else if (hasBegun) list.load();
  }, `/api/events?kind=${state.kind}`);
}

/** Loads what happened while the tab was hidden. */
async function catchUp() {
  list.load();
  models.loadModels();
  if (!state.conversation || turn) return;
  const conversation = state.conversation;
  const reply = await call(chatPath("/messages?limit=1")).catch(() => null);
  const last = reply?.messages[0]?.id;
  if (
    last && conversation === state.conversation && !turn && !document.querySelector(".editor") &&
    !findMessage(last)
  ) showChat();
}

listenAgain();
document.addEventListener("visibilitychange", () => {
  source.close();
  if (document.hidden) return;
  listenAgain();
  catchUp();
});
