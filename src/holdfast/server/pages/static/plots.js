// Bars and lines as SVG, with a legend and the same numbers as a table.
import { _, el, formatNumber, language } from "./core.js";

const height = 200, left = 46, right = 12, top = 12, bottom = 24;
const shortFormat = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });

/**
 * What is drawn. `names` are the labels written out. A row of `series` has a name, the name of a colour, and a value or null for each label; `spell`
 * writes a value out.
 * @typedef {{
 *   title: string, labels: string[], names?: string[], series: { name: string, colour: string, values: (number | null)[] }[],
 *   limit?: { name: string, value: number }, events?: { name: string, at: number, text: string }[],
 *   spell?: (value: number) => string, pick?: ((at: number) => void) | null,
 * }} Plot
 */

/**
 * Draws bars: the values of one label stand on each other. `limit` and `events` as in `renderLines`; `pick` is told
 * the label that was clicked.
 * @param {Plot} plot
 */
export function renderBars(
  { title, labels, names = labels, series, limit, events = [], spell = formatNumber, pick = null },
) {
  const most = Math.max(
    0,
    limit?.value ?? 0,
    ...labels.map((_, at) => series.reduce((sum, row) => sum + (row.values[at] ?? 0), 0)),
  );
  const plot = { title, labels, names, series, spell, most, least: 1, limit, events, pick };
  return renderFigure(plot, (svg, scale) => {
    drawMarks(svg, scale, limit, events);
    const wide = Math.max(1, Math.min(28, scale.step * 0.7));
    labels.forEach((_, at) => {
      let base = 0;
      for (const row of series) {
        const value = row.values[at] ?? 0;
        if (!value) continue;
        const piece = createShape("rect", {
          x: scale.x(at) - wide / 2,
          y: scale.y(base + value),
          width: wide,
          height: Math.max(0.5, scale.y(base) - scale.y(base + value)),
        });
        piece.style.fill = `var(--${row.colour})`;
        svg.append(piece);
        base += value;
      }
    });
  });
}

/**
 * Draws lines. `limit` is one across, with a name; `events` stand at labels, upright, and say what they are.
 * @param {Plot} plot
 */
export function renderLines({ title, labels, series, limit, events = [], spell = formatNumber }) {
  const values = series.flatMap((row) => row.values).filter((value) => value !== null);
  const most = Math.max(0, limit?.value ?? 0, ...values);
  return renderFigure(
    { title, labels, series, spell, most: values.length ? most : 0, limit, events },
    (svg, scale) => {
      drawMarks(svg, scale, limit, events);
      for (const row of series) {
        for (const run of findRuns(row.values)) {
          const line = createShape("polyline", {
            class: "line",
            points: run.map((at) => `${scale.x(at)},${scale.y(row.values[at])}`).join(" "),
          });
          line.style.stroke = `var(--${row.colour})`;
          svg.append(line);
        }
        if (labels.length > 120) continue;
        row.values.forEach((value, at) => {
          if (value === null) return;
          const dot = createShape("circle", { class: "dot", cx: scale.x(at), cy: scale.y(value), r: 3 });
          dot.style.fill = `var(--${row.colour})`;
          svg.append(dot);
        });
      }
    },
  );
}

/** The limit across, and the events upright. */
function drawMarks(svg, scale, limit, events) {
  if (limit) {
    svg.append(
      createShape("line", {
        class: "limit",
        x1: left,
        x2: scale.width - right,
        y1: scale.y(limit.value),
        y2: scale.y(limit.value),
      }),
    );
  }
  for (const event of events) {
    svg.append(
      createShape(
        "g",
        {},
        createShape("line", {
          class: "event",
          x1: scale.x(event.at),
          x2: scale.x(event.at),
          y1: top,
          y2: height - bottom,
        }),
        createShape("circle", { class: "event-dot", cx: scale.x(event.at), cy: top, r: 4 }),
      ),
    );
  }
}

function renderFigure(plot, draw) {
  const { title, labels, series, most, limit, events = [] } = plot;
  const canvas = el("div", { class: "canvas" });
  const key = [
    ...series.map((row) => renderEntry(row.colour, row.name)),
    limit && renderEntry("danger", limit.name),
    ...renderKinds(events),
  ];
  const figure = el(
    "figure",
    { class: "figure" },
    el("figcaption", {}, title),
    key.length > 1 && el("ul", { class: "legend", "aria-hidden": "true" }, key),
    canvas,
  );
  if (!labels.length || most <= 0) {
    canvas.append(el("p", { class: "empty" }, _("Nothing to show yet.")));
    return figure;
  }
  figure.append(renderTable(plot));
  let drawnWidth = 0;
  // As wide as there is room: drawn anew, so that letters keep their size.
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.round(contentRect.width);
    if (!width || width === drawnWidth) return;
    drawnWidth = width;
    canvas.replaceChildren(drawPlot(plot, width, draw));
  }).observe(canvas);
  return figure;
}

