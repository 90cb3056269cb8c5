// One setting: what it is, where its value comes from, and a field that suits its kind.
import { _, el } from "./core.js";
import { changes, hasDraft, setDraft, settings, valueOf } from "./settings-state.js";

// What choices are called; the others are shown as they are written.
const CHOICES = {
  auto: _("automatic"),
  en: _("English"),
  de: _("German"),
  keep: _("keep"),
  forget: _("forget"),
};
const formatPercent = (
  share,
) => (typeof share === "number" ? `${Math.round(share * 10000) / 100}%` : (share ?? ""));

export function renderSetting(setting) {
  const { name } = setting;
  const field = createControl(setting);
  const wrong = el("p", {
    class: "wrong small",
    role: "alert",
    lang: "en",
    id: `wrong-${name}`,
    hidden: true,
  });
  const resetButton = el("button", {
    type: "button",
    class: "quiet small",
    onclick: () => setDraft(name, hasDraft(name) ? (setting.value ?? "") : null),
  });
  const element = el(
    "div",
    { class: `setting ${setting.kind}`, data: { name }, id: `row-${name}` },
    el(
      "div",
      { class: "what" },
      el("label", { for: `set-${name}` }, setting.help),
      el(
        "p",
        { class: "from faint small" },
        el("code", {}, name),
        " ",
        renderSource(setting),
        renderPending(setting),
        resetButton,
      ),
    ),
    el("div", { class: "control" }, field.element, wrong),
  );

  function updateRow() {
    const isChanged = hasDraft(name), trouble = settings.wrong[name];
    element.classList.toggle("changed", isChanged);
    field.show(valueOf(name), isChanged);
    resetButton.hidden = setting.read_only || !(isChanged || setting.source === "page");
    resetButton.textContent = isChanged ? _("Undo") : _("Take it back");
    wrong.hidden = !trouble;
    wrong.textContent = trouble ?? "";
    field.input.setAttribute("aria-invalid", String(Boolean(trouble)));
  }

  field.input.setAttribute("aria-describedby", `wrong-${name}`);
  changes.addEventListener("change", () => element.isConnected && updateRow());
  updateRow();
  return element;
}

/** Says where a value comes from: `by` is the file or the variable that has it. */
export function describeOrigin(source, by) {
  if (source === "page") return _("set here");
  if (source === "file") return _("from {by}", { by });
  if (source === "environment") return _("set by {by}", { by });
  return source === "command line" ? _("set when the server was started") : _("default");
}

function renderSource({ source: from, set_by: by, read_only: isFixed, sign_in: needsSignIn }) {
  if (needsSignIn) return el("span", { class: "tag fixed" }, _("only after signing in"));
  const text = describeOrigin(from, by);
  return el(
    "span",
    { class: `tag ${isFixed ? "fixed" : from === "page" ? "page" : "plain"}` },
    isFixed && from === "default" ? _("only in the file or the environment") : text,
  );
}

function renderPending({ pending, in_force: now, secret }) {
  if (!pending) return null;
  return el(
    "span",
    { class: "tag pending" },
    secret
      ? _("after a restart")
      : _("after a restart; now {now}", { now: now === "" || now === null ? "–" : now }),
  );
}

/** A field: its element, the input in it, and how it shows a value. */
function createControl(setting) {
  const id = `set-${setting.name}`, disabled = setting.read_only;
  const change = (value) => setDraft(setting.name, value);
  if (setting.kind === "switch") {
    const input = el("input", {
      type: "checkbox",
      id,
      role: "switch",
      disabled,
      onchange: () => change(input.checked),
    });
    return {
      element: el("span", { class: "switch" }, input),
      input,
      show: (value) => (input.checked = value === true),
    };
  }
  if (setting.kind === "choice") {
    const options = setting.choices.map((choice) =>
      el(
        "option",
        { value: choice },
        CHOICES[choice] ?? choice,
      )
    );
    const input = el("select", { id, disabled, onchange: () => change(input.value) }, options);
    return { element: input, input, show: (value) => (input.value = value) };
  }
  if (setting.secret) return createSecret(setting, id, change);
  const number = setting.kind === "whole" || setting.kind === "number";
  const format = setting.kind === "share" ? formatPercent : (value) => String(value ?? "");
  const input = el("input", {
    id,
    disabled,
    type: number ? "number" : "text",
    min: number ? 0 : null,
    step: setting.kind === "number" ? "any" : null,
    placeholder: setting.kind === "share" ? _("the preset's") : format(setting.default),
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    oninput: () =>
      change(
        number && input.value !== ""
          ? Number(input.value)
          : input.value === format(setting.value)
          ? (setting.value ?? "")
          : input.value,
      ),
  });
  return {
    element: input,
    input,
    show: (value) => document.activeElement === input || (input.value = format(value)),
  };
}

/** Creates the field of a secret, which is never shown and can be replaced or removed. */
function createSecret(setting, id, change) {
  const input = el("input", {
    id,
    type: "password",
    disabled: setting.read_only,
    autocomplete: "new-password",
    placeholder: setting.value ? _("•••• is set") : _("none"),
    oninput: () => change(input.value === "" ? setting.value : input.value),
  });
  return {
    element: input,
    input,
    show: (_, isChanged) => isChanged || document.activeElement === input || (input.value = ""),
  };
}
