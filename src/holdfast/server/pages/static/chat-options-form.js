// The dialog with the options of a chat, and presets of them; loaded when somebody opens it.
import { api, attempt, confirmAction, el, showDialog, toast, word } from "./core.js";

// Numbers that models take: their name, and what a field for them allows.
const numbers = {
  temperature: { min: 0, max: 5, step: 0.05 },
  top_p: { min: 0, max: 1, step: 0.01 },
  top_k: { min: 0, max: 100000, step: 1 },
  min_p: { min: 0, max: 1, step: 0.01 },
  repeat_penalty: { min: 0, max: 10, step: 0.05 },
  max_tokens: { min: 1, max: 10000000, step: 1 },
  seed: { min: 0, max: 9007199254740991, step: 1 },
};

/** Shows options to be changed; returns those to be used from now on, null if the dialog was left. */
export async function askOptions(current) {
  const form = createForm();
  form.fill(current);
  const presets = await createPresets(form);
  const body = [presets.choice, ...form.parts, presets.saving];
  const choice = await showDialog(word("options"), body, [
    { value: "", label: word("cancel") },
    { value: "yes", label: word("save"), kind: "main" },
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
    placeholder: word("system_hint"),
  });
  const fields = new Map(
    Object.entries(numbers).map(([name, limits]) => [
      name,
      el("input", { type: "number", inputmode: "decimal", placeholder: word("as_model"), ...limits }),
    ]),
  );
  const stop = el("input", { dir: "auto", autocomplete: "off", placeholder: word("stop_hint") });
  const think = el(
    "select",
    {},
    el("option", { value: "" }, word("as_model")),
    el("option", { value: "true" }, word("think_on")),
    el("option", { value: "false" }, word("think_off")),
  );
  let hadSystem = false;
  const renderField = (name) => el("label", {}, word(`option_${name}`), fields.get(name));
  const usual = ["temperature", "top_p", "max_tokens"];
  const rest = Object.keys(numbers).filter((name) => !usual.includes(name));
  const more = el(
    "details",
    {},
    el("summary", {}, word("more_options")),
    el(
      "div",
      { class: "option-grid" },
      rest.map(renderField),
      el("label", {}, word("option_think"), think),
      el("label", { class: "whole" }, word("option_stop"), stop),
    ),
  );
  return {
    parts: [
      el("label", { class: "option-system" }, word("option_system"), system),
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
  const deleteButton = el("button", { type: "button", class: "quiet" }, word("delete"));
  const choice = el(
    "div",
    { class: "presets" },
    el("label", { class: "grow" }, word("preset"), chooser),
    deleteButton,
  );
  const show = (chosen = "") => {
    chooser.replaceChildren(
      el("option", { value: "" }, word("choose_preset")),
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
      toast(word("preset_saved", { name: title }));
    });
  deleteButton.addEventListener("click", () =>
    attempt(async () => {
      const title = chooser.value;
      if (!(await confirmAction(word("delete_preset"), word("delete_preset_text", { name: title })))) return;
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
    el("label", { class: "grow" }, word("preset_name"), name),
    el("button", { type: "button", onclick: save }, word("save_preset")),
  );
  return { choice, saving };
}
