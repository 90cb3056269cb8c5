// What stands under an answer: how long it took, how full the window was, how much was recalled for it.
import { el, formatNumber, word } from "./core.js";
import { formatShare, renderRing } from "./ring.js";

const decimals = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });

/**
 * What is known of an answer.
 * @typedef {{
 *   id?: string, model?: string, finish?: string, numbers?: any, memories?: number, quotes?: number,
 *   findings?: string[],
 * }} AnswerFacts
 */

/**
 * One quiet line: the model, the time, how full the window was, what was recalled. The rest is unfolded by a
 * click, and made only then. Null where nothing is known.
 * @param {AnswerFacts} facts
 */
export function renderAbout(facts) {
  const { seconds, window, prompt_tokens: read } = facts.numbers ?? {};
  const parts = [
    facts.model,
    seconds !== null && seconds !== undefined && word("seconds", { n: decimals.format(seconds) }),
    read && window && renderShare(read, window),
    countRecalled(facts),
    ["cut", "length"].includes(facts.finish) && word(facts.finish),
  ].filter(Boolean);
  if (!parts.length) return null;
  const line = parts.flatMap((part, at) => (at ? [el("span", { class: "dot" }, " · "), part] : [part]));
  const fold = el(
    "details",
    { class: "about" },
    el("summary", { class: "facts", title: word("about_answer") }, line),
  );
  fold.addEventListener("toggle", async () => {
    const { renderAll } = await import("./chat-about.js");
    if (fold.open && fold.childElementCount === 1) fold.append(renderAll(facts));
  });
  return fold;
}

/** A small ring and the share in per cent. */
function renderShare(used, window) {
  const share = formatShare(used / window);
  const text = word("window_share", { share, used: formatNumber(used), window: formatNumber(window) });
  return el("span", { class: "share", title: text }, renderRing(used / window, text), share);
}

function countRecalled({ memories = 0, quotes = 0, findings = [] }) {
  return [
    memories && (memories === 1 ? word("memory_used") : word("memories_used", { n: memories })),
    quotes && (quotes === 1 ? word("quote_used") : word("quotes_used", { n: quotes })),
    findings.length > 0 && word("sources"),
  ].filter(Boolean).join(" · ");
}

/** Lists notices and troubles with files, in sentences. */
export function renderNotices(report) {
  const texts = (report.notices ?? []).map((notice) => notice.text);
  const language = document.documentElement.lang === "de" ? 1 : 0;
  for (const file of report.files ?? []) {
    texts.push(word("file_trouble", { name: file.name, why: file.trouble[language] ?? file.trouble[0] }));
  }
  return texts.length
    ? el("ul", { class: "notices" }, texts.map((text) => el("li", { dir: "auto" }, text)))
    : null;
}
