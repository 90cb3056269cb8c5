// Words that were searched for, marked where they are found.
import { el } from "./core.js";

/** A text in which the words that were looked for stand out. */
export function markWords(text, words) {
  const terms = words.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  // Short words are mostly grammar, unless there is nothing else or they are part of a number.
  const significant = terms.filter((term) => term.length > 3 || /\p{N}/u.test(term));
  const stems = (significant.length ? significant : terms).map((term) =>
    term.slice(0, Math.max(3, term.length - 2))
  );
  if (!stems.length) return [text];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join("|")})[\\p{L}\\p{N}]*`, "giu");
  const out = [];
  let at = 0;
  for (const hit of text.matchAll(pattern)) {
    out.push(text.slice(at, hit.index), el("mark", {}, hit[0]));
    at = hit.index + hit[0].length;
  }
  return [...out, text.slice(at)];
}
