// The palette: one box for chats, pages, commands and settings, opened by Ctrl+K on every page.
import {
  _,
  api,
  createIcon,
  debounce,
  el,
  formatDate,
  ngettext,
  palette,
  pgettext,
  queryAll,
  setTheme,
} from "./core.js";
import { markWords } from "./mark-words.js";

// How many entries of a group are shown before something is typed, and after.
const BEFORE = 7, AFTER = 8;

const GROUPS = {
  commands: _("Commands"),
  pages: _("Pages"),
  chats: pgettext("in the palette", "Chats"),
  settings: _("Settings"),
};

/**
 * One entry: what it says, what else it is found by, and what it does.
 * @typedef {{ label: string, icon: string, act: () => void, also?: string, detail?: any, when?: string }} Entry
 */

/** The text without case and accents, so that "uber" finds "Über". */
const fold = (text) => text.normalize("NFD").replace(/\p{M}+/gu, "").toLocaleLowerCase();

/** The entries whose words begin with, or else contain, all that was typed; the closest first. */
function rankEntries(entries, typed) {
  const terms = fold(typed).split(/\s+/).filter(Boolean);
  const rate = (entry) => {
    const label = fold(entry.label), whole = `${label} ${fold(entry.also ?? "")}`;
    if (!terms.every((term) => whole.includes(term))) return -1;
    if (label.startsWith(terms.join(" "))) return 3;
    return terms.every((term) => label.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(term)))
      ? 2
      : 1;
  };
  const rated = entries.map((entry) => ({ entry, rate: rate(entry) })).filter((rating) => rating.rate > 0);
  return rated.sort((a, b) => b.rate - a.rate).slice(0, AFTER).map((rating) => rating.entry);
}

const isThere = (element) => !element.closest("[hidden]") && !element.disabled;

/**
 * What can be done here: the page's buttons that have a name for it, the open chat's actions, the themes.
 * @returns {Entry[]}
 */
function listCommands(more) {
  const buttons = [...queryAll("main [data-command]"), ...queryAll("header.top [data-command]")].filter(
    isThere,
  ).map((button) => ({
    label: button.dataset.command,
    icon: button.dataset.icon ?? "arrow-right",
    act: () => button.click(),
  }));
  const themes = [
    { label: _("Theme: light"), icon: "sun", act: () => setTheme("light") },
    { label: _("Theme: dark"), icon: "moon", act: () => setTheme("dark") },
    { label: _("Theme: as the system"), icon: "sun-moon", act: () => setTheme("auto") },
  ];
  const fresh = { label: _("New chat"), icon: "square-pen", act: () => location.assign("/") };
  const own = more.map(({ label, icon = "arrow-right", act }) => ({ label, icon, act }));
  return [...(document.getElementById("new") ? [] : [fresh]), ...buttons, ...own, ...themes];
}

/** @returns {Entry[]} */
const listPages = () =>
  queryAll(".menu a").map((link) => ({
    label: link.textContent.trim(),
    icon: link.querySelector(".icon").className.replace(/.*icon-/, ""),
    act: () => location.assign(link.getAttribute("href")),
  }));

/** The settings, for those who may see them; loaded when something is looked for. */
let settings = null;
async function loadSettings() {
  settings ??= api("/api/settings").then(({ settings: all }) =>
    all.map(({ name, help }) => ({
      label: help,
      also: name,
      icon: "settings",
      detail: el("code", {}, name),
      act: () => location.assign(`/settings#row-${name}`),
    })), () => []);
  return settings;
}

