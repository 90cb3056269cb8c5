// The side bar: conversations by day, searching in them, renaming, forking, deleting. It knows no messages.
import { ago, attempt, date, dialog, el, later, toast, word } from "./core.js";
import { menu } from "./chat-menu.js";
import { call, state } from "./chat-state.js";

const page = 50;
const place = document.getElementById("chats");
const find = document.getElementById("find");

// What is shown stays the same element for as long as it says the same: a menu may hang on it.
const rows = new Map();

let chats = [], next = null, loading = false, searched = 0, hooks = {};

/** `open(id, message)` shows a conversation, `renamed(chat)` and `deleted(id)` hear of changes. */
export function start(given) {
  hooks = given;
  find.addEventListener("input", later(search, 200));
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && find.value) {
      event.stopPropagation();
      find.value = "";
      search();
    }
  });
  place.addEventListener("scroll", () => {
    if (place.scrollTop + place.clientHeight > place.scrollHeight - 200) more();
  });
  place.addEventListener("keydown", arrows);
  return load();
}

/** The list from its beginning, as it is now. */
export async function load() {
  const found = await attempt(() => call(`/api/chats?limit=${page}`));
  place.setAttribute("aria-busy", "false");
  if (!found) return;
  ({ chats, next } = found);
  if (!find.value.trim()) show();
}

/** A conversation was begun, used or renamed: it stands first. */
export function touched(chat, front = true) {
  const at = chats.findIndex((one) => one.id === chat.id);
  if (at >= 0 && !front) chats[at] = chat;
  else chats = [chat, ...chats.filter((one) => one.id !== chat.id)];
  if (!find.value.trim()) show();
}

export function mark() {
  for (const link of place.querySelectorAll("a[data-chat]")) {
    if (link.dataset.chat === state.conversation) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function more() {
  if (!next || loading || find.value.trim()) return;
  loading = true;
  const found = await attempt(() => call(`/api/chats?limit=${page}&before=${encodeURIComponent(next)}`));
  loading = false;
  if (!found) return;
  const known = new Set(chats.map((one) => one.id));
  chats = [...chats, ...found.chats.filter((one) => !known.has(one.id))];
  next = found.next;
  show();
}

function show() {
  const top = place.scrollTop, held = document.activeElement;
  const groups = Map.groupBy ? Map.groupBy(chats, (chat) => ago(chat.updated_at)) : grouped(chats);
  const parts = [...groups].map(([day, those], at) => section(day, those.map(row), `day-${at}`));
  if (next) parts.push(el("button", { type: "button", class: "quiet", onclick: more }, word("more")));
  place.replaceChildren(...(parts.length ? parts : [el("p", { class: "empty" }, word("no_chats"))]));
  place.scrollTop = top;
  if (place.contains(held)) held.focus({ preventScroll: true });
  mark();
}

function grouped(all) {
  const groups = new Map();
  for (const one of all) groups.set(ago(one.updated_at), [...(groups.get(ago(one.updated_at)) ?? []), one]);
  return groups;
}

function section(title, entries, id) {
  return el("section", { "aria-labelledby": id }, el("p", { class: "day", id }, title), el("ul", {}, entries));
}

function row(chat) {
  const name = chat.title || word("untitled"), known = rows.get(chat.id);
  if (known?.name === name) return known.made;
  const button = el("button", { type: "button", class: "quiet more", "aria-haspopup": "menu", "aria-expanded": "false",
    "aria-label": word("more_of", { title: name }), onclick: () => menu(button, [
      { label: word("rename"), act: () => rename(chat) },
      { label: word("fork"), act: () => fork(chat) },
      { label: word("delete"), kind: "danger", act: () => remove(chat) },
    ]) }, "⋯");
  const made = el("li", {}, link(chat.id, "", el("span", { dir: "auto" }, name)), button);
  rows.set(chat.id, { name, made });
  return made;
}

function link(id, message, ...inside) {
  return el("a", { href: `/c/${id}${message ? `#${message}` : ""}`, data: { chat: id }, onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    hooks.open(id, message);
  } }, ...inside);
}

function arrows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...place.querySelectorAll("a[data-chat]")];
  const at = links.indexOf(document.activeElement);
  if (!step || at < 0) return;
  event.preventDefault();
  links[Math.min(links.length - 1, Math.max(0, at + step))].focus();
}

async function search() {
  const text = find.value.trim(), number = ++searched;
  if (!text) return show();
  const found = await attempt(() => call(`/api/chats/search?limit=30&q=${encodeURIComponent(text)}`));
  // Somebody has typed on meanwhile.
  if (number !== searched || !found) return undefined;
  const named = chats.filter((chat) => chat.title.toLocaleLowerCase().includes(text.toLocaleLowerCase())).slice(0, 10);
  const parts = [];
  if (named.length) parts.push(section(word("in_titles"), named.map(row), "in-titles"));
  if (found.hits.length) parts.push(section(word("in_messages"), found.hits.map(hit), "in-messages"));
  place.replaceChildren(...(parts.length ? parts : [el("p", { class: "empty" }, word("none_found", { text }))]));
  place.scrollTop = 0;
  return mark();
}

function hit(found) {
  return el("li", { class: "hit" }, link(found.conversation, found.current ? found.message : "",
    el("span", { dir: "auto" }, found.title || word("untitled")),
    el("span", { class: "snippet", dir: "auto" }, found.snippet), el("span", { class: "when" }, date(found.created_at))));
}

async function rename(chat) {
  const input = el("input", { type: "text", value: chat.title, maxlength: "300", dir: "auto", class: "wide", onkeydown: (event) => {
    // The first button of the dialog is the one that leaves it.
    if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      input.form.requestSubmit(input.form.querySelector("button.main"));
    }
  } });
  const pressed = await dialog(word("rename"), el("label", {}, word("title_label"), input), [
    { value: "", label: word("cancel") }, { value: "yes", label: word("save"), kind: "main" }]);
  if (pressed !== "yes" || !input.value.trim()) return;
  const changed = await attempt(() => call(`/api/chats/${chat.id}`, { method: "PATCH", body: { title: input.value } }));
  if (!changed) return;
  touched(changed, false);
  hooks.renamed(changed);
}

async function fork(chat) {
  const made = await attempt(() => call(`/api/chats/${chat.id}/fork`, { method: "POST", body: {} }));
  if (!made) return;
  touched(made);
  await hooks.open(made.id);
  toast(word("forked"));
}

async function remove(chat) {
  const pressed = await dialog(word("delete_chat"), el("p", { dir: "auto" }, word("delete_text", { title: chat.title || word("untitled") })), [
    { value: "", label: word("cancel") },
    { value: "forget", label: word("delete_forget"), kind: "danger" },
    { value: "keep", label: word("delete_keep"), kind: "danger" },
  ]);
  if (!pressed) return;
  const done = await attempt(async () => {
    await call(`/api/chats/${chat.id}?memories=${pressed}`, { method: "DELETE" });
    return true;
  });
  if (!done) return;
  chats = chats.filter((one) => one.id !== chat.id);
  if (find.value.trim()) search();
  else show();
  toast(word("deleted"));
  hooks.deleted(chat.id);
}
