// The prompt library: texts that are inserted with /name, with {{variables}} that are asked for, and a list to edit.
import { api, attempt, byId, confirmAction, el, showDialog, toast, word } from "./core.js";

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
    [{ value: "", label: word("cancel") }, { value: "yes", label: word("prompt_insert"), kind: "main" }],
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
    placeholder: word("prompt_name_example"),
  });
  const text = el("textarea", { class: "wide", rows: "5", dir: "auto", placeholder: word("prompt_example") });
  const wrong = el("p", { class: "wrong small", role: "alert", hidden: true });
  const list = el("ul", { class: "prompt-list", "aria-label": word("prompts") });
  const edit = (prompt) => {
    name.value = prompt.name;
    text.value = prompt.text;
    text.focus();
  };
  const remove = async (prompt) => {
    if (!(await confirmAction(word("prompt_delete"), `/${prompt.name}`))) return;
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
          "aria-label": word("prompt_edit", { name: prompt.name }),
          onclick: () => edit(prompt),
        }, word("edit")),
        el("button", {
          type: "button",
          class: "quiet danger",
          "aria-label": word("prompt_delete_named", { name: prompt.name }),
          onclick: () => attempt(() => remove(prompt)),
        }, word("delete")),
      )
    ));
  const refresh = async () => {
    await load();
    draw();
  };
  const save = async () => {
    wrong.hidden = true;
    try {
      if (!name.value.trim() || !name.checkValidity()) throw new Error(word("prompt_name_wrong"));
      const body = { text: text.value };
      await api(`/api/prompts/${encodeURIComponent(name.value.trim())}`, { method: "PUT", body });
      await refresh();
      toast(word("prompt_saved", { name: name.value.trim() }));
      name.value = text.value = "";
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = error.message;
    }
    name.focus();
  };
  draw();
  await showDialog(word("prompts"), [
    el("p", { class: "faint small" }, word("prompts_help")),
    list,
    el("label", {}, el("span", {}, word("prompt_name")), name),
    el("label", {}, el("span", {}, word("prompt_text")), text),
    wrong,
    el("button", { type: "button", class: "main", onclick: save }, word("prompt_save")),
  ], [{ value: "", label: word("close") }]);
  byId("text").focus();
}
