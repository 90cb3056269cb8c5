// A new project: its chats and its memories are apart from those of others.
import { _, el, showDialog } from "./core.js";

/** Asks for the name of a project; "" if there shall be none. */
export async function askName() {
  const input = el("input", {
    type: "text",
    class: "wide",
    maxlength: "100",
    dir: "auto",
    autocomplete: "off",
  });
  const choice = await showDialog(
    _("New project …"),
    [
      el("label", {}, el("span", {}, _("Name of the project")), input),
      el(
        "p",
        { class: "small faint" },
        _("New chats begin in it. It has memories of its own, and yours about you."),
      ),
    ],
    [{ value: "", label: _("Cancel") }, { value: "yes", label: _("Create"), kind: "main" }],
  );
  // What the server would refuse in a name.
  const name = input.value.replace(/[/\\\0]/g, " ").trim();
  return choice === "yes" ? name : "";
}
