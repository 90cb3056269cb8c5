// What was decided for a window: the summary and the rules in it, every decision with undo, and what was undone.
import { attempt, el, moment, number, toast, word } from "./core.js";

// More messages of one decision are not listed, only counted.
const most = 10;

export async function decisions(panel, shown) {
  const { report, heading } = shown;
  const parts = [];
  if (report.summary) parts.push(heading("summary"), el("pre", { class: "summary", dir: "auto", tabindex: "0" }, report.summary));
  for (const name of ["forbidden", "rules", "agreed"]) {
    if (report[name]?.length) parts.push(heading(name), el("ul", {}, report[name].map((said) => el("li", { dir: "auto" }, said))));
  }
  if (report.decisions.length) {
    parts.push(heading("force"), el("p", { class: "faint small" }, word("next_time")),
      el("ul", { class: "list" }, report.decisions.toReversed().map((made) => row(made, shown))));
  } else parts.push(el("p", { class: "empty" }, word("no_decisions")));
  if (report.vetoes.length) parts.push(heading("vetoes"), el("ul", { class: "list" }, report.vetoes.toReversed().map((made) => row(made, shown))));
  panel.replaceChildren(...parts);
}

function row(made, shown) {
  const what = word(`rule_${made.rule}`);
  const facts = [
    made.messages.length > 0 && word("on_messages", { n: number(made.messages.length) }),
    (made.tokens_before > 0 || made.tokens_after > 0) && word("before_after", { before: number(made.tokens_before), after: number(made.tokens_after) }),
    made.undone_at ? word("undone_at", { when: moment(made.undone_at) }) : moment(made.created_at),
  ].filter(Boolean);
  return el("li", { class: "decision", data: { decision: made.id } },
    el("div", { class: "grow" }, el("div", {}, what), el("div", { class: "faint small" }, facts.join(" · ")), made.reason && el("div", { class: "faint small", lang: "en", dir: "auto" }, made.reason), made.messages.length > 0 && which(made, shown)),
    !made.undone_at && el("button", { type: "button", "aria-label": word("undo_this", { what }), onclick: () => undo(made, shown) }, word("undo")));
}

/** The messages it is about, by how they begin: looked up when somebody wants to know. */
function which(made, shown) {
  const list = el("ul", { class: "small" });
  const fold = el("details", {}, el("summary", { class: "small" }, word("which")), list);
  fold.addEventListener("toggle", async () => {
    if (!fold.open || list.firstChild) return;
    const found = await attempt(() => Promise.all(made.messages.slice(0, most).map((name) => shown.ask(`messages/${name}`))));
    if (!found || list.firstChild) return;
    list.append(...found.map((message) => el("li", { dir: "auto" }, `${word(`role_${message.role}`)}: ${message.content.slice(0, 160)}`)));
    if (made.messages.length > most) list.append(el("li", {}, word("and_more", { n: number(made.messages.length - most) })));
  });
  return fold;
}

async function undo(made, shown) {
  const done = await shown.change("undo", { method: "POST", body: { decision: made.id } });
  if (!done) return;
  toast(`${word("undone", { n: number(done.back.length) })} ${word("next_time")}`);
  document.getElementById("tab-decisions").focus();
}
