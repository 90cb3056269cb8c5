// The side bar: conversations by day, searching in them, renaming, forking, deleting.
import {
  attempt,
  byId,
  debounce,
  describeAge,
  el,
  formatDate,
  markWords,
  showDialog,
  toast,
  word,
} from "./core.js";
import { exportChat } from "./chat-export.js";
import { openMenu } from "./chat-menu.js";
import { call, state } from "./chat-state.js";

const page = 50;
const place = byId("chats");
const find = byId("find");

// Elements of the rows by id, reused while their title is the same: a menu may be attached to them.
const rows = new Map();

let chats = [], next = null, isLoading = false, searchCount = 0, hooks = {};

/** `open(id, message)` shows a conversation, `onRename(chat)` and `onDelete(id)` are called after changes. */
export function start(callbacks) {
  hooks = callbacks;
  find.addEventListener("input", debounce(searchChats, 200));
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && find.value) {
      event.stopPropagation();
      find.value = "";
      searchChats();
    }
  });
  place.addEventListener("scroll", () => {
    if (place.scrollTop + place.clientHeight > place.scrollHeight - 200) loadMore();
  });
  place.addEventListener("keydown", moveFocus);
  return load();
}

/** Loads the first page of the list anew. */
export async function load() {
  const reply = await attempt(() => call(`/api/chats?limit=${page}`));
  place.setAttribute("aria-busy", "false");
  if (!reply) return;
  ({ chats, next } = reply);
  if (!find.value.trim()) showList();
}

/** Puts a conversation that was begun or used first; with `front` false it is updated in its place. */
export function moveToFront(chat, front = true) {
  const at = chats.findIndex((entry) => entry.id === chat.id);
  if (at >= 0 && !front) chats[at] = chat;
  else chats = [chat, ...chats.filter((entry) => entry.id !== chat.id)];
  if (!find.value.trim()) showList();
}

export function markCurrent() {
  for (const link of place.querySelectorAll("a[data-chat]")) {
    if (link.dataset.chat === state.conversation) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function loadMore() {
  if (!next || isLoading || find.value.trim()) return;
  isLoading = true;
  const reply = await attempt(() => call(`/api/chats?limit=${page}&before=${encodeURIComponent(next)}`));
  isLoading = false;
  if (!reply) return;
  const ids = new Set(chats.map((chat) => chat.id));
  chats = [...chats, ...reply.chats.filter((chat) => !ids.has(chat.id))];
  next = reply.next;
  showList();
}

function showList() {
  const top = place.scrollTop, focused = /** @type {HTMLElement} */ (document.activeElement);
  const groups = Map.groupBy ? Map.groupBy(chats, (chat) => describeAge(chat.updated_at)) : groupByAge(chats);
  const parts = [...groups].map(([day, members], at) =>
    renderSection(day, members.map(renderRow), `day-${at}`)
  );
  if (next) parts.push(el("button", { type: "button", class: "quiet", onclick: loadMore }, word("more")));
  place.replaceChildren(...(parts.length ? parts : [el("p", { class: "empty" }, word("no_chats"))]));
  place.scrollTop = top;
  if (place.contains(focused)) focused.focus({ preventScroll: true });
  markCurrent();
}

function groupByAge(all) {
  const groups = new Map();
  for (const chat of all) {
    groups.set(describeAge(chat.updated_at), [...(groups.get(describeAge(chat.updated_at)) ?? []), chat]);
  }
  return groups;
}

function renderSection(title, entries, id) {
  return el(
    "section",
    { "aria-labelledby": id },
    el("p", { class: "day", id }, title),
    el("ul", {}, entries),
  );
}

function renderRow(chat) {
  const name = chat.title || word("untitled"), row = rows.get(chat.id);
  if (row?.name === name) return row.item;
  const button = el("button", {
    type: "button",
    class: "quiet more",
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    "aria-label": word("more_of", { title: name }),
    onclick: () => openMenu(button, actionsOf(chat)),
  }, "⋯");
  const item = el("li", {}, renderLink(chat.id, "", el("span", { dir: "auto" }, name)), button);
  rows.set(chat.id, { name, item });
  return item;
}

/** What can be done with a conversation, for its menu and for the palette. */
export const actionsOf = (chat) => [
  { label: word("rename"), icon: "pencil", act: () => renameChat(chat) },
  { label: word("fork"), icon: "git-fork", act: () => forkChat(chat) },
  {
    label: word("export_markdown"),
    icon: "download",
    act: () => attempt(() => exportChat(chat, "markdown")),
  },
  { label: word("export_json"), icon: "download", act: () => attempt(() => exportChat(chat, "json")) },
  { label: word("delete"), icon: "trash-2", kind: "danger", act: () => deleteChat(chat) },
];

function renderLink(id, message, ...inside) {
  return el("a", {
    href: `/c/${id}${message ? `#${message}` : ""}`,
    data: { chat: id },
    onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      hooks.open(id, message);
    },
  }, ...inside);
}

function moveFocus(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...place.querySelectorAll("a[data-chat]")];
  const at = links.indexOf(document.activeElement);
  if (!step || at < 0) return;
  event.preventDefault();
  links[Math.min(links.length - 1, Math.max(0, at + step))].focus();
}

