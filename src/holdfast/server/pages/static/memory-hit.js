// Why a search found something, in plain words, and the parts of notes that are no memories.
import { el, formatDate, formatNumber, word } from "./core.js";
import { markWords } from "./mark-words.js";

// In which order they are said; the share of each is of the whole score.
const PARTS = ["words", "beside", "around", "meaning", "person", "recent", "time", "qmd"];

/** The reasons for a hit, the weightiest first. */
export function explainHit(hit) {
  const total = Object.values(hit.parts).reduce((sum, part) => sum + part, 0) || 1;
  const parts = PARTS.map((name) => [name, hit.parts[name] ?? 0]).filter(([, part]) => part / total >= 0.005);
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
    return el(
      "span",
      { class: "reason", title: word(`why_${name}_more`) },
      bar,
      `${word(`why_${name}`)} ${formatNumber(Math.round(share * 100))} %`,
    );
  });
  return el(
    "p",
    { class: "why small faint" },
    el("span", { class: "hidden-label" }, word("why")),
    exact && el("strong", {}, word("why_exact")),
    ...spans,
    el("span", { class: "score" }, word("score", { n: formatNumber(Math.round(score * 100)) })),
  );
}

/** A part of a note. It is read and changed where it stands. */
export function renderPassage({ hit, words, why: reasons }) {
  const line = hit.lines ? `:${hit.lines[0]}` : "";
  const kind = hit.path.endsWith("/summary.md") ? "summary" : "note_file";
  return el(
    "article",
    { class: "memory", tabindex: "-1", "aria-label": hit.path },
    el("p", { class: "text", dir: "auto" }, ...markWords(hit.snippet, words)),
    el(
      "p",
      { class: "about small faint" },
      el("span", { class: "tag" }, word(kind)),
      el("a", { href: `#notes/${encodeURI(hit.path)}`, dir: "auto" }, `${hit.path}${line}`),
      hit.at ? el("span", {}, formatDate(hit.at)) : null,
    ),
    renderReasons(reasons),
  );
}
