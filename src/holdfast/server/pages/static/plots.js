// Bars and lines as SVG, with a legend and the same numbers as a table. Knows nothing of what they are about.
import { el, language, number, word } from "./core.js";

const height = 200, left = 46, right = 12, top = 12, bottom = 24;
const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });

/**
 * Bars, what belongs to one label one on the other. `series` have a name, the name of a colour, and values;
 * null is no value. `spell` writes a value out.
 */
export function bars({ title, labels, series, spell = number }) {
  const most = Math.max(0, ...labels.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0)));
  return figure({ title, labels, series, spell, most, least: 1 }, (svg, scale) => {
    const wide = Math.max(1, Math.min(28, scale.step * 0.7));
    labels.forEach((_, at) => {
      let base = 0;
      for (const one of series) {
        const value = one.values[at] ?? 0;
        if (!value) continue;
        const piece = shape("rect", { x: scale.x(at) - wide / 2, y: scale.y(base + value), width: wide, height: Math.max(0.5, scale.y(base) - scale.y(base + value)) });
        piece.style.fill = `var(--${one.colour})`;
        svg.append(piece);
        base += value;
      }
    });
  });
}

/** Lines. `limit` is one across, with a name; `events` stand at labels, upright, and say what they are. */
export function lines({ title, labels, series, limit, events = [], spell = number }) {
  const values = series.flatMap((one) => one.values).filter((value) => value !== null);
  const most = Math.max(0, limit?.value ?? 0, ...values);
  return figure({ title, labels, series, spell, most: values.length ? most : 0, limit, events }, (svg, scale) => {
    if (limit) {
      svg.append(shape("line", { class: "limit", x1: left, x2: scale.width - right, y1: scale.y(limit.value), y2: scale.y(limit.value) }));
    }
    for (const one of events) {
      const mark = shape("g", {}, shape("line", { class: "event", x1: scale.x(one.at), x2: scale.x(one.at), y1: top, y2: height - bottom }), shape("circle", { class: "event-dot", cx: scale.x(one.at), cy: top, r: 4 }));
      svg.append(mark);
    }
    for (const one of series) {
      for (const run of runs(one.values)) {
        const line = shape("polyline", { class: "line", points: run.map((at) => `${scale.x(at)},${scale.y(one.values[at])}`).join(" ") });
        line.style.stroke = `var(--${one.colour})`;
        svg.append(line);
      }
      if (labels.length > 120) continue;
      one.values.forEach((value, at) => {
        if (value === null) return;
        const dot = shape("circle", { class: "dot", cx: scale.x(at), cy: scale.y(value), r: 3 });
        dot.style.fill = `var(--${one.colour})`;
        svg.append(dot);
      });
    }
  });
}

function figure(plot, draw) {
  const { title, labels, series, most, limit, events = [] } = plot;
  const canvas = el("div", { class: "canvas" });
  const key = [...series.map((one) => entry(one.colour, one.name)), limit && entry("danger", limit.name), ...kinds(events)];
  const made = el("figure", { class: "figure" }, el("figcaption", {}, title), key.length > 1 && el("ul", { class: "legend", "aria-hidden": "true" }, key), canvas);
  if (!labels.length || most <= 0) {
    canvas.append(el("p", { class: "empty" }, word("plot_empty")));
    return made;
  }
  made.append(table(plot));
  let drawn = 0;
  // As wide as there is room: drawn anew, so that letters keep their size.
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.round(contentRect.width);
    if (!width || width === drawn) return;
    drawn = width;
    canvas.replaceChildren(drawing(plot, width, draw));
  }).observe(canvas);
  return made;
}

function drawing(plot, width, draw) {
  const { title, labels, most, least = 0 } = plot;
  const ticks = nice(most, least), ceiling = ticks.at(-1);
  const step = (width - left - right) / labels.length;
  const scale = { width, step, x: (at) => left + step * (at + 0.5), y: (value) => top + (height - top - bottom) * (1 - value / ceiling) };
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": title });
  for (const tick of ticks) {
    svg.append(shape("line", { class: tick ? "grid" : "axis", x1: left, x2: width - right, y1: scale.y(tick), y2: scale.y(tick) }));
    svg.append(shape("text", { x: left - 6, y: scale.y(tick) + 4, "text-anchor": "end" }, short.format(tick)));
  }
  const every = Math.ceil(labels.length / Math.max(1, Math.floor((width - left) / 64)));
  for (let at = labels.length - 1; at >= 0; at -= every) {
    svg.append(shape("text", { x: Math.min(scale.x(at), width - 18), y: height - 6, "text-anchor": "middle" }, labels[at]));
  }
  draw(svg, scale);
  // One place to point at for each label, which says all its numbers.
  labels.forEach((label, at) => {
    const hit = shape("rect", { class: "hit", x: scale.x(at) - step / 2, y: top, width: step, height: height - top - bottom });
    hit.append(shape("title", {}, told(plot, label, at)));
    svg.append(hit);
  });
  return svg;
}

function told({ series, events = [], spell }, label, at) {
  const values = series.filter((one) => one.values[at] !== null).map((one) => `${one.name}: ${spell(one.values[at])}`);
  return [label, ...values, ...events.filter((one) => one.at === at).map((one) => one.text)].join("\n");
}

function table({ title, labels, series, events = [], spell }) {
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title });
  const made = el("details", {}, el("summary", { class: "small faint" }, word("plot_table")), holder);
  made.addEventListener("toggle", () => {
    if (!made.open || holder.firstChild) return;
    const more = events.length > 0;
    const head = el("tr", {}, el("th", { scope: "col" }), series.map((one) => el("th", { scope: "col" }, one.name)), more && el("th", { scope: "col" }, events[0].name));
    const rows = labels.map((label, at) => el("tr", {}, el("th", { scope: "row" }, label),
      series.map((one) => el("td", {}, one.values[at] === null ? "–" : spell(one.values[at] ?? 0))),
      more && el("td", {}, events.filter((one) => one.at === at).map((one) => one.text).join("; "))));
    holder.append(el("table", {}, el("caption", { class: "hidden-label" }, title), el("thead", {}, head), el("tbody", {}, rows)));
  });
  return made;
}

function entry(colour, name) {
  const dot = el("i");
  dot.style.backgroundColor = `var(--${colour})`;
  return el("li", {}, dot, name);
}

const kinds = (events) => (events.length ? [entry("tools", events[0].name)] : []);

/** Round numbers from nothing to as much as is needed; `least` is between two of them: nothing is counted in halves. */
function nice(most, least) {
  const rough = Math.max(least, most / 4), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => at * step);
}

/** The stretches in which there is a value for every label. */
function runs(values) {
  const found = [[]];
  values.forEach((value, at) => (value === null ? found.push([]) : found.at(-1).push(at)));
  return found.filter((run) => run.length > 1);
}

function shape(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
