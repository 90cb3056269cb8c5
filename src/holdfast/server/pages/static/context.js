// The context page: how full a conversation's window is, its tabs, and which of its sizes is looked at.
import {
  _,
  attempt,
  byId,
  debounce,
  describeName,
  el,
  formatMoment,
  formatNumber,
  queryAll,
  subscribe,
} from "./core.js";
import { call, state } from "./chat-state.js";
import { showAdditions } from "./context-additions.js";
import { showDeeds, startDeeds } from "./context-deeds.js";
import { showDecisions } from "./context-decisions.js";
import { showMessages } from "./context-messages.js";
import { showRequest } from "./context-request.js";
import { showTurns } from "./context-turns.js";
import { renderMeter } from "./meter.js";

const conversation = byId("context").dataset.conversation;
const panels = {
  messages: showMessages,
  turns: showTurns,
  decisions: showDecisions,
  brought: showAdditions,
  request: showRequest,
};
const tabs = queryAll('[role="tab"]');
const panelOf = (tab) => tab.getAttribute("aria-controls");

// What every panel gets: the report, how to ask for more of this window, and how to have all shown anew.
const view = { report: null, ask, change, heading: cloneHeading };
let size = Number(new URLSearchParams(location.search).get("window")) || null;
let selected = panelOf(tabs.find((tab) => `#${panelOf(tab)}` === location.hash) ?? tabs[0]);
const stale = new Set();

/**
 * @param {string} path
 * @param {import("./core.js").RequestOptions & { params?: Record<string, any> }} options
 */
function ask(path, { params = {}, ...options } = {}) {
  const query = new URLSearchParams({
    ...(size && !options.method ? { window: String(size) } : {}),
    ...params,
  });
  return call(
    `/api/chats/${encodeURIComponent(conversation)}/${path}${query.size ? `?${query}` : ""}`,
    options,
  );
}

async function change(path, options) {
  const done = await attempt(() => ask(path, options));
  if (done) await loadReport();
  return done;
}

function cloneHeading(name) {
  return byId("headings").content.querySelector(`[data-name="${name}"]`).cloneNode(true);
}

async function loadReport() {
  try {
    view.report = await fetchReport();
  } catch (error) {
    byId("shown").hidden = true;
    showDeeds(null);
    byId("none").hidden = false;
    byId("none").textContent = error.status === 404
      ? _("Nothing of this conversation was sent to a model yet.")
      : _("That did not work: {why}", { why: error.message });
    return;
  }
  byId("none").hidden = true;
  byId("shown").hidden = false;
  showHead(view.report);
  showDeeds(view.report);
  ask("compactions").then(
    ({ chat }) => (byId("title").textContent = chat.title || _("Untitled conversation")),
    () => {},
  );
  for (const name of Object.keys(panels)) stale.add(name);
  await showPanel(selected);
}

/** The report. A link does not say whether its conversation is private or a group's, so both are tried. */
async function fetchReport() {
  try {
    return await ask("window");
  } catch (error) {
    if (error.status !== 404 || view.report) throw error;
    state.kind = state.kind === "group" ? "private" : "group";
    return await ask("window").catch(() => Promise.reject(error));
  }
}

function showHead(report) {
  byId("meter").replaceChildren(renderMeter(report));
  const used = _("{used} of {window} tokens used ({share} %); {method}: {low} to {high}", {
    used: formatNumber(report.tokens),
    window: formatNumber(report.window),
    share: Math.round((100 * report.tokens) / report.window),
    method: describeName("method", report.method),
    low: formatNumber(report.at_least),
    high: formatNumber(report.at_most),
  });
  byId("facts").replaceChildren(
    ...[
      describeName("level", report.level),
      used,
      report.model && _("Model: {name}", { name: report.model }),
      _("Last sent {when}", { when: formatMoment(report.updated_at) }),
    ]
      .filter(Boolean).map((text, at) => el(at ? "span" : "strong", { dir: "auto" }, text)),
  );
  byId("notices").replaceChildren(
    ...(report.notices ?? []).map((name) => el("li", {}, describeName("notice", name))),
  );
  const windows = [...new Set(report.windows)].sort((size, next) => size - next);
  byId("sizes").hidden = windows.length < 2;
  byId("size").replaceChildren(
    ...windows.map((window) =>
      el(
        "option",
        { value: window, selected: window === report.window },
        _("{n} tokens", { n: formatNumber(window) }),
      )
    ),
  );
}

async function showPanel(name) {
  selected = name;
  for (const tab of tabs) {
    const on = panelOf(tab) === name;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    byId(panelOf(tab)).hidden = !on;
  }
  if (!stale.delete(name)) return;
  await attempt(() => panels[name](byId(name), view));
}

function chooseTab(tab) {
  history.replaceState(null, "", `${location.search}#${panelOf(tab)}`);
  tab.focus();
  showPanel(panelOf(tab));
}

for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => chooseTab(tab));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    chooseTab(tabs[(to + tabs.length) % tabs.length]);
  });
}

addEventListener("hashchange", () => {
  const tab = tabs.find((entry) => `#${panelOf(entry)}` === location.hash);
  if (tab) showPanel(panelOf(tab));
});

byId("size").addEventListener("change", () => {
  size = Number(byId("size").value);
  history.replaceState(null, "", `?window=${size}#${selected}`);
  loadReport();
});

startDeeds(view);
const reloadSoon = debounce(loadReport, 400);
subscribe(["window", "compaction"], (_, event) => {
  if (event.conversation === conversation) reloadSoon();
});
loadReport();
