// What all pages share: words, elements, requests, events, small dialogs. It knows no page.

const table = JSON.parse(document.getElementById("words").textContent);
const page = document.documentElement;

export const language = page.lang;

/** A sentence in the person's language, with its {places} filled in. */
export function word(name, values = {}) {
  const text = table[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}

/** An element. Text is always text: nothing that comes from outside is ever read as HTML here. */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name === "data") Object.assign(made.dataset, value);
    else if (name === "hidden" || name === "value" || name === "checked" || name === "disabled") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** HTML that the server has made and cleaned; nothing else may be put in this way. */
export function cleaned(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

export class Failure extends Error {
  constructor(message, status, hint) {
    super(hint ? `${message} ${hint}` : message);
    this.status = status;
  }
}

async function refused(response) {
  let message = `${response.status} ${response.statusText}`, hint = "", told = {};
  try {
    told = await response.json();
    const error = told.error ?? told.detail ?? message;
    message = typeof error === "string" ? error : (error.message ?? message);
    hint = told.hint ?? error.hint ?? "";
  } catch { /* no JSON: the status says it */ }
  if (response.status === 401 && location.pathname !== "/login") location.assign(`/login?next=${encodeURIComponent(location.pathname)}`);
  return Object.assign(new Failure(message, response.status, hint), { told });
}

/** One REST call. Gives what came as JSON, null for nothing; throws a Failure that can be shown. */
export async function api(path, { method = "GET", body, signal, headers = {}, raw = false } = {}) {
  const sent = { method, signal, headers: { accept: "application/json", ...headers }, credentials: "same-origin" };
  if (body instanceof Blob || typeof body === "string") sent.body = body;
  else if (body !== undefined) {
    sent.body = JSON.stringify(body);
    sent.headers["content-type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, sent);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(word("offline"), 0);
  }
  if (!response.ok) throw await refused(response);
  if (raw) return response;
  return response.status === 204 ? null : await response.json();
}

/** Server-sent events as the answer to a request, one after the other. */
export async function* follow(path, options = {}) {
  const response = await api(path, { ...options, raw: true, headers: { accept: "text/event-stream", ...options.headers } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    let end;
    while ((end = rest.search(/\r?\n\r?\n/)) >= 0) {
      const event = parsed(rest.slice(0, end));
      rest = rest.slice(end).replace(/^\r?\n\r?\n/, "");
      if (event) yield event;
    }
  }
}

function parsed(block) {
  const event = { kind: "message", data: "", id: "" };
  for (const line of block.split(/\r?\n/)) {
    const at = line.indexOf(":");
    if (at === 0) continue;
    const [name, value] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
    if (name === "event") event.kind = value;
    else if (name === "id") event.id = value;
    else if (name === "data") event.data += event.data ? `\n${value}` : value;
  }
  if (!event.data) return null;
  event.data = JSON.parse(event.data);
  return event;
}

/** Everything that happens in this person's scope, for as long as the page is open. */
export function events(kinds, told, path = "/api/events") {
  const source = new EventSource(path);
  for (const kind of kinds) source.addEventListener(kind, (event) => told(kind, JSON.parse(event.data)));
  source.addEventListener("error", () => banner(word("offline")));
  source.addEventListener("open", () => {
    if (banner.shown) checkVersion();
  });
  addEventListener("pagehide", () => source.close());
  return source;
}

async function checkVersion() {
  const known = document.querySelector('meta[name="holdfast-version"]').content;
  const health = await api("/health").catch(() => null);
  if (health && health.version !== known) banner(word("updated"), el("button", { type: "button", onclick: () => location.reload() }, word("reload")));
  else if (health) banner("");
}

/** One line at the top that stays until what it says is over; empty takes it away. */
export function banner(text, ...more) {
  const place = document.getElementById("banner");
  banner.shown = Boolean(text);
  place.hidden = !text;
  place.replaceChildren(...(text ? [el("span", {}, text), ...more] : []));
}

/** A short message that goes by itself. */
export function toast(text, kind = "info") {
  const made = el("div", { class: `toast ${kind}` }, text);
  document.getElementById("toasts").append(made);
  setTimeout(() => made.remove(), kind === "error" ? 9000 : 4000);
}

/** Does something, and says so where it fails; gives undefined then. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    toast(word("failed", { why: error.message }), "error");
    return undefined;
  }
}

/** A dialog; gives the value of the button that was pressed, null if it was left. */
export function dialog(title, body, buttons) {
  return new Promise((resolve) => {
    const made = el("dialog", { "aria-labelledby": "dialog-title" });
    // A button without a value leaves; it must not be what Enter in a field presses.
    const pressed = ({ value, label, kind = "" }) => (value
      ? el("button", { value, class: kind }, label)
      : el("button", { type: "button", class: kind, onclick: () => made.close("") }, label));
    made.append(el("form", { method: "dialog" }, el("h2", { id: "dialog-title" }, title), ...[body].flat(),
      el("div", { class: "buttons" }, ...buttons.map(pressed))));
    made.addEventListener("close", () => {
      resolve(made.returnValue || null);
      made.remove();
    });
    document.body.append(made);
    made.showModal();
  });
}

export async function sure(title, text, label = word("delete")) {
  return (await dialog(title, el("p", {}, text), [
    { value: "", label: word("cancel") },
    { value: "yes", label, kind: "danger" },
  ])) === "yes";
}

const spelled = new Intl.NumberFormat(language);
const dated = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });

export const number = (amount) => spelled.format(amount);
export const moment = (seconds) => dated.format(new Date(seconds * 1000));
export const date = (seconds) => day.format(new Date(seconds * 1000));

/** The heading under which something of that time stands in a list. */
export function ago(seconds, now = Date.now() / 1000) {
  const start = new Date(now * 1000).setHours(0, 0, 0, 0) / 1000;
  if (seconds >= start) return word("today");
  if (seconds >= start - 86400) return word("yesterday");
  if (seconds >= start - 7 * 86400) return word("week");
  return seconds >= start - 30 * 86400 ? word("month") : word("older");
}

export function later(work, wait) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
}

/** A button that copies a text. */
export function copier(text) {
  const made = el("button", { type: "button", class: "quiet copy" }, word("copy"));
  made.addEventListener("click", async () => {
    await copied(typeof text === "function" ? text() : text);
    made.textContent = word("copied");
    setTimeout(() => (made.textContent = word("copy")), 1500);
  });
  return made;
}

async function copied(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without https, browsers let only a selection be copied.
  const field = el("textarea", { value: text, class: "hidden-label", "aria-hidden": "true", tabindex: "-1" });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  return undefined;
}

function remembered(name, value) {
  document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax`;
}

const themes = ["auto", "light", "dark"];
const themeButton = document.getElementById("theme");
if (themeButton) {
  const show = (theme) => {
    page.dataset.theme = theme;
    themeButton.dataset.theme = theme;
    themeButton.title = themeButton.dataset[theme];
    themeButton.setAttribute("aria-label", themeButton.dataset[theme]);
  };
  show(page.dataset.theme);
  themeButton.addEventListener("click", () => {
    const next = themes[(themes.indexOf(page.dataset.theme) + 1) % themes.length];
    remembered("holdfast_theme", next);
    show(next);
  });
}

const languageButton = document.getElementById("language");
languageButton?.addEventListener("click", () => {
  remembered("holdfast_language", languageButton.dataset.other);
  location.reload();
});

document.getElementById("logout")?.addEventListener("click", () => attempt(async () => {
  await api("/api/logout", { method: "POST" });
  location.assign("/login");
}));