async function searchChats() {
  const text = find.value.trim(), number = ++searchCount;
  if (!text) return showList();
  const reply = await attempt(() => call(`/api/chats/search?limit=30&q=${encodeURIComponent(text)}`));
  // Somebody has typed on meanwhile.
  if (number !== searchCount || !reply) return undefined;
  const words = reply.corrected ?? text;
  const titleHits = chats.filter((chat) => chat.title.toLocaleLowerCase().includes(words.toLocaleLowerCase()))
    .slice(0, 10);
  const parts = [];
  if (reply.corrected) parts.push(el("p", { class: "empty" }, word("corrected", { text: words })));
  if (titleHits.length) parts.push(renderSection(word("in_titles"), titleHits.map(renderRow), "in-titles"));
  if (reply.hits.length) {
    parts.push(
      renderSection(word("in_messages"), reply.hits.map((hit) => renderHit(hit, words)), "in-messages"),
    );
  }
  place.replaceChildren(
    ...(titleHits.length || reply.hits.length
      ? parts
      : [el("p", { class: "empty" }, word("none_found", { text }))]),
  );
  place.scrollTop = 0;
  return markCurrent();
}

function renderHit(hit, words) {
  return el(
    "li",
    { class: "hit" },
    renderLink(
      hit.conversation,
      hit.current ? hit.message : "",
      el("span", { dir: "auto" }, hit.title || word("untitled")),
      el("span", { class: "snippet", dir: "auto" }, ...markWords(hit.snippet, words)),
      el("span", { class: "when" }, formatDate(hit.created_at)),
    ),
  );
}

async function renameChat(chat) {
  const input = el("input", {
    type: "text",
    value: chat.title,
    maxlength: "300",
    dir: "auto",
    class: "wide",
    onkeydown: (event) => {
      // The first button of the dialog is the one that leaves it.
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        input.form.requestSubmit(input.form.querySelector("button.main"));
      }
    },
  });
  const choice = await showDialog(word("rename"), el("label", {}, word("title_label"), input), [
    { value: "", label: word("cancel") },
    { value: "yes", label: word("save"), kind: "main" },
  ]);
  if (choice !== "yes" || !input.value.trim()) return;
  const renamed = await attempt(() =>
    call(`/api/chats/${chat.id}`, { method: "PATCH", body: { title: input.value } })
  );
  if (!renamed) return;
  moveToFront(renamed, false);
  hooks.onRename(renamed);
}

async function forkChat(chat) {
  const copy = await attempt(() => call(`/api/chats/${chat.id}/fork`, { method: "POST", body: {} }));
  if (!copy) return;
  moveToFront(copy);
  await hooks.open(copy.id);
  toast(word("forked"));
}

async function deleteChat(chat) {
  const choice = await showDialog(
    word("delete_chat"),
    el("p", { dir: "auto" }, word("delete_text", { title: chat.title || word("untitled") })),
    [
      { value: "", label: word("cancel") },
      { value: "forget", label: word("delete_forget"), kind: "danger" },
      { value: "keep", label: word("delete_keep"), kind: "danger" },
    ],
  );
  if (!choice) return;
  const done = await attempt(async () => {
    await call(`/api/chats/${chat.id}?memories=${choice}`, { method: "DELETE" });
    return true;
  });
  if (!done) return;
  chats = chats.filter((entry) => entry.id !== chat.id);
  if (find.value.trim()) searchChats();
  else showList();
  toast(word("deleted"));
  hooks.onDelete(chat.id);
}
