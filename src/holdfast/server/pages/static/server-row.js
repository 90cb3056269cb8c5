// A model server in a list: whether it answers, what it is and where, and its last error.
import { _, el, formatMoment, formatNumber, ngettext } from "./core.js";

/** Returns the row as an element `tag`; `controls` stand at its end. */
export function renderServer(state, tag, ...controls) {
  const health = state.well === false ? "bad" : state.well ? "good" : "";
  const text = state.well === false
    ? _("Does not answer")
    : state.well
    ? ngettext("Answers, 1 model", "Answers, {n} models", { n: formatNumber(state.models ?? 0) })
    : _("Not asked yet");
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
        state.last_seen ? ` · ${_("last heard of {at}", { at: formatMoment(state.last_seen) })}` : "",
      ),
      state.error && el("div", { class: "wrong small", lang: "en" }, state.error),
    ),
    ...controls,
  );
}
