// A model server in a list: whether it answers, what it is and where, and its last error.
import { el, formatMoment, formatNumber, word } from "./core.js";

/** Returns the row as an element `tag`; `controls` stand at its end. */
export function renderServer(state, tag, ...controls) {
  const health = state.well === false ? "bad" : state.well ? "good" : "";
  const text = state.well === false
    ? word("server_away")
    : state.well
    ? word("server_well", { n: formatNumber(state.models ?? 0) })
    : word("server_unknown");
  return el(
    tag,
    { class: "server" },
    el("span", { class: `light ${health}`, "aria-hidden": "true" }),
    el(
      "div",
      { class: "grow" },
      el("strong", { dir: "auto" }, state.kind ?? state.name),
      " ",
      el("code", {}, state.location || "–"),
      el(
        "div",
        { class: "faint small" },
        text,
        state.last_seen ? ` · ${word("server_seen", { at: formatMoment(state.last_seen) })}` : "",
      ),
      state.error && el("div", { class: "wrong small", lang: "en" }, state.error),
    ),
    ...controls,
  );
}
