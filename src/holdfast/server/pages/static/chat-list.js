// The side bar: conversations pinned, in folders, by day and archived, and searching in them.
import {
  _,
  attempt,
  byId,
  createIcon,
  debounce,
  describeAge,
  el,
  formatNumber,
  groupBy,
  ngettext,
  pgettext,
  toast,
} from "./core.js";
import { call, projectQuery, readStored, state, store } from "./chat-state.js";

// How many conversations a page of the list has, and how many are shown of a folder.
const page = 50, most = 200;
const place = byId("chats");
const find = byId("find");
const projectChooser = byId("project");

// Elements of the rows by id, reused while they say the same: a menu may be attached to them.
const rows = new Map();
// The conversations that were drawn this time.
const shown = new Set();
// What is loaded: by day, pinned, the folders with their number, and what is in those that are open.
let chats = [], next = null, pinned = [], folders = [], hasArchive = false;
const contents = new Map();
// The archive is a folder that nobody can name.
const archive = "\n";
const opened = new Set(readStored("folders").split("\t").filter(Boolean));
let isLoading = false, searchCount = 0, loads = 0, hooks = {};

// What is rarely used is loaded when it is: the actions of a menu, choosing several.
let actions = null, selection = null;

async function loadActions() {
  if (actions) return actions;
  const module = await import("./chat-actions.js");
  module.startActions({
    ...hooks,
    reload: load,
    show: refresh,
    update: moveToFront,
    folders: () => folders.map((folder) => folder.name),
    readFolder,
    follow: (name, folder) => opened.has(name) && folder && opened.add(folder),
  });
  return (actions = module);
}

async function selectSeveral() {
  await loadActions();
  selection ??= await import("./chat-select.js");
  selection.startSelection({ show: refresh, find: findChat });
  selection.setSelecting(true);
}

/** Opens a menu at a button. */
const showMenu = (button, items) =>
  attempt(async () => (await import("./chat-menu.js")).openMenu(button, await items));

const isSelecting = () => selection?.isSelecting() ?? false;

/** What can be done with a conversation, for its menu and for the palette. */
export const actionsOf = async (chat) => (await loadActions()).actionsOf(chat);

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
  projectChooser.addEventListener("change", () => chooseProject(projectChooser.value));
  byId("list-menu").addEventListener("click", (event) => showMenu(event.currentTarget, listActions()));
  byId("import").addEventListener("change", (event) => attempt(() => importChosen(event.target)));
  // As they were last time, so that the list does not move when it comes.
  showProjects(readStored("projects").split("\t").filter(Boolean));
  return load();
}

const showLibrary = async () => (await import("./chat-prompts.js")).showLibrary();

/** What can be done with the list as a whole, for its menu and for the palette. */
export const listActions = () =>
  [
    { label: _("Select several"), icon: "list-checks", act: () => attempt(selectSeveral) },
    { label: _("Prompt library"), icon: "square-pen", act: () => attempt(showLibrary) },
    state.kind === "private" &&
    { label: _("New project …"), icon: "folder", act: () => attempt(askProject) },
    { label: _("Import saved chats …"), icon: "upload", act: () => byId("import").click() },
  ].filter(Boolean);

/** Lists the conversations of a project; new ones begin in it. */
function chooseProject(name) {
  store("project", state.project = name);
  load();
  hooks.open("");
}

async function askProject() {
  const { askName } = await import("./chat-projects.js");
  const name = await askName();
  if (name) chooseProject(name);
}

/** Shows the projects there are; whoever has none need not choose. */
function showProjects(names) {
  const all = [...new Set(["default", ...names, state.project].filter(Boolean))];
  projectChooser.hidden = state.kind === "group" || all.length < 2;
  projectChooser.replaceChildren(
    el("option", { value: "" }, _("All projects")),
    ...all.map((name) => el("option", { value: name }, name === "default" ? _("Without a project") : name)),
  );
  projectChooser.value = state.project;
}

