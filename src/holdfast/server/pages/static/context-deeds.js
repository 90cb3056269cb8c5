// What can be done to a window as a whole: summarise its older part now, undo what was decided last, redo that.
import { byId, formatNumber, word } from "./core.js";

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
    say(done ? `${describe(done)} ${word("next_time")}` : "");
    if (!button.disabled) button.focus();
    else buttons.find((each) => !each.disabled)?.focus();
  };
  byId("summarise").addEventListener(
    "click",
    (event) => run(event.currentTarget, "compact", word("summarising"), describeSummary),
  );
  byId("undo-last").addEventListener(
    "click",
    (event) =>
      run(event.currentTarget, "undo", "", (done) => word("undone", { n: formatNumber(done.back.length) })),
  );
  byId("redo-last").addEventListener(
    "click",
    (event) =>
      run(event.currentTarget, "redo", "", (done) => word("redone", { n: formatNumber(done.gone.length) })),
  );
}

const describeSummary = (done) =>
  word("summarised_now", {
    before: formatNumber(done.tokens_before),
    after: formatNumber(done.tokens_after),
  });

/** Only what there is can be undone or redone. */
export function showDeeds(report) {
  byId("deeds").hidden = !report;
  byId("undo-last").disabled = !report?.decisions.some((decision) => decision.batch);
  byId("redo-last").disabled = !report?.vetoes.length;
}
