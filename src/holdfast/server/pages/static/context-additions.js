// What stands in a window beside what was said: files, findings and memories, each at the message it came with.
import { _, el, formatNumber, language, ngettext } from "./core.js";
import { describeParts } from "./context-names.js";

// How a file was attached.
const MODES = {
  "": _("as it fits"),
  full: _("in full"),
  summary: _("as a digest"),
  element: _("one part of it"),
  lines: _("some lines"),
  list: _("as a list"),
  tree: _("as a tree"),
  search: _("what was searched for in it"),
};

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
    parts.push(el("h3", {}, _("Looked for")), ...renderSearch(report.recall));
  }
  panel.replaceChildren(
    ...(parts.length
      ? parts
      : [el("p", { class: "empty" }, _("No files, sources or memories are in this window."))]),
  );
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
        describeParts(hit),
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
        el("summary", {}, title),
        el("ul", { class: "list" }, rows.map(renderHit)),
      ),
    ]
    : []);
  return [
    el("p", { dir: "auto" }, searched.join(" · ")),
    el(
      "p",
      { class: "faint small" },
      _("{n} % likely that something answers it", { n: formatNumber(Math.round(likely * 100)) }),
    ),
    ...renderHits(_("brought: {n}", { n: formatNumber(used.length) }), used),
    ...renderHits(_("just missed: {n}", { n: formatNumber(missed.length) }), missed),
  ];
}

function renderFile(file, additions) {
  const text = additions.find((addition) =>
    addition.section === "files" && addition.name === file.name && addition.message === file.message
  )?.text;
  const facts = [
    MODES[file.mode] ?? file.mode,
    file.shortened && _("shortened"),
    file.changed && _("has changed since"),
    ngettext("1 token", "{n} tokens", { n: formatNumber(file.tokens) }),
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
      el("a", { href: `/research#${encodeURIComponent(addition.name)}` }, _("Show the finding")),
    renderFold(addition.text),
  );
}

const renderFold = (text) =>
  el(
    "details",
    {},
    el("summary", {}, _("What the model sees of it")),
    el("pre", { class: "summary", dir: "auto" }, text),
  );
