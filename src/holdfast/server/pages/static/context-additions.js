// What stands in a window beside what was said: files, findings and memories, each at the message it came with.
import { el, formatNumber, language, word } from "./core.js";

export async function showAdditions(panel, view) {
  const { report, heading } = view;
  const additions = report.messages.flatMap((message) =>
    (message.added ?? []).map((addition) => ({ ...addition, message: message.id }))
  );
  const parts = [];
  if (report.files?.length) {
    parts.push(
      heading("files"),
      el(
        "ul",
        { class: "list brought" },
        report.files.map((file) => renderFile(file, additions)),
      ),
    );
  }
  for (const section of ["research", "recalled"]) {
    const rows = additions.filter((addition) => addition.section === section);
    if (rows.length) {
      parts.push(heading(section), el("ul", { class: "list brought" }, rows.map(renderAddition)));
    }
  }
  if (report.recall?.searched?.length) {
    parts.push(el("h3", {}, word("looked_for")), ...renderSearch(report.recall));
  }
  panel.replaceChildren(...(parts.length ? parts : [el("p", { class: "empty" }, word("no_brought"))]));
}

/** What was searched for the last question, how likely anything answers it, and what came of it. */
function renderSearch({ searched, likely, brought: used, missed }) {
  const renderHit = (hit) =>
    el(
      "li",
      {},
      el("span", { class: "mono small" }, hit.id),
      ` ${formatNumber(Math.round(hit.score * 100))} % `,
      el(
        "span",
        { class: "faint small" },
        Object.entries(hit.parts).map(([name, value]) => `${word(`part_${name}`)} ${formatNumber(value)}`)
          .join(" · "),
      ),
    );
  const renderHits = (
    title,
    rows,
  ) => (rows.length
    ? [
      el(
        "details",
        {},
        el("summary", {}, word(title, { n: formatNumber(rows.length) })),
        el("ul", { class: "list" }, rows.map(renderHit)),
      ),
    ]
    : []);
  return [
    el("p", { dir: "auto" }, searched.join(" · ")),
    el("p", { class: "faint small" }, word("likely_answered", { n: formatNumber(Math.round(likely * 100)) })),
    ...renderHits("hits_brought", used),
    ...renderHits("hits_missed", missed),
  ];
}

function renderFile(file, additions) {
  const text = additions.find((addition) =>
    addition.section === "files" && addition.name === file.name && addition.message === file.message
  )?.text;
  const facts = [
    word(`mode_${file.mode}`),
    file.shortened && word("cut"),
    file.changed && word("changed"),
    word("tokens", { n: formatNumber(file.tokens) }),
  ];
  return el(
    "li",
    {},
    el("strong", { class: "mono", dir: "auto" }, file.name),
    el("div", { class: "faint small" }, facts.filter(Boolean).join(" · ")),
    file.trouble.length > 0 &&
      el("div", { class: "small", dir: "auto" }, file.trouble[language === "de" ? 1 : 0]),
    text && renderFold(text),
  );
}

function renderAddition(addition) {
  const [first] = addition.text.trim().split("\n");
  return el(
    "li",
    {},
    el("p", { dir: "auto" }, first.length > 160 ? `${first.slice(0, 160)} …` : first),
    addition.section === "research" && addition.name &&
      el("a", { href: `/research#${encodeURIComponent(addition.name)}` }, word("to_finding")),
    renderFold(addition.text),
  );
}

const renderFold = (text) =>
  el("details", {}, el("summary", {}, word("seen_as")), el("pre", { class: "summary", dir: "auto" }, text));
