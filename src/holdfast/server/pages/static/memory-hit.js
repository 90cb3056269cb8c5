// Why a search found something, in plain words, and the parts of notes that are no memories. Knows no list.
import { date, el, number, word } from "./core.js";

// In which order they are said; the share of each is of the whole score.
const PARTS = ["words", "beside", "around", "meaning", "person", "recent", "time", "qmd"];

/** The reasons for a hit, the weightiest first. */
export function reasons(hit) {
  const whole = Object.values(hit.parts).reduce((sum, part) => sum + part, 0) || 1;
  const parts = PARTS.map((name) => [name, hit.parts[name] ?? 0]).filter(([, part]) => part / whole >= 0.005);
  parts.sort((one, other) => other[1] - one[1]);
  return { exact: hit.exact, score: hit.score, parts: parts.map(([name, part]) => ({ name, share: part / whole })) };
}

export function why({ exact, score, parts }) {
  const shown = parts.map(({ name, share }) => {
    const bar = el("i", { class: `share ${name}`, "aria-hidden": "true" });
    bar.style.width = `${Math.max(3, Math.round(share * 48))}px`;
    return el("span", { class: "reason", title: word(`why_${name}_more`) }, bar, `${word(`why_${name}`)} ${number(Math.round(share * 100))} %`);
  });
  return el("p", { class: "why small faint" }, el("span", { class: "hidden-label" }, word("why")),
    exact && el("strong", {}, word("why_exact")), ...shown, el("span", { class: "score" }, word("score", { n: number(Math.round(score * 100)) })));
}

/** A text in which the words that were looked for stand out. */
export function marked(text, words) {
  const asked = words.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  // Short words are mostly grammar, unless there is nothing else or they are part of a number.
  const telling = asked.filter((one) => one.length > 3 || /\p{N}/u.test(one));
  const wanted = (telling.length ? telling : asked).map((one) => one.slice(0, Math.max(3, one.length - 2)));
  if (!wanted.length) return [text];
  const found = new RegExp(`(?<![\\p{L}\\p{N}])(?:${wanted.join("|")})[\\p{L}\\p{N}]*`, "giu");
  const out = [];
  let at = 0;
  for (const hit of text.matchAll(found)) {
    out.push(text.slice(at, hit.index), el("mark", {}, hit[0]));
    at = hit.index + hit[0].length;
  }
  return [...out, text.slice(at)];
}

/** A part of a note. It is read and changed where it stands. */
export function passage({ hit, words, why: given }) {
  const line = hit.lines ? `:${hit.lines[0]}` : "";
  const kind = hit.path.endsWith("/summary.md") ? "summary" : "note_file";
  return el("article", { class: "memory", tabindex: "-1", "aria-label": hit.path },
    el("p", { class: "text", dir: "auto" }, ...marked(hit.snippet, words)),
    el("p", { class: "about small faint" }, el("span", { class: "tag" }, word(kind)),
      el("a", { href: `#notes/${encodeURI(hit.path)}`, dir: "auto" }, `${hit.path}${line}`), hit.at ? el("span", {}, date(hit.at)) : null),
    why(given));
}
