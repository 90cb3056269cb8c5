// The model servers: how each of them is, and a switch for whether memories may be sent to it. Knows one setting.
import { api, attempt, el, moment, number, word } from "./core.js";
import { draft, known, valueOf } from "./settings-state.js";

const byId = (id) => document.getElementById(id);

/** The setting with another word for one address. */
function said(text, location, may) {
  const others = text.split(",").map((part) => part.trim()).filter((part) => part && part.slice(0, part.lastIndexOf("=")).trim() !== location);
  return [...others, `${location}=${may ? "on" : "off"}`].join(", ");
}

function server(state) {
  const how = state.well === false ? "bad" : state.well ? "good" : "";
  const health = state.well === false ? word("server_away") : state.well ? word("server_well", { n: number(state.models ?? 0) }) : word("server_unknown");
  const fixed = known.rows.get("memory_gate").read_only;
  const gate = el("input", { type: "checkbox", role: "switch", checked: state.memory, disabled: fixed, onchange: () => draft("memory_gate", said(valueOf("memory_gate"), state.location, gate.checked)) });
  return el("li", { class: "server" }, el("span", { class: `light ${how}`, "aria-hidden": "true" }),
    el("div", { class: "grow" }, el("strong", { dir: "auto" }, state.kind ?? state.name), " ", el("code", {}, state.location || "–"),
      el("div", { class: "faint small" }, health, state.last_seen ? ` · ${word("server_seen", { at: moment(state.last_seen) })}` : ""),
      state.error && el("div", { class: "wrong small", lang: "en" }, state.error)),
    state.location.includes("//") && el("label", { class: "gate small" }, gate, word("gate")));
}

export function servers() {
  async function look() {
    const { upstreams } = await api("/api/upstreams");
    const found = upstreams.filter((state) => state.kind || state.location);
    byId("upstreams").replaceChildren(found.length ? el("ul", { class: "list" }, found.map(server)) : el("p", {}, word("no_server")));
  }
  byId("look-again").addEventListener("click", () => attempt(look));
  attempt(look);
}
