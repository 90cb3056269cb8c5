// What all pages share: words, elements, requests, events, small dialogs.

// What names in reports mean, by kind.
const names = JSON.parse(document.getElementById("report-names").textContent);
const page = document.documentElement;

export const language = page.lang;

/**
 * The element with this id. Which kind it is, only the template knows.
 * @type {(id: string) => any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * All elements that match a selector, in the document or below an element.
 * @type {(selector: string, root?: ParentNode) => HTMLElement[]}
 */
export const queryAll = (selector, root = document) => Array.from(root.querySelectorAll(selector));

/**
 * What a call of the REST API may be given. With `raw` the response itself is returned.
 * @typedef {{
 *   method?: string, body?: any, signal?: AbortSignal, headers?: Record<string, string>, raw?: boolean,
 *   keepalive?: boolean,
 * }} RequestOptions
 */

/**
 * Fills the {placeholders} of a sentence. The server puts sentences of the reader's language in the place of the
 * English literals in calls of `_`, `pgettext` and `ngettext`.
 * @param {string} text
 * @param {Record<string, any>} values
 */
export const _ = (text, values = {}) =>
  text.replace(/\{(\w+)\}/g, (placeholder, key) => (key in values ? String(values[key]) : placeholder));

/**
 * A sentence whose English says different things in different places.
 * @param {string} _context
 * @param {string} text
 * @param {Record<string, any>} values
 */
export const pgettext = (_context, text, values = {}) => _(text, values);

/**
 * One of two sentences: `values.n` decides on it, as a number or as people read it.
 * @param {string} singular
 * @param {string} plural
 * @param {Record<string, any>} values
 */
export const ngettext = (singular, plural, values) => _(String(values.n) === "1" ? singular : plural, values);

/**
 * Returns what a name in a report means: a rule, a section, a level …
 * @param {string} kind
 * @param {string | number} name
 */
export const describeName = (kind, name) => names[kind]?.[name] ?? String(name);

/**
 * Creates an element. Text is always text: nothing that comes from outside is ever read as HTML here.
 * Properties that begin with `on` are listeners; false, null and undefined leave a property or a child out.
 * @param {string} tag
 * @param {Record<string, any>} properties
 * @param {any[]} children
 * @returns {any}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "hidden" || name === "value" || name === "checked" || name === "disabled") {
      element[name] = value;
    } else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Parses HTML that the server has sanitised; no other HTML may be inserted. */
export function parseHtml(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

export class Failure extends Error {
  constructor(message, status, hint, code = "") {
    super(hint ? `${message} ${hint}` : message);
    this.status = status;
    this.code = code;
  }
}

async function readFailure(response) {
  let message = `${response.status} ${response.statusText}`, hint = "", code = "", answer = {};
  try {
    answer = await response.json();
    const error = answer.error ?? answer.detail ?? message;
    message = typeof error === "string" ? error : (error.message ?? message);
    hint = answer.hint ?? error.hint ?? "";
    code = answer.code ?? error.code ?? "";
  } catch { /* no JSON: the status says it */ }
  if (response.status === 401 && location.pathname !== "/login") {
    location.assign(`/login?next=${encodeURIComponent(location.pathname)}`);
  }
  return Object.assign(new Failure(message, response.status, hint, code), { answer });
}

/**
 * Calls the REST API. Returns the JSON of the answer, null if there is none; throws a Failure that can be shown.
 * @param {string} path
 * @param {RequestOptions} options
 * @returns {Promise<any>}
 */
export async function api(
  path,
  { method = "GET", body, signal, headers = {}, raw = false, keepalive = false } = {},
) {
  /** @type {RequestInit & { headers: Record<string, string> }} */
  const init = {
    method,
    signal,
    keepalive,
    headers: { accept: "application/json", ...headers },
    credentials: "same-origin",
  };
  if (body instanceof Blob || typeof body === "string") init.body = body;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers["content-type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(_("The server does not answer. Trying again …"), 0);
  }
  if (!response.ok) throw await readFailure(response);
  if (raw) return response;
  return response.status === 204 ? null : await response.json();
}

/**
 * Yields the server-sent events of a response, one after the other.
 * @param {string} path
 * @param {RequestOptions} options
 */
export async function* streamEvents(path, options = {}) {
  const response = await api(path, {
    ...options,
    raw: true,
    headers: { accept: "text/event-stream", ...options.headers },
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    let end;
    while ((end = rest.search(/\r?\n\r?\n/)) >= 0) {
      const event = parseEvent(rest.slice(0, end));
      rest = rest.slice(end).replace(/^\r?\n\r?\n/, "");
      if (event) yield event;
    }
  }
}

function parseEvent(block) {
  const event = { kind: "message", data: "", id: "" };
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const [name, value] = colon < 0
      ? [line, ""]
      : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (name === "event") event.kind = value;
    else if (name === "id") event.id = value;
    else if (name === "data") event.data += event.data ? `\n${value}` : value;
  }
  if (!event.data) return null;
  event.data = JSON.parse(event.data);
  return event;
}

/** Subscribes to events of this person's scope for as long as the page is open. */
export function subscribe(kinds, callback, path = "/api/events") {
  const source = new EventSource(path);
  for (const kind of kinds) source.addEventListener(kind, (event) => callback(kind, JSON.parse(event.data)));
  source.addEventListener("error", () => showBanner(_("The server does not answer. Trying again …")));
  source.addEventListener("open", () => {
    if (!byId("banner").hidden) checkVersion();
  });
  addEventListener("pagehide", () => source.close());
  return source;
}

async function checkVersion() {
  const ownVersion = document.querySelector('meta[name="holdfast-version"]').getAttribute("content");
  const health = await api("/health").catch(() => null);
  if (health && health.version !== ownVersion) {
    showBanner(
      _("Holdfast was updated. Reload the page to go on."),
      el("button", { type: "button", onclick: () => location.reload() }, _("Reload")),
    );
  } else if (health) showBanner("");
}

/** Shows a line at the top; an empty text removes it. */
export function showBanner(text, ...extra) {
  const place = byId("banner");
  place.hidden = !text;
  place.replaceChildren(...(text ? [el("span", {}, text), ...extra] : []));
}

/**
 * Shows a short message that disappears by itself; the same one twice is shown once. An `action` is a button in
 * it, and it stays longer, or as long as the action says, in milliseconds.
 * @param {string} text
 * @param {string} kind
 * @param {{ label: string, act: () => void, wait?: number } | null} action
 */
export function toast(text, kind = "info", action = null) {
  const act = () => {
    box.remove();
    action.act();
  };
  const button = action && el("button", { type: "button", class: "quiet", onclick: act }, action.label);
  const box = el("div", { class: `toast ${kind}` }, el("span", {}, text), button);
  for (const other of queryAll(".toast", byId("toasts"))) {
    if (other.firstElementChild.textContent === text) other.remove();
  }
  byId("toasts").append(box);
  setTimeout(() => box.remove(), action?.wait ?? (kind === "error" ? 9000 : action ? 7000 : 4000));
}

const database = "holdfast";

/**
 * Opens the browser's database with files that are not sent yet.
 * @returns {Promise<IDBDatabase>}
 */
export function openFiles() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("drafts");
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
}