async function importChosen(input) {
  const { importFiles } = await import("./chat-export.js");
  const report = await importFiles([...input.files]);
  input.value = "";
  const { new: added, grown, known } = report.conversations;
  toast(
    ngettext(
      "1 chat imported; {known} were there already.",
      "{n} chats imported; {known} were there already.",
      { n: added + grown, known },
    ),
  );
  for (const line of report.unreadable) toast(line, "error");
  await load();
}

const readFolder = (name) =>
  call(
    name === archive
      ? `/api/chats?archived=yes&limit=${most}${projectQuery()}`
      : `/api/chats?folder=${encodeURIComponent(name)}&limit=${most}${projectQuery()}`,
  );

/** Loads the list anew: its first page, what is pinned, and the folders that are open. */
export async function load() {
  const count = ++loads;
  const reply = await attempt(() =>
    Promise.all([
      call(`/api/chats?pinned=false&folder=&limit=${page}${projectQuery()}`),
      call(`/api/chats?pinned=true&limit=${most}${projectQuery()}`),
      call(`/api/chats/folders?${projectQuery().slice(1)}`),
      call("/api/chats/projects"),
    ])
  );
  place.setAttribute("aria-busy", "false");
  if (!reply || count !== loads) return;
  const [recent, pins, shelves, { projects }] = reply;
  showProjects(projects);
  store("projects", projects.join("\t"));
  ({ chats, next } = recent);
  pinned = pins.chats;
  ({ folders, archived: hasArchive } = shelves);
  const names = [...folders.map((folder) => folder.name), archive].filter((name) => opened.has(name));
  const loaded = await attempt(() => Promise.all(names.map(readFolder)));
  if (count !== loads) return;
  contents.clear();
  names.forEach((name, at) => contents.set(name, loaded?.[at].chats ?? []));
  refresh();
}

function refresh() {
  if (find.value.trim()) searchChats();
  else showList();
}

const everyList = () => [chats, pinned, ...contents.values()];
const findChat = (id) => everyList().flat().find((chat) => chat.id === id);

/** Puts a conversation that was begun or used first; with `front` false it is updated in its place. */
export function moveToFront(chat, front = true) {
  let isKnown = false;
  for (const members of everyList()) {
    const at = members.findIndex((entry) => entry.id === chat.id);
    if (at < 0) continue;
    isKnown = true;
    members.splice(at, 1);
    members.splice(front ? 0 : at, 0, chat);
  }
  if (!isKnown && !chat.folder && !chat.archived && !chat.pinned) chats = [chat, ...chats];
  if (!find.value.trim()) showList();
}

/** Shows the title that a model gave a conversation. */
export function rename(id, title) {
  const chat = findChat(id);
  if (chat) moveToFront({ ...chat, title }, false);
  hooks.onRename({ ...(chat ?? state.chat), id, title });
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
  const before = encodeURIComponent(next);
  const reply = await attempt(() =>
    call(`/api/chats?pinned=false&folder=&limit=${page}&before=${before}${projectQuery()}`)
  );
  isLoading = false;
  if (!reply) return;
  const ids = new Set(chats.map((chat) => chat.id));
  chats = [...chats, ...reply.chats.filter((chat) => !ids.has(chat.id))];
  next = reply.next;
  showList();
}

const renderRows = (members) => members.filter((chat) => !state.deleted.has(chat.id)).map(renderRow);

function showList() {
  shown.clear();
  const top = place.scrollTop, focused = /** @type {HTMLElement} */ (document.activeElement);
  const days = groupBy(chats, (chat) => describeAge(chat.updated_at));
  const sections = [[pgettext("heading of a list", "Pinned"), pinned], ...days];
  const parts = sections.map(([title, members], at) =>
    renderSection(title, renderRows(members), `day-${at}`)
  );
  parts.splice(1, 0, ...folders.map(renderFolder));
  const list = parts.filter(Boolean);
  if (next) list.push(el("button", { type: "button", class: "quiet", onclick: loadMore }, _("Load more")));
  if (hasArchive) list.push(renderFolder({ name: archive, chats: null }));
  place.replaceChildren(...(list.length ? list : [el("p", { class: "empty" }, _("No conversations yet."))]));
  place.scrollTop = top;
  if (place.contains(focused)) focused.focus({ preventScroll: true });
  markCurrent();
}

