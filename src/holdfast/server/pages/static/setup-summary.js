// What came of the set-up, read from where it is kept, with the way back to each step.
import { _, api, byId, el, formatNumber, ngettext } from "./core.js";

export function createSummaryStep(open) {
  const renderRow = (label, step, ...content) =>
    el(
      "div",
      { class: "chosen" },
      el("div", { class: "grow" }, el("h3", {}, label), ...content),
      el("button", {
        type: "button",
        class: "quiet",
        "aria-label": _("Change: {step}", { step: label }),
        onclick: () => open(step),
      }, _("Change")),
    );

  return {
    async show() {
      const place = byId("summary");
      place.replaceChildren(el("p", { class: "faint" }, _("Loading …")));
      const [profile, network, models, upstreams] = await Promise.all([
        api("/api/memory/profile").catch(() => null),
        api("/api/system/network"),
        api("/api/models/installed").catch(() => ({ models: [] })),
        api("/api/upstreams"),
      ]);
      const preview = profile?.text
        ? (await api("/api/memory/profile/preview", {
          method: "POST",
          body: { text: profile.text, window: 8192 },
        })).text
        : "";
      const servers = upstreams.upstreams.filter((state) => state.kind).map((state) =>
        `${state.kind} ${state.location}`
      );
      const firstModels = models.models.slice(0, 6);
      place.replaceChildren(
        renderRow(
          _("What every private conversation begins with"),
          2,
          preview
            ? el("pre", { class: "told", dir: "auto" }, preview)
            : el("p", { class: "faint" }, _("No profile yet.")),
        ),
        renderRow(
          _("Password"),
          3,
          el("p", {}, network.password ? _("Set.") : _("None; not needed on this machine.")),
        ),
        renderRow(
          _("Address"),
          4,
          el("p", {}, network.addresses.join(", ")),
          el(
            "p",
            { class: "faint" },
            servers.join(", ") ||
              _("No model server was found. Until one runs, a small demonstration model answers. Start Ollama, llama.cpp or LM Studio, or name an address in the settings."),
          ),
        ),
        renderRow(
          _("Models and their windows"),
          5,
          firstModels.length
            ? el(
              "ul",
              { class: "plain" },
              firstModels.map((model) =>
                el(
                  "li",
                  { dir: "auto" },
                  `${model.name}: ${ngettext("1 token", "{n} tokens", { n: formatNumber(model.num_ctx) })}`,
                )
              ),
              models.models.length > firstModels.length && el("li", {}, "…"),
            )
            : el(
              "p",
              { class: "faint" },
              _("There is no model yet. Start a model server, or get the small one with `holdfast models get`."),
            ),
        ),
      );
    },
  };
}
