// The context page: how full a conversation's window is, its tabs, and which of its sizes is looked at.
import { attempt, el, events, later, moment, number, word } from "./core.js";
import { call, state } from "./chat-state.js";
import { brought } from "./context-brought.js";
import { decisions } from "./context-decisions.js";
import { messages } from "./context-messages.js";
import { request } from "./context-request.js";
import { turns } from "./context-turns.js";
import { meter } from "./meter.js";

const place = (name) => document.getElementById(name);
const conversation = place("context").dataset.conversation;
const panels = { messages, turns, decisions, brought, request };
const tabs = [...document.querySelectorAll('[role="tab"]')];
const nameOf = (tab) => tab.getAttribute("aria-controls");

// What every panel gets: the report, how to ask for more of this window, and how to have all shown anew.
const shown = { report: null, ask, change, heading };
let size = Number(new URLSearchParams(location.search).get("window")) || null;
let selected = nameOf(tabs.find((tab) => `#${nameOf(tab)}` === location.hash) ?? tabs[0]);
const stale = new Set();

function ask(path, { params = {}, ...options } = {}) {
  const given = new URLSearchParams({ ...(size && !options.method ? { window: size } : {}), ...params });
  return call(`/api/chats/${encodeURIComponent(conversation)}/${path}${given.size ? `?${given}` : ""}`, options);
}

async function change(path, options) {
  const done = await attempt(() => ask(path, options));
  if (done) await load();
  return done;
}

function heading(name) {
  return place("headings").content.querySelector(`[data-name="${name}"]`).cloneNode(true);
}

async function load() {
  try {
    shown.report = await found();
  } catch (error) {
    place("shown").hidden = true;
    place("none").hidden = false;
    place("none").textContent = error.status === 404 ? word("no_window") : word("failed", { why: error.message });
    return;
  }
  place("none").hidden = true;
  place("shown").hidden = false;
  top(shown.report);
  ask("compactions").then(({ chat }) => (place("title").textContent = chat.title || word("untitled")), () => {});
  for (const name of Object.keys(panels)) stale.add(name);
  await show(selected);
}

/** The report. A link does not say whether its conversation is private or a group's, so both are tried. */
async function found() {
  try {
    return await ask("window");
  } catch (error) {
    if (error.status !== 404 || shown.report) throw error;
    state.kind = state.kind === "group" ? "private" : "group";
    return await ask("window").catch(() => Promise.reject(error));
  }
}

function top(report) {
  place("meter").replaceChildren(meter(report));
  const used = word("used", {
    used: number(report.tokens), room: number(report.room), share: Math.round(report.utilisation * 100),
    method: word(`method_${report.method}`), low: number(report.at_least), high: number(report.at_most),
  });
  place("facts").replaceChildren(...[word(`level_${report.level}`), used, report.model && word("model", { name: report.model }), word("sent_at", { when: moment(report.updated_at) })]
    .filter(Boolean).map((text, at) => el(at ? "span" : "strong", { dir: "auto" }, text)));
  place("notices").replaceChildren(...(report.notices ?? []).map((name) => el("li", {}, word(`notice_${name}`))));
  const windows = [...new Set(report.windows)].sort((one, other) => one - other);
  place("sizes").hidden = windows.length < 2;
  place("size").replaceChildren(...windows.map((one) => el("option", { value: one, selected: one === report.window }, word("window_of", { n: number(one) }))));
}

async function show(name) {
  selected = name;
  for (const tab of tabs) {
    const on = nameOf(tab) === name;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    place(nameOf(tab)).hidden = !on;
  }
  if (!stale.delete(name)) return;
  await attempt(() => panels[name](place(name), shown));
}

function choose(tab) {
  history.replaceState(null, "", `${location.search}#${nameOf(tab)}`);
  tab.focus();
  show(nameOf(tab));
}

for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(tabs[(to + tabs.length) % tabs.length]);
  });
}

addEventListener("hashchange", () => {
  const tab = tabs.find((one) => `#${nameOf(one)}` === location.hash);
  if (tab) show(nameOf(tab));
});

place("size").addEventListener("change", () => {
  size = Number(place("size").value);
  history.replaceState(null, "", `?window=${size}#${selected}`);
  load();
});

const again = later(load, 400);
events(["window", "compaction"], (_, told) => {
  if (told.conversation === conversation) again();
});
load();