/** A part of the list with a heading; nothing if it is empty. */
function renderSection(title, entries, id) {
  return entries.length > 0 && el(
    "section",
    { "aria-labelledby": id },
    el("p", { class: "day", id }, title),
    el("ul", {}, entries),
  );
}

function renderFolder({ name, chats: count }) {
  const isArchive = name === archive, label = isArchive ? pgettext("heading of a list", "Archive") : name;
  const members = contents.get(name);
  const menu = !isArchive && el("button", {
    type: "button",
    class: "quiet more",
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    "aria-label": _("More: {title}", { title: label }),
    onclick: (event) => showMenu(event.currentTarget, folderActions(name)),
  }, "⋯");
  const fold = el(
    "details",
    { class: "folder", open: opened.has(name), ontoggle: () => toggleFolder(name, fold.open) },
    el(
      "summary",
      {},
      createIcon(isArchive ? "archive" : "folder"),
      el("span", { class: "grow", dir: "auto" }, label),
      count !== null && el("span", { class: "when" }, formatNumber(count)),
    ),
    members && el("ul", {}, renderRows(members)),
  );
  return el("div", { class: "folder-row" }, fold, menu);
}

async function toggleFolder(name, isOpen) {
  if (opened.has(name) === isOpen) return;
  if (isOpen) opened.add(name);
  else opened.delete(name);
  store("folders", [...opened].join("\t"));
  if (isOpen && !contents.has(name)) {
    const reply = await attempt(() => readFolder(name));
    if (reply) contents.set(name, reply.chats);
  }
  showList();
}

const folderActions = async (name) => (await loadActions()).actionsOfFolder(name);

function renderRow(chat) {
  const name = chat.title || _("Untitled"), row = rows.get(chat.id), isAgain = shown.has(chat.id);
  shown.add(chat.id);
  if (row) row.chat = chat;
  const isSame = row?.name === name && row.isSelecting === isSelecting() && !isSelecting();
  // What is pinned and in an open folder stands in two places.
  return isSame && !isAgain ? row.item : createRow(chat, name);
}

function createRow(chat, name) {
  const entry = { name, chat, item: null, isSelecting: isSelecting() };
  const button = el("button", {
    type: "button",
    class: "quiet more",
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    "aria-label": _("More: {title}", { title: name }),
    onclick: () => showMenu(button, actionsOf(entry.chat)),
  }, "⋯");
  entry.item = el(
    "li",
    {},
    isSelecting() && selection.renderCheckbox(chat),
    renderLink(chat.id, "", el("span", { dir: "auto" }, name)),
    button,
  );
  rows.set(chat.id, entry);
  return entry.item;
}

function renderLink(id, message, ...inside) {
  return el("a", {
    href: `/c/${id}${message ? `#${message}` : ""}`,
    data: { chat: id },
    onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      const box = event.currentTarget.parentElement.querySelector("input[data-select]");
      if (box) box.click();
      else hooks.open(id, message);
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

/** Shows what is found for the words in the field; without words, the list. */
async function searchChats() {
  const text = find.value.trim(), number = ++searchCount;
  if (!text) return showList();
  const { renderResults } = await import("./chat-search.js");
  shown.clear();
  const parts = await attempt(() => renderResults(text, { renderRows, renderSection, renderLink }));
  // Somebody has typed on meanwhile.
  if (number !== searchCount || !parts) return undefined;
  place.replaceChildren(...parts);
  place.scrollTop = 0;
  return markCurrent();
}
