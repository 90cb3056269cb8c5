// The prompt library: texts that are inserted with /name, with {{variables}} that are asked for, and a list to edit.
import { _, api, attempt, byId, confirmAction, el, pgettext, showDialog, toast } from "./core.js";

const variable = /\{\{\s*([\p{L}\p{N}_ -]{1,60}?)\s*\}\}/gu;

let library = [];

const load = async () => (library = (await api("/api/prompts")).prompts);

/** Asks for the variables of a prompt; returns its text, or null if it was left. */
export async function fill(prompt) {
  const names = [...new Set([...prompt.text.matchAll(variable)].map((match) => match[1]))];
  if (!names.length) return prompt.text;
  const fields = new Map(
    names.map((name) => [name, el("textarea", { class: "wide", rows: "1", dir: "auto" })]),
  );
  const choice = await showDialog(
    `/${prompt.name}`,
    names.map((name) => el("label", {}, el("span", {}, name), fields.get(name))),
    [{ value: "", label: _("Cancel") }, { value: "yes", label: _("Insert"), kind: "main" }],
  );
  if (choice !== "yes") return null;
  return prompt.text.replace(variable, (_, name) => fields.get(name).value);
}

/** The list of prompts, where they are made, changed and deleted. */
export async function showLibrary() {
  if (!(await attempt(load))) return;
  const name = el("input", {
    type: "text",
    maxlength: "60",
    pattern: "[\\p{L}\\p{N}_\\-]+",
    class: "wide",
    autocomplete: "off",
    placeholder: _("translate"),
  });
  const text = el("textarea", {
    class: "wide",
    rows: "5",
    dir: "auto",
    placeholder: _("Translate into {{language}}: {{text}}"),
  });
  const wrong = el("p", { class: "wrong small", role: "alert", hidden: true });
  const list = el("ul", { class: "prompt-list", "aria-label": _("Prompt library") });
  const edit = (prompt) => {
    name.value = prompt.name;
    text.value = prompt.text;
    text.focus();
  };
  const remove = async (prompt) => {
    if (!(await confirmAction(_("Delete this prompt?"), `/${prompt.name}`))) return;
    await api(`/api/prompts/${encodeURIComponent(prompt.name)}`, { method: "DELETE" });
    await refresh();
    name.focus();
  };
  const draw = () =>
    list.replaceChildren(...library.map((prompt) =>
      el(
        "li",
        {},
        el("code", {}, `/${prompt.name}`),
        el("span", { class: "faint small grow", dir: "auto" }, prompt.text),
        el("button", {
          type: "button",
          class: "quiet",
          "aria-label": _("Edit /{name}", { name: prompt.name }),
          onclick: () => edit(prompt),
        }, _("Edit")),
        el("button", {
          type: "button",
          class: "quiet danger",
          "aria-label": _("Delete /{name}", { name: prompt.name }),
          onclick: () => attempt(() => remove(prompt)),
        }, _("Delete")),
      )
    ));
  const refresh = async () => {
    await load();
    draw();
  };
  const save = async () => {
    wrong.hidden = true;
    try {
      if (!name.value.trim() || !name.checkValidity()) {
        throw new Error(_("A name has letters, digits and hyphens, and no spaces."));
      }
      const body = { text: text.value };
      await api(`/api/prompts/${encodeURIComponent(name.value.trim())}`, { method: "PUT", body });
      await refresh();
      toast(_("Saved: /{name} inserts it.", { name: name.value.trim() }));
      name.value = text.value = "";
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = error.message;
    }
    name.focus();
  };
  draw();
  await showDialog(_("Prompt library"), [
    el(
      "p",
      { class: "faint small" },
      _("A slash at the beginning of a question lists them; what stands in {{double braces}} is asked for."),
    ),
    list,
    el("label", {}, el("span", {}, _("Name: letters, digits and hyphens")), name),
    el("label", {}, el("span", {}, pgettext("of a prompt", "Text")), text),
    wrong,
    el("button", { type: "button", class: "main", onclick: save }, _("Save the prompt")),
  ], [{ value: "", label: _("Close") }]);
  byId("text").focus();
}
