// The model servers: how each of them is, whether memories may be sent to it, its key, adding and removing one.
import { _, api, attempt, byId, confirmAction, el, showDialog } from "./core.js";
import { createServerForm } from "./server-form.js";
import { renderServer } from "./server-row.js";
import { loadSettings, setDraft, settings, valueOf } from "./settings-state.js";

/** Returns the setting with the switch of one address changed. */
function setGate(text, location, may) {
  const others = text.split(",").map((part) => part.trim()).filter((part) =>
    part && part.slice(0, part.lastIndexOf("=")).trim() !== location
  );
  return [...others, `${location}=${may ? "on" : "off"}`].join(", ");
}

/** The setting that names a server; none for one that was only found. */
const nameSetting = (state) =>
  ["upstreams", "upstream"].find((name) => settings.rows.get(name).value?.includes(state.location));

/** A card: the switch for its memories, its key, and removing it. The embedded one is on this machine. */
function renderCard(state, reload) {
  const gate = el("input", {
    type: "checkbox",
    role: "switch",
    checked: state.memory,
    disabled: settings.rows.get("memory_gate").read_only,
    onchange: () => setDraft("memory_gate", setGate(valueOf("memory_gate"), state.location, gate.checked)),
  });
  if (!state.location.includes("//")) return renderServer(state, "li");
  const name = state.name || state.location.replace(/^.*:\/\//, "");
  const setting = nameSetting(state);
  const isFixed = settings.rows.get(setting ?? "upstreams").read_only;
  const createButton = (label, spoken, work) =>
    el(
      "button",
      { type: "button", class: "small", "aria-label": spoken, onclick: () => attempt(work) },
      label,
    );
  return renderServer(
    state,
    "li",
    el(
      "div",
      { class: "server-actions" },
      el("label", { class: "gate small" }, gate, _("memories may be sent to it")),
      !isFixed && createButton(
        _("Key …"),
        _("Key of {name}", { name }),
        () => changeKey(state, name, reload),
      ),
      !isFixed && setting && createButton(
        _("Remove"),
        _("Remove the server {name}", { name }),
        () => removeServer(name, reload),
      ),
    ),
  );
}

async function changeKey(state, name, reload) {
  const key = el("input", { type: "password", autocomplete: "new-password", class: "wide" });
  const choice = await showDialog(
    _("Key of {name}", { name }),
    el("label", {}, el("span", {}, _("Its key; empty takes it away")), key),
    [{ value: "", label: _("Cancel") }, { value: "yes", label: _("Save"), kind: "main" }],
  );
  if (choice !== "yes") return;
  await api("/api/upstreams", { method: "POST", body: { location: state.location, key: key.value.trim() } });
  await reload();
}

async function removeServer(name, reload) {
  const isSure = await confirmAction(
    _("Remove this server?"),
    _("{name} is not asked any more. Its models are not in the list then.", { name }),
    _("Remove"),
  );
  if (!isSure) return;
  await api(`/api/upstreams/${encodeURIComponent(name)}`, { method: "DELETE" });
  await reload();
  byId("server-add").focus();
}

export function startServers() {
  async function loadServers() {
    const { upstreams } = await api("/api/upstreams");
    const servers = upstreams.filter((state) => state.kind || state.location);
    byId("upstreams").replaceChildren(
      servers.length
        ? el("ul", { class: "list" }, servers.map((state) => renderCard(state, reload)))
        : el("p", {}, _("No model server was found; the small model inside answers.")),
    );
  }
  const reload = async () => {
    await loadSettings();
    await loadServers();
  };
  const opener = byId("server-add"), place = byId("server-new");
  opener.addEventListener("click", () => {
    place.hidden = !place.hidden;
    opener.setAttribute("aria-expanded", String(!place.hidden));
    if (place.hidden) return;
    if (!place.firstChild) place.append(createServerForm(() => attempt(reload), true));
    place.querySelector("input").focus();
  });
  byId("look-again").addEventListener("click", () => attempt(loadServers));
  attempt(loadServers);
}
