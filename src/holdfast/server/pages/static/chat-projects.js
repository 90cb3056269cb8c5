// A new project: its chats and its memories are apart from those of others.
import { el, showDialog, word } from "./core.js";

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
    word("new_project"),
    [
      el("label", {}, el("span", {}, word("project_label")), input),
      el("p", { class: "small faint" }, word("project_help")),
    ],
    [{ value: "", label: word("cancel") }, { value: "yes", label: word("project_create"), kind: "main" }],
  );
  // What the server would refuse in a name.
  const name = input.value.replace(/[/\\\0]/g, " ").trim();
  return choice === "yes" ? name : "";
}
