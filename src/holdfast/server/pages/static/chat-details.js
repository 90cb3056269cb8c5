// What stands under an answer: how long it took, how full the window was, how much was recalled for it.
import { _, el, formatNumber, pgettext } from "./core.js";
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
    seconds !== null && seconds !== undefined && _("{n} s", { n: decimals.format(seconds) }),
    read && window && renderShare(read, window),
    countRecalled(facts),
    facts.finish === "cut" && _("stopped early"),
    facts.finish === "length" && _("the limit of the answer was reached"),
  ].filter(Boolean);
  if (!parts.length) return null;
  const line = parts.flatMap((part, at) => (at ? [el("span", { class: "dot" }, " · "), part] : [part]));
  const fold = el(
    "details",
    { class: "about" },
    el("summary", { class: "facts", title: _("About this answer") }, line),
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
  const text = _("{share} of the window was used: {used} of {window} tokens", {
    share,
    used: formatNumber(used),
    window: formatNumber(window),
  });
  return el("span", { class: "share", title: text }, renderRing(used / window, text), share);
}

function countRecalled({ memories = 0, quotes = 0, findings = [] }) {
  return [
    memories &&
    (memories === 1
      ? pgettext("under an answer", "1 memory")
      : pgettext("under an answer", "{n} memories", { n: memories })),
    quotes && (quotes === 1 ? _("1 quote") : _("{n} quotes", { n: quotes })),
    findings.length > 0 && _("Sources"),
  ].filter(Boolean).join(" · ");
}

/** Lists notices and troubles with files, in sentences. */
export function renderNotices(report) {
  const texts = (report.notices ?? []).map((notice) => notice.text);
  const language = document.documentElement.lang === "de" ? 1 : 0;
  for (const file of report.files ?? []) {
    texts.push(_("{name}: {why}", { name: file.name, why: file.trouble[language] ?? file.trouble[0] }));
  }
  return texts.length
    ? el("ul", { class: "notices" }, texts.map((text) => el("li", { dir: "auto" }, text)))
    : null;
}