/** Runs `work` and returns its result; shows an error as a toast and returns undefined. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    toast(_("That did not work: {why}", { why: error.message }), "error");
    return undefined;
  }
}

/** Shows a dialog; returns the value of the button that was pressed, null if it was left. */
export function showDialog(title, body, buttons) {
  return new Promise((resolve) => {
    const box = el("dialog", { "aria-labelledby": "dialog-title" });
    // A button without a value leaves; it must not be what Enter in a field presses.
    const renderButton = (
      { value, label, kind = "" },
    ) => (value
      ? el("button", { value, class: kind }, label)
      : el("button", { type: "button", class: kind, onclick: () => box.close("") }, label));
    box.append(
      el(
        "form",
        { method: "dialog" },
        el("h2", { id: "dialog-title" }, title),
        ...[body].flat(),
        el("div", { class: "buttons" }, ...buttons.map(renderButton)),
      ),
    );
    box.addEventListener("close", () => {
      resolve(box.returnValue || null);
      box.remove();
    });
    document.body.append(box);
    box.showModal();
  });
}

export async function confirmAction(title, text, label = _("Delete")) {
  return (await showDialog(title, el("p", {}, text), [
    { value: "", label: _("Cancel") },
    { value: "yes", label, kind: "danger" },
  ])) === "yes";
}

const numberFormat = new Intl.NumberFormat(language);
const momentFormat = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const timeFormat = new Intl.DateTimeFormat(language, { timeStyle: "short" });
const dateFormat = new Intl.DateTimeFormat(language, { dateStyle: "medium" });

export const formatNumber = (amount) => numberFormat.format(amount);
export const formatMoment = (seconds) => momentFormat.format(new Date(seconds * 1000));
/** The time of day; with its date unless that is today. */
export const formatTime = (seconds) =>
  new Date(seconds * 1000).toDateString() === new Date().toDateString()
    ? timeFormat.format(new Date(seconds * 1000))
    : formatMoment(seconds);
export const formatDate = (seconds) => dateFormat.format(new Date(seconds * 1000));

/** Returns the heading for that time in a list: today, yesterday, this week. */
export function describeAge(seconds, now = Date.now() / 1000) {
  const start = new Date(now * 1000).setHours(0, 0, 0, 0) / 1000;
  if (seconds >= start) return _("Today");
  if (seconds >= start - 86400) return _("Yesterday");
  if (seconds >= start - 7 * 86400) return _("Last 7 days");
  return seconds >= start - 30 * 86400 ? _("Last 30 days") : _("Older");
}

