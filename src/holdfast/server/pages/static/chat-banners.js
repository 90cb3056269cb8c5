// Where summaries stand among the messages: what they saved, the originals, the words that the model reads instead.
import { _, attempt, byId, el, formatNumber, ngettext, toast } from "./core.js";
import { call, chatPath } from "./chat-state.js";
import { putHtml } from "./markdown.js";

const scroll = byId("scroll");
const place = byId("messages");
/** @type {any} */
let page = {};

/**
 * Shows where summaries are. `given` has the button for `older` messages, `fold` to hide what the last one
 * covers, `stay()` to remain where one reads, and `refresh()` to load them anew.
 */
export function showBanners(summaries, given) {
  page = given;
  const { older, fold } = page;
  for (const element of place.querySelectorAll(".compaction")) element.remove();
  let last = null;
  for (const summary of summaries) {
    const after = [...place.children].find((element) => element.dataset.message === summary.after);
    if (after) after.after(last = renderBanner(summary));
  }
  for (const element of place.children) element.classList.remove("covered");
  for (
    let element = last?.previousElementSibling;
    element && element !== older;
    element = element.previousElementSibling
  ) element.classList.add("covered");
  older.classList.toggle("covered", Boolean(last));
  if (!last) place.classList.remove("folded");
  else if (fold) place.classList.add("folded");
  updateBanners();
}

function renderBanner(summary) {
  const saved = summary.tokens_before - summary.tokens_after;
  const text = saved > 0
    ? _("Context summarised: {before} → {after} tokens, {share} % saved", {
      before: formatNumber(summary.tokens_before),
      after: formatNumber(summary.tokens_after),
      share: formatNumber(Math.floor((100 * saved) / summary.tokens_before)),
    })
    : _("Context summarised: {after} tokens stand for what left the window earlier", {
      before: formatNumber(summary.tokens_before),
      after: formatNumber(summary.tokens_after),
      share: formatNumber(Math.floor((100 * saved) / summary.tokens_before)),
    });
  return el(
    "aside",
    { class: "compaction", data: { covers: summary.covers }, "aria-label": text },
    el("p", {}, text),
    summary.tokens_previous > 0 && el(
      "p",
      { class: "small faint" },
      _("{n} of the {before} were the summary before this one.", {
        n: formatNumber(summary.tokens_previous),
        before: formatNumber(summary.tokens_before),
      }),
    ),
    el(
      "div",
      { class: "row" },
      el("button", { type: "button", class: "quiet originals", onclick: toggleOriginals }),
      el("button", { type: "button", class: "quiet", onclick: () => undoSummary(summary) }, _("Undo")),
    ),
    summary.html && renderSummary(summary.html),
  );
}

function renderSummary(html) {
  const text = el("div", { class: "markdown", dir: "auto" });
  putHtml(text, html);
  return el("details", { class: "fold" }, el("summary", {}, _("What the model reads instead")), text);
}

function toggleOriginals() {
  const last = [...place.querySelectorAll(".compaction")].pop();
  const top = last.getBoundingClientRect().top;
  page.stay();
  place.classList.toggle("folded");
  updateBanners();
  scroll.scrollTop += last.getBoundingClientRect().top - top;
}

/** Says on every banner what a click does. */
export function updateBanners() {
  const isFolded = place.classList.contains("folded");
  for (const element of place.querySelectorAll(".compaction")) {
    const button = element.querySelector(".originals");
    button.textContent = isFolded
      ? _("Show originals ({n})", { n: formatNumber(Number(element.dataset.covers)) })
      : _("Hide originals");
    button.setAttribute("aria-expanded", String(!isFolded));
  }
}

async function undoSummary(summary) {
  const undone = await attempt(() =>
    call(chatPath("/undo"), { method: "POST", body: { decision: summary.decision } })
  );
  if (!undone) return;
  toast(
    ngettext(
      "Undone: 1 message goes out again, as far as there is room.",
      "Undone: {n} messages go out again, as far as there is room.",
      { n: formatNumber(undone.back.length) },
    ),
  );
  await page.refresh();
  scroll.focus({ preventScroll: true });
}
