// The turns of a window: tokens over time with compactions, and whether each request began as the one before.
import { _, byId, describeName, el, formatMoment, formatNumber } from "./core.js";
import { renderBars } from "./plots.js";

const tenth = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 2 });
const clock = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short" });

/** What stands below each turn: its time or its day and, where that says the same of several, its number. */
function labelTurns(rows) {
  const isOneDay = rows.length && rows.at(-1).at - rows[0].at < 86400;
  const times = rows.map((turn) => (isOneDay ? clock : day).format(new Date(turn.at * 1000)));
  const isDistinct = new Set(times).size === times.length;
  return isDistinct ? times : rows.map((_, at) => formatNumber(at + 1));
}

export async function showTurns(panel, view) {
  const reply = await view.ask("turns", { params: { limit: 200 } });
  const rows = reply.turns;
  const comparable = rows.filter((turn) => turn.prefix && turn.prefix.cause !== "first");
  const keptCount = comparable.filter((turn) => turn.prefix.kept).length;
  panel.replaceChildren(
    el("div", { class: "card" }, renderTurnPlot(reply)),
    el(
      "p",
      { hidden: !comparable.length },
      _("{kept} of {all} requests began with the whole one before; the server could go on from there.", {
        kept: formatNumber(keptCount),
        all: formatNumber(comparable.length),
      }),
    ),
    el(
      "div",
      { class: "scroll" },
      el(
        "table",
        { class: "turns" },
        el("thead", {}, byId("turns-head").content.cloneNode(true)),
        el("tbody", {}, rows.toReversed().map(renderTurn)),
      ),
    ),
  );
}

/** The tokens of each turn: what the server still had, what it read anew, the answer. `pick` is told a turn. */
export function renderTurnPlot(reply, pick = null) {
  const rows = reply.turns;
  const cachedOf = ({ tokens }) => Math.min(tokens.cached ?? 0, tokens.prompt ?? 0);
  return renderBars({
    title: pick ? _("Tokens of each request; a click leads to its question") : _("Tokens of each request"),
    labels: labelTurns(rows),
    names: rows.map((turn, at) =>
      _("Turn {n}, {time}", { n: formatNumber(at + 1), time: formatMoment(turn.at) })
    ),
    series: [
      { name: _("still cached"), colour: "history", values: rows.map(cachedOf) },
      {
        name: _("read anew"),
        colour: "system",
        values: rows.map((
          turn,
        ) => (turn.tokens.prompt === null ? null : turn.tokens.prompt - cachedOf(turn))),
      },
      { name: _("answer"), colour: "question", values: rows.map((turn) => turn.tokens.completion) },
    ],
    limit: { name: _("the window"), value: reply.window },
    events: reply.compactions.map((compaction) => ({
      name: _("compaction"),
      at: findTurn(rows, compaction.created_at),
      text: describeCompaction(compaction),
    })),
    pick: pick && ((at) => pick(rows[at])),
  });
}

/** The turn for which a batch made room: the first that began or ended after it. */
function findTurn(rows, at) {
  const index = rows.findIndex((turn) => turn.at + (turn.seconds ?? 0) >= at);
  return index < 0 ? rows.length - 1 : index;
}

function describeCompaction(compaction) {
  const freed = _("{level}: {before} → {after} tokens", {
    level: describeName("level", compaction.level),
    before: formatNumber(compaction.tokens_before),
    after: formatNumber(compaction.tokens_after),
  });
  const what = compaction.path ? `${freed}, ${describeName("way", compaction.path)}` : freed;
  return compaction.undone ? _("{what} (undone)", { what }) : what;
}

function renderTurn(turn) {
  const renderCount = (tokens) => el("td", {}, tokens === null ? "–" : formatNumber(tokens));
  return el(
    "tr",
    {},
    el("td", {}, formatMoment(turn.at)),
    renderCount(turn.tokens.prompt),
    renderCount(turn.tokens.cached),
    renderCount(turn.tokens.completion),
    el(
      "td",
      {},
      turn.first_token_seconds === null ? "–" : _("{n} s", { n: tenth.format(turn.first_token_seconds) }),
    ),
    el("td", {}, renderPrefix(turn.prefix)),
  );
}

function renderPrefix(prefix) {
  if (!prefix) return el("span", { class: "faint" }, _("not known: on another branch"));
  if (prefix.cause === "first") return el("span", { class: "faint" }, describeName("cause", "first"));
  const share = prefix.previous_bytes ? Math.floor((100 * prefix.shared_bytes) / prefix.previous_bytes) : 0;
  const bar = el("span");
  bar.style.width = `${share}%`;
  return el(
    "span",
    { class: "prefix" },
    el("span", { class: `share ${prefix.kept ? "" : "lost"}`, "aria-hidden": "true" }, bar),
    el(
      "span",
      {},
      prefix.kept ? _("kept") : `${_("{n} % kept", { n: share })}: ${describeName("cause", prefix.cause)}`,
    ),
  );
}