function drawPlot(plot, width, draw) {
  const { title, labels, most, least = 0 } = plot;
  const ticks = chooseTicks(most, least), ceiling = ticks.at(-1);
  const step = (width - left - right) / labels.length;
  const scale = {
    width,
    step,
    x: (at) => left + step * (at + 0.5),
    y: (value) => top + (height - top - bottom) * (1 - value / ceiling),
  };
  const svg = createShape("svg", {
    viewBox: `0 0 ${width} ${height}`,
    height,
    role: "img",
    "aria-label": title,
  });
  for (const tick of ticks) {
    svg.append(
      createShape("line", {
        class: tick ? "grid" : "axis",
        x1: left,
        x2: width - right,
        y1: scale.y(tick),
        y2: scale.y(tick),
      }),
    );
    svg.append(
      createShape(
        "text",
        { x: left - 6, y: scale.y(tick) + 4, "text-anchor": "end" },
        shortFormat.format(tick),
      ),
    );
  }
  const every = Math.ceil(labels.length / Math.max(1, Math.floor((width - left) / 64)));
  for (let at = labels.length - 1; at >= 0; at -= every) {
    svg.append(
      createShape(
        "text",
        { x: Math.min(scale.x(at), width - 18), y: height - 6, "text-anchor": "middle" },
        labels[at],
      ),
    );
  }
  draw(svg, scale);
  // One place to point at for each label, which says all its numbers.
  labels.forEach((label, at) => {
    const hit = createShape("rect", {
      class: "hit",
      x: scale.x(at) - step / 2,
      y: top,
      width: step,
      height: height - top - bottom,
    });
    hit.append(createShape("title", {}, describeLabel(plot, plot.names?.[at] ?? label, at)));
    if (plot.pick) {
      hit.classList.add("pick");
      hit.addEventListener("click", () => plot.pick(at));
    }
    svg.append(hit);
  });
  return svg;
}

function describeLabel({ series, events = [], spell }, label, at) {
  const values = series.filter((row) => row.values[at] !== null).map((row) =>
    `${row.name}: ${spell(row.values[at])}`
  );
  return [label, ...values, ...events.filter((event) => event.at === at).map((event) => event.text)].join(
    "\n",
  );
}

function renderTable({ title, labels, names = labels, series, events = [], spell }) {
  const holder = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title });
  const details = el("details", {}, el("summary", { class: "small faint" }, _("As a table")), holder);
  details.addEventListener("toggle", () => {
    if (!details.open || holder.firstChild) return;
    const hasEvents = events.length > 0;
    const head = el(
      "tr",
      {},
      el("th", { scope: "col" }),
      series.map((row) => el("th", { scope: "col" }, row.name)),
      hasEvents && el("th", { scope: "col" }, events[0].name),
    );
    const rows = names.map((label, at) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, label),
        series.map((row) => el("td", {}, row.values[at] === null ? "–" : spell(row.values[at] ?? 0))),
        hasEvents &&
          el("td", {}, events.filter((event) => event.at === at).map((event) => event.text).join("; ")),
      )
    );
    holder.append(
      el(
        "table",
        {},
        el("caption", { class: "hidden-label" }, title),
        el("thead", {}, head),
        el("tbody", {}, rows),
      ),
    );
  });
  return details;
}

function renderEntry(colour, name) {
  const dot = el("i");
  dot.style.backgroundColor = `var(--${colour})`;
  return el("li", {}, dot, name);
}

const renderKinds = (events) => (events.length ? [renderEntry("tools", events[0].name)] : []);

/** Round numbers from nothing to as much as is needed; `least` is between two of them: nothing is counted in halves. */
function chooseTicks(most, least) {
  const rough = Math.max(least, most / 4), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((factor) => factor >= rough);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => at * step);
}

/** The stretches in which there is a value for every label. */
function findRuns(values) {
  const stretches = [[]];
  values.forEach((value, at) => (value === null ? stretches.push([]) : stretches.at(-1).push(at)));
  return stretches.filter((run) => run.length > 1);
}

function createShape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
