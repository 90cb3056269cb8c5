// The model servers: how each of them is, and a switch for whether memories may be sent to it.
import { api, attempt, byId, el, formatMoment, formatNumber, word } from "./core.js";
import { setDraft, settings, valueOf } from "./settings-state.js";

/** Returns the setting with the switch of one address changed. */
function setGate(text, location, may) {
  const others = text.split(",").map((part) => part.trim()).filter((part) =>
    part && part.slice(0, part.lastIndexOf("=")).trim() !== location
  );
  return [...others, `${location}=${may ? "on" : "off"}`].join(", ");
}

function renderServer(state) {
  const health = state.well === false ? "bad" : state.well ? "good" : "";
  const text = state.well === false
    ? word("server_away")
    : state.well
    ? word("server_well", { n: formatNumber(state.models ?? 0) })
    : word("server_unknown");
  const isFixed = settings.rows.get("memory_gate").read_only;
  const gate = el("input", {
    type: "checkbox",
    role: "switch",
    checked: state.memory,
    disabled: isFixed,
    onchange: () => setDraft("memory_gate", setGate(valueOf("memory_gate"), state.location, gate.checked)),
  });
  return el(
    "li",
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
    state.location.includes("//") && el("label", { class: "gate small" }, gate, word("gate")),
  );
}

export function startServers() {
  async function loadServers() {
    const { upstreams } = await api("/api/upstreams");
    const servers = upstreams.filter((state) => state.kind || state.location);
    byId("upstreams").replaceChildren(
      servers.length
        ? el("ul", { class: "list" }, servers.map(renderServer))
        : el("p", {}, word("no_server")),
    );
  }
  byId("look-again").addEventListener("click", () => attempt(loadServers));
  attempt(loadServers);
}