const openChat = (id, message = "") =>
  palette.open ? palette.open(id, message) : location.assign(`/c/${id}${message ? `#${message}` : ""}`);

const inScope = (path) => api(path, { headers: palette.headers() });

/** @returns {Promise<Entry[]>} */
async function findChats(typed) {
  const [titles, found] = await Promise.all([
    inScope(`/api/chats?limit=${typed ? 5 : BEFORE}${typed ? `&title=${encodeURIComponent(typed)}` : ""}`),
    typed ? inScope(`/api/chats/search?limit=${AFTER}&q=${encodeURIComponent(typed)}`) : { hits: [] },
  ]);
  const words = found.corrected ?? typed;
  return [
    ...titles.chats.map((chat) => ({
      label: chat.title || _("Untitled"),
      icon: "message-circle",
      when: formatDate(chat.updated_at),
      act: () => openChat(chat.id),
    })),
    ...found.hits.map((hit) => ({
      label: hit.title || _("Untitled"),
      icon: "message-circle",
      when: formatDate(hit.created_at),
      detail: el("span", { dir: "auto" }, ...markWords(hit.snippet, words)),
      act: () => openChat(hit.conversation, hit.current ? hit.message : ""),
    })),
  ];
}

/** The box itself; it is made anew whenever it is opened. */
class Palette {
  constructor() {
    this.entries = [];
    this.chosen = 0;
    this.lookups = 0;
    this.own = [];
    this.list = el("div", { id: "palette-list", role: "listbox", "aria-label": _("Matches") });
    this.count = el("p", { class: "hidden-label", role: "status", "aria-live": "polite" });
    this.input = el("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: _("Find a chat, a page, a command, a setting …"),
      "aria-label": _("Chats, pages and commands"),
      "aria-controls": "palette-list",
      "aria-expanded": "true",
      "aria-autocomplete": "list",
      oninput: () => this.search(),
      onkeydown: (event) => this.handleKey(event),
    });
    this.box = el(
      "dialog",
      { class: "palette", "aria-label": _("Chats, pages and commands") },
      el("div", { class: "palette-field" }, createIcon("search"), this.input, el("kbd", {}, "Esc")),
      this.list,
      this.count,
    );
    // A click beside the box closes it.
    this.box.addEventListener("click", (event) => event.target === this.box && this.box.close());
    this.box.addEventListener("close", () => this.box.remove());
    this.findSoon = debounce(() => this.showChats(), 120);
  }

  open() {
    document.body.append(this.box);
    this.box.showModal();
    this.search();
    this.loadOwn();
  }

  /** Adds what the page itself can do, which it may have to load first. */
  async loadOwn() {
    this.own = await palette.commands();
    if (this.box.isConnected) this.search();
  }

  search() {
    const typed = this.input.value.trim(), commands = listCommands(this.own), pages = listPages();
    this.groups = typed
      ? {
        commands: rankEntries([...commands, ...pages], typed),
        chats: this.chats ?? [],
        settings: this.lastSettings ?? [],
      }
      : { chats: this.chats ?? [], commands, pages };
    this.show();
    if (typed) this.findSoon();
    else this.showChats();
  }

  /** Adds what only the server knows, unless somebody has typed on meanwhile. */
  async showChats() {
    const lookup = ++this.lookups, typed = this.input.value.trim();
    const [chats, known] = await Promise.all([
      findChats(typed).catch(() => []),
      typed ? loadSettings() : [],
    ]);
    if (lookup !== this.lookups) return;
    this.chats = chats;
    this.groups.chats = chats;
    if (typed) this.groups.settings = this.lastSettings = rankEntries(known, typed);
    this.show();
  }

  show() {
    const chosen = this.entries[this.chosen]?.label;
    this.entries = Object.values(this.groups).flat();
    let at = 0;
    const parts = Object.entries(this.groups).filter(([, entries]) => entries.length).map(([name, entries]) =>
      el(
        "div",
        { role: "group", "aria-label": GROUPS[name] },
        el("p", { class: "day", "aria-hidden": "true" }, GROUPS[name]),
        entries.map((entry) => this.renderEntry(entry, at++)),
      )
    );
    this.list.replaceChildren(
      ...(parts.length ? parts : [el("p", { class: "empty" }, _("Nothing like that."))]),
    );
    this.count.textContent = ngettext("1 match", "{n} matches", { n: this.entries.length });
    const same = this.hasMoved ? this.entries.findIndex((entry) => entry.label === chosen) : 0;
    this.moveTo(Math.max(0, same));
  }

  renderEntry(entry, at) {
    return el(
      "div",
      {
        role: "option",
        id: `palette-${at}`,
        class: "palette-entry",
        onclick: () => this.run(at),
      },
      createIcon(entry.icon),
      el(
        "span",
        { class: "palette-text" },
        el("span", { class: "palette-label", dir: "auto" }, entry.label),
        entry.detail && el("span", { class: "palette-detail" }, entry.detail),
      ),
      entry.when && el("span", { class: "palette-when" }, entry.when),
    );
  }

  moveTo(to) {
    const options = queryAll('[role="option"]', this.list);
    this.chosen = options.length ? (to + options.length) % options.length : 0;
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === this.chosen)));
    if (!options.length) return this.input.removeAttribute("aria-activedescendant");
    this.input.setAttribute("aria-activedescendant", options[this.chosen].id);
    // The first entry brings its heading into view, too.
    return this.chosen
      ? options[this.chosen].scrollIntoView({ block: "nearest" })
      : (this.list.scrollTop = 0);
  }

  handleKey(event) {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }[event.key];
    const isAgain = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    if (step) {
      this.hasMoved = true;
      this.moveTo(this.chosen + step);
    } else if (event.key === "Enter") this.run(this.chosen);
    else if (isAgain) this.box.close();
    else {
      this.hasMoved = false;
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  run(at) {
    const entry = this.entries[at];
    if (!entry) return;
    // The focus goes back to where it was first, so that what is run may move it.
    this.box.addEventListener("close", () => entry.act());
    this.box.close();
  }
}

/** Opens the palette, unless it or another dialog is open. */
export function openPalette() {
  if (!document.querySelector("dialog[open]")) new Palette().open();
}

document.head.append(
  el("link", { rel: "stylesheet", href: new URL("./palette.css", import.meta.url).href }),
);
