// Presets, and what one does to a window beside the one in force: bars, and the same in numbers.
import { api, el, later, number, word } from "./core.js";
import { meter } from "./meter.js";
import { draft, known, news, valueOf } from "./settings-state.js";

const byId = (id) => document.getElementById(id);
const WINDOWS = [4096, 8192, 16384, 32768];
const LEVELS = { prune: "1", leave_out: "2", ahead: "3 ahead", summarise: "3" };
const SECTIONS = ["profile", "summary", "history", "recalled", "research", "reserve"];

const share = (value) => {
  const text = String(value ?? "").trim();
  if (!text) return null;
  return text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
};

export async function presets() {
  const size = byId("preview-window");
  size.replaceChildren(...WINDOWS.map((window) => el("option", { value: window }, number(window))));
  size.value = "8192";
  const { presets: all } = await api("/api/settings/presets");
  const fixed = () => known.rows.get("preset").read_only;

  function choices() {
    const trouble = known.wrong.preset;
    byId("presets").replaceChildren(byId("presets").querySelector("legend"), ...all.map((preset) => {
      const input = el("input", { type: "radio", name: "preset", value: preset.name, checked: valueOf("preset") === preset.name, disabled: fixed(), onchange: () => draft("preset", preset.name) });
      return el("label", { class: "preset" }, input, el("span", {}, el("strong", {}, preset.name), el("span", { class: "faint small" }, preset.description)));
    }), ...from(), ...(trouble ? [el("p", { class: "wrong small", role: "alert", lang: "en" }, trouble)] : []));
  }

  function from() {
    const { source, set_by: by, read_only: read } = known.rows.get("preset");
    return read ? [el("p", { class: "small" }, el("span", { class: "tag fixed" }, word(`from_${source.replace(" ", "_")}_by`, { by })))] : [];
  }

  const preview = later(async () => {
    const body = { preset: valueOf("preset"), reserve: Number(valueOf("reserve")) || 0 };
    for (const name of ["level_1", "level_2", "level_3_ahead", "level_3"]) body[name] = share(valueOf(name));
    try {
      show(await api("/api/settings/preview", { method: "POST", body }));
    } catch (error) {
      byId("preview").replaceChildren(el("p", { class: "wrong small", lang: "en" }, error.message));
    }
  }, 150);

  function show(told) {
    const { before, after } = told.windows.find(({ window }) => window === Number(size.value));
    const same = JSON.stringify(before) === JSON.stringify(after);
    byId("preview").replaceChildren(...(same ? [bars(word("in_force"), before)] : [bars(word("in_force"), before), bars(word("would_be"), after)]), table(told, same));
  }

  function bars(label, parts) {
    const window = Number(size.value);
    const named = Object.entries(LEVELS).filter(([level]) => parts.thresholds[level] !== null).map(([level, name]) => [name, parts.thresholds[level]]);
    const report = { window, tokens: 0, reserve: parts.reserve, sections: SECTIONS.map((name) => ({ name, tokens: parts[name] })), history: { tokens: 0, marks: Object.fromEntries(named) } };
    return el("div", { class: "compared" }, el("h4", {}, label), meter(report));
  }

  function table(told, same) {
    const rows = [["reserve", (parts) => parts.reserve], ...Object.keys(LEVELS).map((level) => [level, (parts) => parts.thresholds[level]])];
    const cell = ({ before, after }, read) => {
      const one = spelled(read(before)), other = spelled(read(after));
      return el("td", {}, one === other || same ? one : [el("s", { class: "faint" }, one), " ", el("b", {}, other)]);
    };
    return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": word("preview_table") }, el("table", { class: "figures" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, word("window_tokens")), told.windows.map(({ window }) => el("th", { scope: "col" }, number(window))))),
      el("tbody", {}, rows.map(([name, read]) => el("tr", {}, el("th", { scope: "row" }, word(`figure_${name}`)), told.windows.map((window) => cell(window, read)))))));
  }

  const spelled = (tokens) => (tokens === null ? "–" : number(tokens));

  size.addEventListener("change", preview);
  let last = "";
  news.addEventListener("change", () => {
    const now = JSON.stringify(["preset", "level_1", "level_2", "level_3_ahead", "level_3", "reserve"].map(valueOf).concat(known.wrong.preset ?? ""));
    if (now === last) return;
    last = now;
    // The radio that somebody holds stays theirs.
    const held = document.activeElement?.name === "preset" ? document.activeElement.value : null;
    choices();
    if (held) byId("presets").querySelector(`input[value="${held}"]`)?.focus();
    preview();
  });
  choices();
  preview();
}
