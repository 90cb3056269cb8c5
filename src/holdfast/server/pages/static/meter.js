// How full a window is, as a bar by section with the marks where levels begin. It draws a report and asks nobody.
import { el, number, word } from "./core.js";

// In the order of a request; what is free stands before what is kept for the answer.
const order = ["tools", "system", "profile", "summary", "history", "question", "files", "recalled", "research", "free", "reserve"];

/** Which section has how many tokens, what is free included; what has none is left out. */
export function shares(report) {
  const tokens = new Map(report.sections.map((section) => [section.name, section.tokens]));
  const taken = [...tokens.values()].reduce((sum, more) => sum + more, 0);
  tokens.set("free", Math.max(0, report.window - taken));
  return order.filter((name) => tokens.get(name)).map((name) => ({ name, tokens: tokens.get(name) }));
}

/** Where each level begins, in tokens of the whole request: as far from now as history is from its mark. */
export function marks(report) {
  const { marks: named = {}, tokens: history = 0 } = report.history ?? {};
  return Object.entries(named)
    .map(([name, mark]) => ({ name, at: Math.max(0, report.tokens + mark - history) }))
    .sort((one, other) => one.at - other.at);
}

/**
 * The meter of a report. The compact one unfolds its legend when it is pressed, so it belongs into no link and
 * no button.
 */
export function meter(report, { compact = false } = {}) {
  const parts = shares(report);
  const whole = Math.max(report.window, parts.reduce((sum, part) => sum + part.tokens, 0));
  const track = el("div", { class: "track" }, bar(parts, whole, told(report)), ticks(marks(report), whole));
  const legend = el("ul", { class: "legend" },
    parts.map((part) => entry(part.name, `${word(`section_${part.name}`)} `, part.tokens)),
    marks(report).map(({ name, at }) => el("li", {}, el("i", { class: "tick" }), `${name.split(" ")[0]}: ${word(`mark_${name}`)} `, el("b", {}, number(at)))));
  if (!compact) return el("figure", { class: "meter" }, track, legend);
  const room = report.room ?? report.window - reserve(report);
  const short = [word("meter_short", { used: number(report.tokens), room: number(room) })];
  if (report.level) short.push(word(`level_${report.level}`));
  return el("details", { class: "meter compact" }, el("summary", {}, track, el("span", {}, short.join(" · "))), legend);
}

function bar(parts, whole, text) {
  const pieces = parts.map(({ name, tokens }) => {
    const piece = el("span", { data: { section: name }, title: `${word(`section_${name}`)}: ${number(tokens)}` });
    piece.style.width = `${(100 * tokens) / whole}%`;
    piece.style.backgroundColor = `var(--${name})`;
    return piece;
  });
  return el("div", { class: "bar", role: "img", "aria-label": text }, pieces);
}

function ticks(places, whole) {
  return el("div", { class: "marks", "aria-hidden": "true" }, places.map(({ name, at }) => {
    const ahead = name.includes(" ");
    const tick = el("span", { class: ahead ? "ahead" : "", title: `${word(`mark_${name}`)}: ${number(at)}` }, !ahead && el("b", {}, name));
    tick.style.insetInlineStart = `${Math.min(100, (100 * at) / whole)}%`;
    return tick;
  }));
}

function entry(name, label, tokens) {
  const colour = el("i", { data: { section: name } });
  colour.style.backgroundColor = `var(--${name})`;
  return el("li", {}, colour, label, el("b", {}, number(tokens)));
}

function told(report) {
  return word("meter", { window: number(report.window), used: number(report.tokens), reserve: number(reserve(report)) });
}

const reserve = (report) => report.reserve ?? report.sections.find((section) => section.name === "reserve")?.tokens ?? 0;
