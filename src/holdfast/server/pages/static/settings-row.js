// One setting: what it is, where its value comes from, and a field that suits its kind. Knows no other setting.
import { el, word } from "./core.js";
import { draft, isDrafted, known, news, valueOf } from "./settings-state.js";

const percent = (share) => (typeof share === "number" ? `${Math.round(share * 10000) / 100}%` : (share ?? ""));

export function row(setting) {
  const { name } = setting;
  const field = control(setting);
  const wrong = el("p", { class: "wrong small", role: "alert", lang: "en", id: `wrong-${name}`, hidden: true });
  const back = el("button", { type: "button", class: "quiet small", onclick: () => draft(name, isDrafted(name) ? (setting.value ?? "") : null) });
  const made = el("div", { class: `setting ${setting.kind}`, data: { name }, id: `row-${name}` },
    el("div", { class: "what" }, el("label", { for: `set-${name}` }, setting.help),
      el("p", { class: "from faint small" }, el("code", {}, name), " ", source(setting), effect(setting), back)),
    el("div", { class: "control" }, field.element, wrong));

  function look() {
    const changed = isDrafted(name), trouble = known.wrong[name];
    made.classList.toggle("changed", changed);
    field.show(valueOf(name), changed);
    back.hidden = setting.read_only || !(changed || setting.source === "page");
    back.textContent = word(changed ? "undo" : "take_back");
    wrong.hidden = !trouble;
    wrong.textContent = trouble ?? "";
    field.input.setAttribute("aria-invalid", String(Boolean(trouble)));
  }

  field.input.setAttribute("aria-describedby", `wrong-${name}`);
  news.addEventListener("change", () => made.isConnected && look());
  look();
  return made;
}

function source({ source: from, set_by: by, read_only: fixed, sign_in: closed }) {
  if (closed) return el("span", { class: "tag fixed" }, word("from_signed_in"));
  const text = by && from !== "page" ? word(`from_${from.replace(" ", "_")}_by`, { by }) : word(`from_${from.replace(" ", "_")}`);
  return el("span", { class: `tag ${fixed ? "fixed" : from === "page" ? "page" : "plain"}` }, fixed && from === "default" ? word("from_elsewhere") : text);
}

function effect({ pending, in_force: now, secret }) {
  if (!pending) return null;
  return el("span", { class: "tag pending" }, secret ? word("pending") : word("pending_now", { now: now === "" || now === null ? "–" : now }));
}

/** A field: its element, the input in it, and how it shows a value. */
function control(setting) {
  const id = `set-${setting.name}`, disabled = setting.read_only;
  const told = (value) => draft(setting.name, value);
  if (setting.kind === "switch") {
    const input = el("input", { type: "checkbox", id, role: "switch", disabled, onchange: () => told(input.checked) });
    return { element: el("span", { class: "switch" }, input), input, show: (value) => (input.checked = value === true) };
  }
  if (setting.kind === "choice") {
    const options = setting.choices.map((choice) => el("option", { value: choice }, word(`choice_${choice}`) === `choice_${choice}` ? choice : word(`choice_${choice}`)));
    const input = el("select", { id, disabled, onchange: () => told(input.value) }, options);
    return { element: input, input, show: (value) => (input.value = value) };
  }
  if (setting.secret) return secret(setting, id, told);
  const number = setting.kind === "whole" || setting.kind === "number";
  const spelled = setting.kind === "share" ? percent : (value) => String(value ?? "");
  const input = el("input", {
    id, disabled, type: number ? "number" : "text", min: number ? 0 : null, step: setting.kind === "number" ? "any" : null,
    placeholder: setting.kind === "share" ? word("of_preset") : spelled(setting.default), autocomplete: "off", spellcheck: "false", dir: "auto",
    oninput: () => told(number && input.value !== "" ? Number(input.value) : input.value === spelled(setting.value) ? (setting.value ?? "") : input.value),
  });
  return { element: input, input, show: (value) => document.activeElement === input || (input.value = spelled(value)) };
}

/** Never shown: it can be replaced or taken away. */
function secret(setting, id, told) {
  const input = el("input", {
    id, type: "password", disabled: setting.read_only, autocomplete: "new-password", placeholder: setting.value ? word("secret_set") : word("secret_none"),
    oninput: () => told(input.value === "" ? setting.value : input.value),
  });
  return { element: input, input, show: (_, changed) => changed || document.activeElement === input || (input.value = "") };
}
