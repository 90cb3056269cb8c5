// The turns of a window: tokens over time with compactions, and whether each request began as the one before.
import { el, moment, number, word } from "./core.js";
import { lines } from "./plots.js";

const tenth = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 2 });
const clock = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short" });

export async function turns(panel, shown) {
  const told = await shown.ask("turns", { params: { limit: 200 } });
  const rows = told.turns;
  const oneDay = rows.length && rows.at(-1).at - rows[0].at < 86400;
  const plot = lines({
    title: word("turns_plot"),
    labels: rows.map((turn) => (oneDay ? clock : day).format(new Date(turn.at * 1000))),
    series: [
      { name: word("prompt_tokens"), colour: "system", values: rows.map((turn) => turn.tokens.prompt) },
      { name: word("answer_tokens"), colour: "question", values: rows.map((turn) => turn.tokens.completion) },
    ],
    limit: { name: word("room"), value: told.room },
    events: told.compactions.map((one) => ({ name: word("compaction"), at: place(rows, one.created_at), text: batch(one) })),
  });
  const judged = rows.filter((turn) => turn.prefix && turn.prefix.cause !== "first");
  const kept = judged.filter((turn) => turn.prefix.kept).length;
  panel.replaceChildren(el("div", { class: "card" }, plot),
    el("p", { hidden: !judged.length }, word("prefix_sum", { kept: number(kept), all: number(judged.length) })),
    el("div", { class: "scroll" }, el("table", { class: "turns" },
      el("thead", {}, document.getElementById("turns-head").content.cloneNode(true)),
      el("tbody", {}, rows.toReversed().map(line)))));
}

/** The turn for which a batch made room: the first that began or ended after it. */
function place(rows, at) {
  const found = rows.findIndex((turn) => turn.at + (turn.seconds ?? 0) >= at);
  return found < 0 ? rows.length - 1 : found;
}

function batch(one) {
  const freed = word("compacted", { level: word(`level_${one.level}`), before: number(one.tokens_before), after: number(one.tokens_after) });
  const what = one.path ? `${freed}, ${word(`way_${one.path}`)}` : freed;
  return one.undone ? word("compacted_undone", { what }) : what;
}

function line(turn) {
  const count = (tokens) => el("td", {}, tokens === null ? "–" : number(tokens));
  return el("tr", {}, el("td", {}, moment(turn.at)), count(turn.tokens.prompt), count(turn.tokens.cached), count(turn.tokens.completion),
    el("td", {}, turn.first_token_seconds === null ? "–" : word("seconds", { n: tenth.format(turn.first_token_seconds) })),
    el("td", {}, prefix(turn.prefix)));
}

function prefix(told) {
  if (!told) return el("span", { class: "faint" }, word("unknown"));
  if (told.cause === "first") return el("span", { class: "faint" }, word("cause_first"));
  const share = told.previous_bytes ? Math.floor((100 * told.shared_bytes) / told.previous_bytes) : 0;
  const bar = el("span");
  bar.style.width = `${share}%`;
  return el("span", { class: "prefix" }, el("span", { class: `share ${told.kept ? "" : "lost"}`, "aria-hidden": "true" }, bar),
    el("span", {}, told.kept ? word("kept") : `${word("kept_share", { n: share })}: ${word(`cause_${told.cause}`)}`));
}
