// The models one can ask: their list beside the field, and the card that says which server was found.
import { _, api, attempt, byId, el, ngettext } from "./core.js";
import { readStored, store } from "./chat-state.js";

const chooser = byId("model");
const card = byId("connection");
const first = byId("first-model");
const ownServer = byId("own-server");
const second = byId("second");

// Milliseconds until a list of models that did not come, or is empty, is asked for again.
const lookAgain = 5000;
// What model servers call themselves.
const serverNames = { ollama: "Ollama", openai: "OpenAI API", llamacpp: "llama.cpp", lmstudio: "LM Studio" };

// `wanted` is the model of the chat; `isFirstRun` until somebody has chosen or asked something.
let installed = [], hooks = {}, ready = null, timer = 0, wanted = "", hasServer = false;
let isFirstRun = "firstRun" in card.dataset;

/** `onFail(error)` hears that there is no list, `onReply()` that there is one. */
export function startModels(callbacks) {
  hooks = callbacks;
  chooser.addEventListener("change", () => choose(chooser.value));
  first.addEventListener("change", () => choose(first.value));
  second.addEventListener("click", () => attempt(async () => (await import("./chat-second.js")).choose()));
  byId("first-start").addEventListener("click", () => {
    endFirstRun();
    byId("text").focus();
  });
  loadModels();
}

export const currentModel = () => chooser.value;
/** The model that answers beside the chosen one; "" if there is none. */
export const secondModel = () => (second.dataset.model === chooser.value ? "" : second.dataset.model ?? "");
export const listInstalled = () => installed;
/** Resolves when the list is there: somebody may be faster. */
export const waitForModels = () => ready;

/** Loads the list of models, and again for as long as there is none: a server may be started any moment. */
export function loadModels() {
  clearTimeout(timer);
  ready = listModels();
  return ready;
}

async function listModels() {
  try {
    installed = (await api("/api/models/installed")).models;
    hasServer = true;
    hooks.onReply();
  } catch (error) {
    installed = [];
    hasServer = false;
    hooks.onFail(error);
  }
  if (!installed.length) timer = setTimeout(loadModels, lookAgain);
  const renderOptions = () =>
    installed.length
      ? installed.map((entry) =>
        el("option", { value: entry.name, data: { window: entry.num_ctx ?? "" } }, describeModel(entry))
      )
      : [el("option", { value: "" }, _("No models"))];
  for (const select of [chooser, first]) select.replaceChildren(...renderOptions());
  selectModel();
  second.hidden = installed.length < 2;
  showCard();
}

/** The name of a model and the size of its window. */
export function describeModel({ name, num_ctx: window }) {
  if (!window) return name;
  return `${name} · ${window >= 1024 ? `${Math.round(window / 1024)}k` : window}`;
}

/** Whether a model can see pictures; undefined where its server does not say. */
export async function canSee(name) {
  const { capabilities } = await api("/api/show", { method: "POST", body: { model: name } }).catch(
    () => ({}),
  );
  return capabilities?.length ? capabilities.includes("vision") : undefined;
}

/** Chooses the model that a chat was held with; without one, the model that was chosen last. */
export function useModel(name) {
  wanted = name;
  selectModel();
}

function choose(name) {
  store("model", wanted = name);
  selectModel();
  chooser.dispatchEvent(new Event("chosen"));
}

function selectModel() {
  const names = installed.map((entry) => entry.name);
  const name = [wanted, readStored("model")].find((entry) => entry && names.includes(entry));
  if (name) chooser.value = name;
  first.value = chooser.value;
}

/** The card is there until the first question, and whenever no model server answers. */
function showCard() {
  const isDemonstration = installed.length === 1 && installed[0].name.split(":")[0] === "embedded";
  const isMissing = !installed.length;
  const state = isMissing ? (hasServer ? "empty" : "none") : isDemonstration ? "demonstration" : "found";
  card.hidden = state === "found" && !isFirstRun;
  byId("connection-title").textContent = state === "found"
    ? describeServers()
    : isDemonstration
    ? _("Trying the demonstration model")
    : state === "empty"
    ? _("A model server without a model")
    : _("No model server answers yet");
  byId("demonstration").hidden = state !== "demonstration";
  byId("no-server").hidden = state !== "none";
  byId("no-model").hidden = state !== "empty";
  byId("first-choice").hidden = isMissing || !isFirstRun;
  first.parentElement.hidden = installed.length < 2;
  byId("invitations").hidden = !isFirstRun;
  // Who has no server yet may name one right here; whoever closes the fields is left alone.
  ownServer.hidden = state === "found";
  if (state !== "found") addServerForm();
  if (card.dataset.state !== state && state === "none") ownServer.open = true;
  card.dataset.state = state;
}

let hasForm = false;

/** The fields for an address, once they are needed. */
async function addServerForm() {
  if (hasForm) return;
  hasForm = true;
  const { createServerForm } = await import("./server-form.js").catch(() => ({ createServerForm: null }));
  if (createServerForm) ownServer.append(createServerForm(loadModels));
  else hasForm = false;
}

/** "Ollama found, 3 models", a line for each server. */
function describeServers() {
  const servers = new Map();
  for (const { server } of installed) {
    const entry = servers.get(server.location) ?? { kind: server.kind, n: 0 };
    servers.set(server.location, { ...entry, n: entry.n + 1 });
  }
  return [...servers.values()].map(({ kind, n }) =>
    ngettext("{kind} found, 1 model", "{kind} found, {n} models", { kind: serverNames[kind] ?? kind, n })
  ).join(" · ");
}

/** The first run is over: from now on the start page is the chat alone. */
export function endFirstRun() {
  if (!isFirstRun) return;
  isFirstRun = false;
  showCard();
  attempt(() => api("/api/system/setup-complete", { method: "POST", body: { skipped: true } }));
}
