// Why a search found something, in plain words, and the parts of notes that are no memories.
import { _, el, formatDate, formatNumber, pgettext } from "./core.js";
import { markWords } from "./mark-words.js";

// What a score is made of: its name, and what it means.
const PARTS = {
  words: [_("Your words"), _("It has words you asked for.")],
  beside: [_("Close by"), _("The words stand right beside it.")],
  around: [_("Same file"), _("Its file is about these words.")],
  meaning: [_("Meaning"), _("It means something similar.")],
  person: [_("In your notes"), _("Notes and what people said count more than what a model wrote.")],
  recent: [_("Recent"), _("It is recent.")],
  time: [_("Day"), _("It is of the day you ask about.")],
  qmd: [_("QMD"), _("QMD found it.")],
};

/** The reasons for a hit, the weightiest first. */
export function explainHit(hit) {
  const total = Object.values(hit.parts).reduce((sum, part) => sum + part, 0) || 1;
  const parts = Object.keys(PARTS).map((name) => [name, hit.parts[name] ?? 0]).filter(([, part]) =>
    part / total >= 0.005
  );
  parts.sort((first, second) => second[1] - first[1]);
  return {
    exact: hit.exact,
    score: hit.score,
    parts: parts.map(([name, part]) => ({ name, share: part / total })),
  };
}

export function renderReasons({ exact, score, parts }) {
  const spans = parts.map(({ name, share }) => {
    const bar = el("i", { class: `share ${name}`, "aria-hidden": "true" });
    bar.style.width = `${Math.max(3, Math.round(share * 48))}px`;
    const [label, title] = PARTS[name];
    return el(
      "span",
      { class: "reason", title },
      bar,
      `${label} ${formatNumber(Math.round(share * 100))} %`,
    );
  });
  return el(
    "p",
    { class: "why small faint" },
    el("span", { class: "hidden-label" }, _("Found because:")),
    exact && el("strong", {}, _("Exactly this name")),
    ...spans,
    el("span", { class: "score" }, _("Score {n}", { n: formatNumber(Math.round(score * 100)) })),
  );
}

/** A part of a note. It is read and changed where it stands. */
export function renderPassage({ hit, words, why: reasons }) {
  const line = hit.lines ? `:${hit.lines[0]}` : "";
  const kind = hit.path.endsWith("/summary.md") ? pgettext("kind of memory", "Summary") : _("In a note");
  return el(
    "article",
    { class: "memory", tabindex: "-1", "aria-label": hit.path },
    el("p", { class: "text", dir: "auto" }, ...markWords(hit.snippet, words)),
    el(
      "p",
      { class: "about small faint" },
      el("span", { class: "tag" }, kind),
      el("a", { href: `#notes/${encodeURI(hit.path)}`, dir: "auto" }, `${hit.path}${line}`),
      hit.at ? el("span", {}, formatDate(hit.at)) : null,
    ),
    renderReasons(reasons),
  );
}
