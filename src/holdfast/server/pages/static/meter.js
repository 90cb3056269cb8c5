// How full a window is, as a bar by section with the marks where levels begin.
import { _, describeName, el, formatNumber } from "./core.js";

// In the order of a request; what is free stands before what is kept for the answer.
const order = [
  "tools",
  "system",
  "profile",
  "summary",
  "history",
  "question",
  "draft",
  "files",
  "recalled",
  "research",
  "free",
  "reserve",
];

/** Which section has how many tokens, what is free included; what has none is left out. */
export function listShares(report) {
  const tokens = new Map(report.sections.map((section) => [section.name, section.tokens]));
  const taken = [...tokens.values()].reduce((sum, tokens) => sum + tokens, 0);
  tokens.set("free", Math.max(0, report.window - taken));
  return order.filter((name) => tokens.get(name)).map((name) => ({ name, tokens: tokens.get(name) }));
}

/** Where each level begins, in tokens of the whole request: as far from now as history is from its mark. */
export function listMarks(report) {
  const { marks: levels = {}, tokens: history = 0 } = report.history ?? {};
  return Object.entries(levels)
    .map(([name, mark]) => ({ name, at: Math.max(0, report.tokens + mark - history) }))
    .sort((first, second) => first.at - second.at);
}

/** The meter of a report: the bar, its marks with their labels, and which colour is what. */
export function renderMeter(report) {
  const parts = listShares(report);
  const total = Math.max(report.window, parts.reduce((sum, part) => sum + part.tokens, 0));
  const marks = listMarks(report);
  return el(
    "figure",
    { class: "meter" },
    el(
      "div",
      { class: "track" },
      renderBar(parts, total, describeReport(report)),
      renderTicks(marks, total),
    ),
    el(
      "ul",
      { class: "legend" },
      parts.map((part) => renderEntry(part.name, `${describeName("section", part.name)} `, part.tokens)),
      marks.map(({ name, at }) =>
        el(
          "li",
          {},
          el("i", { class: "tick" }),
          `${name.split(" ")[0]}: ${describeName("mark", name)} `,
          el("b", {}, formatNumber(at)),
        )
      ),
    ),
  );
}

function renderBar(parts, total, text) {
  const pieces = parts.map(({ name, tokens }) => {
    const piece = el("span", {
      data: { section: name },
      title: `${describeName("section", name)}: ${formatNumber(tokens)}`,
    });
    piece.style.width = `${(100 * tokens) / total}%`;
    piece.style.backgroundColor = `var(--${name})`;
    return piece;
  });
  return el("div", { class: "bar", role: "img", "aria-label": text }, pieces);
}

function renderTicks(places, total) {
  return el(
    "div",
    { class: "marks", "aria-hidden": "true" },
    places.map(({ name, at }) => {
      const ahead = name.includes(" ");
      const tick = el("span", {
        class: ahead ? "ahead" : "",
        title: `${describeName("mark", name)}: ${formatNumber(at)}`,
      }, !ahead && el("b", {}, name));
      tick.style.insetInlineStart = `${Math.min(100, (100 * at) / total)}%`;
      return tick;
    }),
  );
}

function renderEntry(name, label, tokens) {
  const colour = el("i", { data: { section: name } });
  colour.style.backgroundColor = `var(--${name})`;
  return el("li", {}, colour, label, el("b", {}, formatNumber(tokens)));
}

function describeReport(report) {
  return _("Window of {window} tokens, {used} used, {reserve} kept for the answer.", {
    window: formatNumber(report.window),
    used: formatNumber(report.tokens),
    reserve: formatNumber(reserveOf(report)),
  });
}

const reserveOf = (report) =>
  report.reserve ?? report.sections.find((section) => section.name === "reserve")?.tokens ?? 0;