/** The entries by what `read` finds in each, in the order in which it is found. */
export function groupBy(entries, read) {
  const groups = new Map();
  for (const entry of entries) {
    const key = read(entry);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return groups;
}

export function debounce(work, wait) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), wait);
  };
}

/** One of the icons in icons.css. It says nothing by itself: what it stands in has a label. */
export const createIcon = (name) => el("span", { class: `icon icon-${name}`, "aria-hidden": "true" });

/** Creates a button that is an icon with a label; `title` says more than the label. */
export function createIconButton(icon, label, work, title = label) {
  return el(
    "button",
    { type: "button", class: "quiet icon-button", "aria-label": label, title, onclick: work },
    createIcon(icon),
  );
}

/** Creates a button that copies a text; with `bare` it is an icon alone. */
export function createCopyButton(text, { bare = false } = {}) {
  const label = el("span", { class: bare ? "hidden-label" : "" }, _("Copy"));
  const icon = createIcon("copy");
  const button = el(
    "button",
    { type: "button", class: `quiet copy ${bare ? "icon-button" : ""}`, title: _("Copy") },
    icon,
    label,
  );
  const show = (name, text) => {
    icon.className = `icon icon-${name}`;
    label.textContent = text;
  };
  button.addEventListener("click", async () => {
    await copyText(typeof text === "function" ? text() : text);
    show("check", _("Copied"));
    setTimeout(() => show("copy", _("Copy")), 1500);
  });
  return button;
}

async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without https, browsers let only a selection be copied.
  const field = el("textarea", { value: text, class: "hidden-label", "aria-hidden": "true", tabindex: "-1" });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  return undefined;
}

function saveCookie(name, value) {
  document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax`;
}

const themes = ["auto", "light", "dark"];
const themeButton = byId("theme");

/** Shows the page in a theme, and remembers the choice. */
export function setTheme(theme) {
  saveCookie("holdfast_theme", theme);
  showTheme(theme);
}

function showTheme(theme) {
  page.dataset.theme = theme;
  themeButton.dataset.theme = theme;
  themeButton.title = themeButton.dataset[theme];
  themeButton.setAttribute("aria-label", themeButton.dataset[theme]);
}

if (themeButton) {
  showTheme(page.dataset.theme);
  themeButton.addEventListener(
    "click",
    () => setTheme(themes[(themes.indexOf(page.dataset.theme) + 1) % themes.length]),
  );
}

/**
 * What a page adds to the palette: `open(id, message)` shows a chat without leaving the page, `commands()` are
 * more of them, `headers()` say whose chats are meant.
 * @type {{ open: ((id: string, message: string) => void) | null, commands: () => any, headers: () => Record<string, string> }}
 */
export const palette = { open: null, commands: () => [], headers: () => ({}) };

const paletteButton = byId("palette");
if (paletteButton) {
  const openPalette = () => attempt(async () => (await import("./palette.js")).openPalette());
  paletteButton.addEventListener("click", openPalette);
  addEventListener("keydown", (event) => {
    const isAsked = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "k";
    if (!isAsked || event.defaultPrevented) return;
    event.preventDefault();
    openPalette();
  });
}

const drawerButton = byId("drawer-open");
if (drawerButton) {
  const setDrawer = (on) => {
    document.body.classList.toggle("drawn", on);
    drawerButton.setAttribute("aria-expanded", String(on));
    if (on) byId("drawer").querySelector("a")?.focus();
  };
  const isOpen = () => drawerButton.getAttribute("aria-expanded") === "true";
  drawerButton.addEventListener("click", () => setDrawer(!isOpen()));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen()) return;
    setDrawer(false);
    drawerButton.focus();
  });
  document.addEventListener("click", (event) => {
    const inside = event.target instanceof Element && event.target.closest("#drawer, #drawer-open");
    if (isOpen() && !inside) setDrawer(false);
  });
}

/** Removes what was kept for reading without the server. */
export async function forgetCopies() {
  if (globalThis.caches) await caches.delete("holdfast-private");
}

// Who comes to the login page is nobody yet: nothing that was kept is theirs.
if (document.body.classList.contains("page-login")) forgetCopies();
else navigator.serviceWorker?.register("/sw.js").catch(() => null);

const languageButton = byId("language");
languageButton?.addEventListener("click", () => {
  saveCookie("holdfast_language", languageButton.dataset.other);
  location.reload();
});

byId("logout")?.addEventListener("click", () =>
  attempt(async () => {
    await api("/api/logout", { method: "POST" });
    // Whoever uses this browser next finds nothing that was written and not sent.
    if (byId("text")) byId("text").value = "";
    sessionStorage.clear();
    indexedDB.deleteDatabase(database);
    await forgetCopies();
    location.assign("/login");
  }));
