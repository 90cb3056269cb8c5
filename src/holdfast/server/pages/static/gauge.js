// The gauge in the composer: how full the window will be, with what is being written and attached, before it is sent.
import { _, api, byId, debounce, el, formatNumber } from "./core.js";
import { formatShare, renderRing } from "./ring.js";

const place = byId("gauge");
const field = byId("text");
const models = byId("model");
// Milliseconds without a key after which a draft is counted, and characters of it that are counted at most.
const pause = 350, longest = 200_000;

// The window of the newest request, the tokens of its answer, what is attached and how much all of that is.
let report = null, asked = 0, answered = 0, uploads = [], draft = 0, uncounted = 0;

/** The window of the newest request, and what its server counted once it is answered; null in a new chat. */
export function setWindow(newest, counted = null) {
  report = newest?.sections ? newest : null;
  asked = counted?.prompt_tokens || report?.tokens || 0;
  answered = counted?.tokens ?? 0;
  show();
}

/** Follows what is written, attached and chosen. */
export function startGauge() {
  const soon = debounce(countDraft, pause);
  field.addEventListener("input", soon);
  models.addEventListener("change", countDraft);
  models.addEventListener("chosen", countDraft);
  byId("composer").addEventListener("uploads", (event) => {
    uploads = event.detail;
    soon();
  });
  new MutationObserver(show).observe(models, { childList: true });
  document.addEventListener("click", (event) => {
    if (place.open && event.target instanceof Node && !place.contains(event.target)) place.open = false;
  });
  place.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !place.open) return;
    event.preventDefault();
    event.stopPropagation();
    place.open = false;
    place.querySelector("summary").focus();
  });
  place.addEventListener("toggle", show);
  countDraft();
}

let counting = 0;

async function countDraft() {
  const number = ++counting;
  const texts = [field.value, ...uploads.map(readText)];
  const text = texts.filter(Boolean).join("\n").slice(0, longest);
  uncounted = texts.filter((item) => item === null).length;
  const tokens = text.trim() && models.value ? await countTokens(text) : 0;
  // Somebody may have written on meanwhile.
  if (number !== counting) return;
  draft = tokens;
  show();
}

async function countTokens(text) {
  const body = { model: models.value, max_tokens: 1, messages: [{ role: "user", content: text }] };
  const reply = await api("/v1/messages/count_tokens", { method: "POST", body }).catch(() => null);
  // Where nobody counts, four characters are about a token.
  return reply?.input_tokens ?? Math.ceil(text.length / 4);
}

/** The text of an attached file; null where only the server can read it. */
function readText(upload) {
  if (upload.picture || !/^text\/|json|xml|yaml|javascript/.test(upload.type)) return null;
  try {
    const bytes = Uint8Array.from(atob(upload.data), (sign) => sign.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function show() {
  const chosen = Number(models.selectedOptions[0]?.dataset.window) || 0;
  const window = chosen || report?.window || 0;
  place.hidden = !window;
  if (!window) return;
  const used = asked + answered;
  const values = {
    used: formatNumber(used + draft),
    window: formatNumber(window),
    share: formatShare((used + draft) / window),
    draft: formatNumber(draft),
  };
  const text = [
    _("The next question uses {share} of the window: {used} of {window} tokens.", values),
    draft && _("{draft} of them are in your draft.", values),
    uncounted && _("Without pictures and files that only the server can read: {n}.", { n: uncounted }),
  ].filter(Boolean).join(" ");
  place.querySelector("summary").replaceChildren(
    renderRing(used / window, text, draft / window),
    el("span", { "aria-hidden": "true" }, `${uncounted ? "≥ " : ""}${values.share}`),
  );
  place.querySelector("summary").title = text;
  if (place.open) showAll(text, window, used);
}

/** All about the window, once somebody wants to see it. */
async function showAll(text, window, used) {
  const { renderMeter } = await import("./meter.js");
  byId("gauge-all").replaceChildren(el("p", {}, text), renderMeter(nextReport(window, used)));
}

/** The report of the next request as far as it is known: the last one, its answer, and the draft. */
function nextReport(window, used) {
  const sections = (report?.sections ?? []).map((section) =>
    section.name === "history" ? { ...section, tokens: section.tokens + answered } : section
  );
  if (answered && !sections.some((section) => section.name === "history")) {
    sections.push({ name: "history", tokens: answered });
  }
  // Marks are where they are in the window of the model that they were made for.
  const history = report?.window === window ? report.history : null;
  return {
    ...report,
    window,
    tokens: used + draft,
    history: history && { ...history, tokens: history.tokens + answered + draft },
    sections: [...sections, ...(draft ? [{ name: "draft", tokens: draft }] : [])],
  };
}
