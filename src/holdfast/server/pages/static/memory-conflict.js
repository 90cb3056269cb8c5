// Two versions of one text, when somebody else was quicker: both are shown, and the person decides.
import { el, showDialog, word } from "./core.js";

/** The text to go on with, mine as it is in the box or theirs; null if nothing is decided. */
export async function chooseVersion(ours, theirs) {
  const own = el("textarea", { class: "mono", rows: 12, dir: "auto", value: ours });
  const foreign = el("textarea", { class: "mono", rows: 12, dir: "auto", readonly: true, value: theirs });
  const body = [
    el("p", {}, word("conflict_more")),
    el(
      "div",
      { class: "halves versions" },
      el("label", {}, el("span", {}, word("version_mine")), own),
      el("label", {}, el("span", {}, word("version_theirs")), foreign),
    ),
  ];
  const chosen = await showDialog(word("conflict"), body, [
    { value: "", label: word("decide_later") },
    { value: "theirs", label: word("take_theirs") },
    { value: "mine", label: word("keep_mine"), kind: "main" },
  ]);
  if (!chosen) return null;
  return chosen === "mine" ? own.value : theirs;
}
