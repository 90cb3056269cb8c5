// Presets, and what one does to a window beside the one in force: bars, and the same in numbers.
import { _, api, byId, debounce, el, formatNumber } from "./core.js";
import { renderMeter } from "./meter.js";
import { describeOrigin } from "./settings-row.js";
import { changes, setDraft, settings, valueOf } from "./settings-state.js";

const WINDOWS = [4096, 8192, 16384, 32768];
const LEVELS = { prune: "1", leave_out: "2", ahead: "3 ahead", summarise: "3" };
const FIGURES = {
  reserve: _("kept for the answer"),
  prune: _("shortens from"),
  leave_out: _("leaves out from"),
  ahead: _("sums up while idle from"),
  summarise: _("sums up at once from"),
};
const SECTIONS = ["profile", "summary", "history", "recalled", "research", "reserve"];

const parseShare = (value) => {
  const text = String(value ?? "").trim();
  if (!text) return null;
  return text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
};

export async function startPresets() {
  const size = byId("preview-window");
  size.replaceChildren(...WINDOWS.map((window) => el("option", { value: window }, formatNumber(window))));
  size.value = "8192";
  const { presets: all } = await api("/api/settings/presets");
  const isFixed = () => settings.rows.get("preset").read_only;

  function showChoices() {
    const trouble = settings.wrong.preset;
    byId("presets").replaceChildren(
      byId("presets").querySelector("legend"),
      ...all.map((preset) => {
        const input = el("input", {
          type: "radio",
          name: "preset",
          value: preset.name,
          checked: valueOf("preset") === preset.name,
          disabled: isFixed(),
          onchange: () => setDraft("preset", preset.name),
        });
        return el(
          "label",
          { class: "preset" },
          input,
          el(
            "span",
            {},
            el("strong", {}, preset.title),
            el("span", { class: "faint small" }, preset.description),
          ),
        );
      }),
      ...renderSource(),
      ...(trouble ? [el("p", { class: "wrong small", role: "alert", lang: "en" }, trouble)] : []),
    );
  }

  function renderSource() {
    const { source, set_by: by, read_only: read } = settings.rows.get("preset");
    return read
      ? [
        el(
          "p",
          { class: "small" },
          el("span", { class: "tag fixed" }, describeOrigin(source, by)),
        ),
      ]
      : [];
  }

  const previewSoon = debounce(async () => {
    const body = { preset: valueOf("preset"), reserve: Number(valueOf("reserve")) || 0 };
    for (const name of ["level_1", "level_2", "level_3_ahead", "level_3"]) {
      body[name] = parseShare(valueOf(name));
    }
    try {
      showPreview(await api("/api/settings/preview", { method: "POST", body }));
    } catch (error) {
      byId("preview").replaceChildren(el("p", { class: "wrong small", lang: "en" }, error.message));
    }
  }, 150);

  function showPreview(reply) {
    const { before, after } = reply.windows.find(({ window }) => window === Number(size.value));
    const same = JSON.stringify(before) === JSON.stringify(after);
    byId("preview").replaceChildren(
      ...(same
        ? [renderBars(_("In force"), before)]
        : [renderBars(_("In force"), before), renderBars(_("With these settings"), after)]),
      renderTable(reply, same),
    );
  }

  function renderBars(label, parts) {
    const window = Number(size.value);
    const marks = Object.entries(LEVELS).filter(([level]) => parts.thresholds[level] !== null).map((
      [level, name],
    ) => [name, parts.thresholds[level]]);
    const report = {
      window,
      tokens: 0,
      reserve: parts.reserve,
      sections: SECTIONS.map((name) => ({ name, tokens: parts[name] })),
      history: { tokens: 0, marks: Object.fromEntries(marks) },
    };
    return el("div", { class: "compared" }, el("h4", {}, label), renderMeter(report));
  }

  function renderTable(reply, same) {
    const rows = [
      ["reserve", (parts) => parts.reserve],
      ...Object.keys(LEVELS).map((level) => [level, (parts) => parts.thresholds[level]]),
    ];
    const renderCell = ({ before, after }, read) => {
      const now = formatTokens(read(before)), next = formatTokens(read(after));
      return el(
        "td",
        {},
        now === next || same ? now : [el("s", { class: "faint" }, now), " ", el("b", {}, next)],
      );
    };
    return el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": _("Before and after in numbers") },
      el(
        "table",
        { class: "figures" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, _("Window (tokens)")),
            reply.windows.map(({ window }) => el("th", { scope: "col" }, formatNumber(window))),
          ),
        ),
        el(
          "tbody",
          {},
          rows.map(([name, read]) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, FIGURES[name]),
              reply.windows.map((window) => renderCell(window, read)),
            )
          ),
        ),
      ),
    );
  }

  const formatTokens = (tokens) => (tokens === null ? "–" : formatNumber(tokens));

  size.addEventListener("change", previewSoon);
  let last = "";
  changes.addEventListener("change", () => {
    const now = JSON.stringify(
      ["preset", "level_1", "level_2", "level_3_ahead", "level_3", "reserve"].map(valueOf).concat(
        settings.wrong.preset ?? "",
      ),
    );
    if (now === last) return;
    last = now;
    // The focused radio button keeps the focus.
    const focused = byId("presets").querySelector("input:focus")?.value;
    showChoices();
    if (focused) byId("presets").querySelector(`input[value="${focused}"]`)?.focus();
    previewSoon();
  });
  showChoices();
  previewSoon();
}
