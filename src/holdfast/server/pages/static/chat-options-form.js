// The dialog with the options of a chat, and presets of them; loaded when somebody opens it.
import { _, api, attempt, confirmAction, el, showDialog, toast } from "./core.js";

// Numbers that models take: what they are called, and what a field for them allows.
/** @type {Record<string, [string, Record<string, number>]>} */
const numbers = {
  temperature: [_("Temperature"), { min: 0, max: 5, step: 0.05 }],
  top_p: [_("Top P"), { min: 0, max: 1, step: 0.01 }],
  top_k: [_("Top K"), { min: 0, max: 100000, step: 1 }],
  min_p: [_("Min P"), { min: 0, max: 1, step: 0.01 }],
  repeat_penalty: [_("Repeat penalty"), { min: 0, max: 10, step: 0.05 }],
  max_tokens: [_("Longest answer, in tokens"), { min: 1, max: 10000000, step: 1 }],
  seed: [_("Seed"), { min: 0, max: 9007199254740991, step: 1 }],
};

/** Shows options to be changed; returns those to be used from now on, null if the dialog was left. */
export async function askOptions(current) {
  const form = createForm();
  form.fill(current);
  const presets = await createPresets(form);
  const body = [presets.choice, ...form.parts, presets.saving];
  const choice = await showDialog(_("Options of this chat"), body, [
    { value: "", label: _("Cancel") },
    { value: "yes", label: _("Save"), kind: "main" },
  ]);
  return choice === "yes" ? form.read() : null;
}

/** The fields: `fill(options)` shows options in them, `read()` returns what they say. */
function createForm() {
  const system = el("textarea", {
    rows: "4",
    autofocus: true,
    dir: "auto",
    maxlength: "100000",
    placeholder: _("How the model should answer in this chat"),
  });
  const fields = new Map(
    Object.entries(numbers).map(([name, [, limits]]) => [
      name,
      el("input", { type: "number", inputmode: "decimal", placeholder: _("As the model has it"), ...limits }),
    ]),
  );
  const stop = el("input", { dir: "auto", autocomplete: "off", placeholder: _("Several with commas") });
  const think = el(
    "select",
    {},
    el("option", { value: "" }, _("As the model has it")),
    el("option", { value: "true" }, _("On")),
    el("option", { value: "false" }, _("Off")),
  );
  let hadSystem = false;
  const renderField = (name) => el("label", {}, numbers[name][0], fields.get(name));
  const usual = ["temperature", "top_p", "max_tokens"];
  const rest = Object.keys(numbers).filter((name) => !usual.includes(name));
  const more = el(
    "details",
    {},
    el("summary", {}, _("More options")),
    el(
      "div",
      { class: "option-grid" },
      rest.map(renderField),
      el("label", {}, _("Thinking"), think),
      el("label", { class: "whole" }, _("Stop at these words"), stop),
    ),
  );
  return {
    parts: [
      el("label", { class: "option-system" }, _("Instructions (system prompt)"), system),
      el("div", { class: "option-grid" }, usual.map(renderField)),
      more,
    ],
    fill(options) {
      hadSystem = options.system !== undefined;
      system.value = options.system ?? "";
      for (const [name, field] of fields) field.value = options[name] ?? "";
      stop.value = (options.stop ?? []).join(", ");
      think.value = options.think === undefined ? "" : String(options.think);
      more.open = rest.some((name) => name in options) || "think" in options || "stop" in options;
    },
    read() {
      const options = {};
      // Instructions that were taken away are none from now on; where there were none, those of before hold.
      if (system.value.trim() || hadSystem) options.system = system.value.trim();
      for (const [name, field] of fields) if (field.value !== "") options[name] = Number(field.value);
      const words = stop.value.split(",").map((text) => text.trim()).filter(Boolean);
      if (words.length) options.stop = words;
      if (think.value) options.think = think.value === "true";
      return options;
    },
  };
}

/** `choice` fills the fields with a preset, if there are any; `saving` puts what they say under a name. */
async function createPresets(form) {
  let { presets } = await api("/api/presets");
  const chooser = el("select", {});
  const name = el("input", { dir: "auto", maxlength: "100", autocomplete: "off" });
  const deleteButton = el("button", { type: "button", class: "quiet" }, _("Delete"));
  const choice = el(
    "div",
    { class: "presets" },
    el("label", { class: "grow" }, _("Preset"), chooser),
    deleteButton,
  );
  const show = (chosen = "") => {
    chooser.replaceChildren(
      el("option", { value: "" }, _("Choose …")),
      ...presets.map((preset) => el("option", { value: preset.name }, preset.name)),
    );
    chooser.value = chosen;
    choice.hidden = !presets.length;
    deleteButton.hidden = !chosen;
  };
  chooser.addEventListener("change", () => {
    const preset = presets.find((entry) => entry.name === chooser.value);
    deleteButton.hidden = !preset;
    name.value = preset?.name ?? "";
    if (preset) form.fill(preset.options);
  });
  const path = (title) => `/api/presets/${encodeURIComponent(title)}`;
  const save = () =>
    attempt(async () => {
      const title = name.value.trim();
      if (!title) return name.focus();
      await api(path(title), { method: "PUT", body: form.read() });
      ({ presets } = await api("/api/presets"));
      show(title);
      toast(_("Saved as “{name}”.", { name: title }));
    });
  deleteButton.addEventListener("click", () =>
    attempt(async () => {
      const title = chooser.value;
      if (
        !(await confirmAction(
          _("Delete this preset?"),
          _("“{name}” goes. Chats that have its options keep them.", { name: title }),
        ))
      ) return;
      await api(path(title), { method: "DELETE" });
      ({ presets } = await api("/api/presets"));
      show();
      chooser.focus();
    }));
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    save();
  });
  show();
  const saving = el(
    "div",
    { class: "presets last" },
    el("label", { class: "grow" }, _("Name for these options"), name),
    el("button", { type: "button", onclick: save }, _("Save as preset")),
  );
  return { choice, saving };
}
