// The model servers: how each of them is, and a switch for whether memories may be sent to it.
import { api, attempt, byId, el, word } from "./core.js";
import { renderServer } from "./server-row.js";
import { setDraft, settings, valueOf } from "./settings-state.js";

/** Returns the setting with the switch of one address changed. */
function setGate(text, location, may) {
  const others = text.split(",").map((part) => part.trim()).filter((part) =>
    part && part.slice(0, part.lastIndexOf("=")).trim() !== location
  );
  return [...others, `${location}=${may ? "on" : "off"}`].join(", ");
}

/** A server with the switch for its memories; the embedded one is on this machine and has none. */
function renderGated(state) {
  const gate = el("input", {
    type: "checkbox",
    role: "switch",
    checked: state.memory,
    disabled: settings.rows.get("memory_gate").read_only,
    onchange: () => setDraft("memory_gate", setGate(valueOf("memory_gate"), state.location, gate.checked)),
  });
  const label = state.location.includes("//") && el("label", { class: "gate small" }, gate, word("gate"));
  return renderServer(state, "li", label);
}

export function startServers() {
  async function loadServers() {
    const { upstreams } = await api("/api/upstreams");
    const servers = upstreams.filter((state) => state.kind || state.location);
    byId("upstreams").replaceChildren(
      servers.length ? el("ul", { class: "list" }, servers.map(renderGated)) : el("p", {}, word("no_server")),
    );
  }
  byId("look-again").addEventListener("click", () => attempt(loadServers));
  attempt(loadServers);
}
