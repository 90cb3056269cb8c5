// Two versions of one text, when somebody else was quicker: both are shown, and the person decides.
import { _, el, showDialog } from "./core.js";

/** The text to go on with, mine as it is in the box or theirs; null if nothing is decided. */
export async function chooseVersion(ours, theirs) {
  const own = el("textarea", { class: "mono", rows: 12, dir: "auto", value: ours });
  const foreign = el("textarea", { class: "mono", rows: 12, dir: "auto", readonly: true, value: theirs });
  const body = [
    el("p", {}, _("Nothing was overwritten. Both versions are here; yours can still be edited.")),
    el(
      "div",
      { class: "halves versions" },
      el("label", {}, el("span", {}, _("Your version")), own),
      el("label", {}, el("span", {}, _("The version that is there now")), foreign),
    ),
  ];
  const chosen = await showDialog(_("This was changed by someone else in the meantime"), body, [
    { value: "", label: _("Decide later") },
    { value: "theirs", label: _("Take theirs") },
    { value: "mine", label: _("Keep mine"), kind: "main" },
  ]);
  if (!chosen) return null;
  return chosen === "mine" ? own.value : theirs;
}
