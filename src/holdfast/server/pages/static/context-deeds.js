// What can be done to a window as a whole: summarise its older part now, undo what was decided last, redo that.
import { _, byId, formatNumber, ngettext } from "./core.js";

/** `view.change` does something and has all shown anew. */
export function startDeeds(view) {
  const buttons = [byId("summarise"), byId("undo-last"), byId("redo-last")];
  const say = (text) => (byId("deed-state").textContent = text);
  const run = async (button, path, before, describe) => {
    for (const each of buttons) each.disabled = true;
    say(before);
    const done = await view.change(path, { method: "POST" });
    byId("summarise").disabled = false;
    showDeeds(view.report);
    say(done ? `${describe(done)} ${_("Changes take effect with the next question.")}` : "");
    if (!button.disabled) button.focus();
    else buttons.find((each) => !each.disabled)?.focus();
  };
  byId("summarise").addEventListener(
    "click",
    (event) =>
      run(event.currentTarget, "compact", _("The older part is being summarised …"), describeSummary),
  );
  byId("undo-last").addEventListener(
    "click",
    (event) =>
      run(
        event.currentTarget,
        "undo",
        "",
        (done) =>
          ngettext("Undone. 1 message comes back.", "Undone. {n} messages come back.", {
            n: formatNumber(done.back.length),
          }),
      ),
  );
  byId("redo-last").addEventListener(
    "click",
    (event) =>
      run(
        event.currentTarget,
        "redo",
        "",
        (done) =>
          ngettext(
            "Redone. 1 message is left out or shortened again.",
            "Redone. {n} messages are left out or shortened again.",
            { n: formatNumber(done.gone.length) },
          ),
      ),
  );
}

const describeSummary = (done) =>
  _("Summarised: {before} → {after} tokens.", {
    before: formatNumber(done.tokens_before),
    after: formatNumber(done.tokens_after),
  });

/** Only what there is can be undone or redone. */
export function showDeeds(report) {
  byId("deeds").hidden = !report;
  byId("undo-last").disabled = !report?.decisions.some((decision) => decision.batch);
  byId("redo-last").disabled = !report?.vetoes.length;
}
