// What the settings are, and what somebody has changed of them but not saved.
import { api } from "./core.js";

export const changes = new EventTarget();
export const settings = { rows: new Map(), groups: [], restart: {}, wrong: {} };
const drafts = new Map();

const notify = () => changes.dispatchEvent(new Event("change"));

export function takeAnswer(answer) {
  settings.rows = new Map(answer.settings.map((row) => [row.name, row]));
  settings.groups = answer.groups;
  settings.restart = answer.restart;
  settings.wrong = {};
  drafts.clear();
  changes.dispatchEvent(new Event("taken"));
  notify();
}

/** Records a change; null removes what was set on the page. */
export function setDraft(name, value) {
  if (value !== null && toText(value) === toText(settings.rows.get(name).value)) drafts.delete(name);
  else drafts.set(name, value);
  delete settings.wrong[name];
  notify();
}

export const getDrafts = () => Object.fromEntries(drafts);
export const hasDraft = (name) => drafts.has(name);

/** As it will be when it is saved; what is taken back is what it would be without, as far as that is known here. */
export function valueOf(name) {
  const row = settings.rows.get(name);
  if (!drafts.has(name)) return row.value;
  return drafts.get(name) ?? row.default;
}

const toText = (value) => (value === null || value === undefined ? "" : String(value));

export async function loadSettings() {
  takeAnswer(await api("/api/settings"));
}

/** Saves all changes or none; if none, errors are shown with their settings. */
export async function saveSettings() {
  try {
    takeAnswer(await api("/api/settings", { method: "PUT", body: getDrafts() }));
    return true;
  } catch (error) {
    if (!error.answer?.wrong) throw error;
    settings.wrong = error.answer.wrong;
    notify();
    return false;
  }
}

export function discardDrafts() {
  drafts.clear();
  settings.wrong = {};
  changes.dispatchEvent(new Event("taken"));
  notify();
}
