// What was decided for a window: the summary and the rules in it, every decision with undo, and what was undone.
import {
  _,
  attempt,
  byId,
  describeName,
  el,
  formatMoment,
  formatNumber,
  ngettext,
  pgettext,
  toast,
} from "./core.js";
import { ROLES } from "./context-names.js";

// More messages of one decision are not listed, only counted.
const most = 10;

export async function showDecisions(panel, view) {
  const { report, heading } = view;
  const parts = [];
  if (report.summary) {
    parts.push(
      heading("summary"),
      el("pre", { class: "summary", dir: "auto", tabindex: "0" }, report.summary),
    );
  }
  for (const name of ["forbidden", "rules", "agreed"]) {
    if (report[name]?.length) {
      parts.push(
        heading(name),
        el(
          "ul",
          {},
          report[name].map((rule) => el("li", { dir: "auto" }, rule)),
        ),
      );
    }
  }
  if (report.decisions.length) {
    parts.push(
      heading("force"),
      el("p", { class: "faint small" }, _("Changes take effect with the next question.")),
      el(
        "ul",
        { class: "list" },
        report.decisions.toReversed().map((decision) => renderDecision(decision, view)),
      ),
    );
  } else {parts.push(
      el("p", { class: "empty" }, _("Nothing was decided: the model sees everything as it was said.")),
    );}
  if (report.vetoes.length) {
    parts.push(
      heading("vetoes"),
      el(
        "ul",
        { class: "list" },
        report.vetoes.toReversed().map((decision) => renderDecision(decision, view)),
      ),
    );
  }
  panel.replaceChildren(...parts);
}

function renderDecision(decision, view) {
  const what = describeName("rule", decision.rule);
  const facts = [
    decision.messages.length > 0 &&
    (decision.messages.length === 1
      ? pgettext("count", "1 message")
      : _("{n} messages", { n: formatNumber(decision.messages.length) })),
    (decision.tokens_before > 0 || decision.tokens_after > 0) &&
    _("{before} → {after} tokens", {
      before: formatNumber(decision.tokens_before),
      after: formatNumber(decision.tokens_after),
    }),
    decision.undone_at
      ? _("undone {when}", { when: formatMoment(decision.undone_at) })
      : formatMoment(decision.created_at),
  ].filter(Boolean);
  return el(
    "li",
    { class: "decision", data: { decision: decision.id } },
    el(
      "div",
      { class: "grow" },
      el("div", {}, what),
      el("div", { class: "faint small" }, facts.join(" · ")),
      decision.reason && el("div", { class: "faint small", dir: "auto" }, decision.reason),
      decision.messages.length > 0 && renderMessages(decision, view),
    ),
    decision.undone_at
      ? el("button", {
        type: "button",
        "aria-label": _("Redo: {what}", { what }),
        onclick: () => redoDecision(decision, view),
      }, _("Redo"))
      : el("button", {
        type: "button",
        "aria-label": _("Undo: {what}", { what }),
        onclick: () => undoDecision(decision, view),
      }, _("Undo")),
  );
}

/** The messages it is about, by how they begin: looked up when somebody wants to know. */
function renderMessages(decision, view) {
  const list = el("ul", { class: "small" });
  const fold = el("details", {}, el("summary", { class: "small" }, _("Which messages")), list);
  fold.addEventListener("toggle", async () => {
    if (!fold.open || list.firstChild) return;
    const messages = await attempt(() =>
      Promise.all(decision.messages.slice(0, most).map((name) => view.ask(`messages/${name}`)))
    );
    if (!messages || list.firstChild) return;
    list.append(
      ...messages.map((message) =>
        el("li", { dir: "auto" }, `${ROLES[message.role]}: ${message.content.slice(0, 160)}`)
      ),
    );
    if (decision.messages.length > most) {
      list.append(el("li", {}, _("and {n} more", { n: formatNumber(decision.messages.length - most) })));
    }
  });
  return fold;
}

async function redoDecision(decision, view) {
  const done = await view.change("redo", { method: "POST", body: { decision: decision.id } });
  if (!done) return;
  toast(
    `${
      ngettext(
        "Redone. 1 message is left out or shortened again.",
        "Redone. {n} messages are left out or shortened again.",
        { n: formatNumber(done.gone.length) },
      )
    } ${_("Changes take effect with the next question.")}`,
  );
  byId("tab-decisions").focus();
}

async function undoDecision(decision, view) {
  const done = await view.change("undo", { method: "POST", body: { decision: decision.id } });
  if (!done) return;
  toast(
    `${
      ngettext("Undone. 1 message comes back.", "Undone. {n} messages come back.", {
        n: formatNumber(done.back.length),
      })
    } ${_("Changes take effect with the next question.")}`,
  );
  byId("tab-decisions").focus();
}
