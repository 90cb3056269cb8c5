// What came of the set-up, read from where it is kept, with the way back to each step.
import { api, byId, el, formatNumber, word } from "./core.js";

export function createSummaryStep(open) {
  const renderRow = (label, step, ...content) =>
    el(
      "div",
      { class: "chosen" },
      el("div", { class: "grow" }, el("h3", {}, label), ...content),
      el("button", {
        type: "button",
        class: "quiet",
        "aria-label": word("change_step", { step: label }),
        onclick: () => open(step),
      }, word("change")),
    );

  return {
    async show() {
      const place = byId("summary");
      place.replaceChildren(el("p", { class: "faint" }, word("loading")));
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
          word("sum_profile"),
          2,
          preview
            ? el("pre", { class: "told", dir: "auto" }, preview)
            : el("p", { class: "faint" }, word("sum_no_profile")),
        ),
        renderRow(
          word("sum_password"),
          3,
          el("p", {}, word(network.password ? "sum_has_password" : "sum_no_password")),
        ),
        renderRow(
          word("sum_network"),
          4,
          el("p", {}, network.addresses.join(", ")),
          el("p", { class: "faint" }, servers.join(", ") || word("no_server")),
        ),
        renderRow(
          word("sum_models"),
          5,
          firstModels.length
            ? el(
              "ul",
              { class: "plain" },
              firstModels.map((model) =>
                el(
                  "li",
                  { dir: "auto" },
                  `${model.name}: ${word("tokens", { n: formatNumber(model.num_ctx) })}`,
                )
              ),
              models.models.length > firstModels.length && el("li", {}, "…"),
            )
            : el("p", { class: "faint" }, word("no_models")),
        ),
      );
    },
  };
}
