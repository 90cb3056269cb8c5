// What the settings are, and what somebody has changed of them but not saved. It draws nothing.
import { api } from "./core.js";

export const news = new EventTarget();
export const known = { rows: new Map(), groups: [], restart: {}, wrong: {} };
const drafts = new Map();

const tell = () => news.dispatchEvent(new Event("change"));

export function take(answer) {
  known.rows = new Map(answer.settings.map((row) => [row.name, row]));
  known.groups = answer.groups;
  known.restart = answer.restart;
  known.wrong = {};
  drafts.clear();
  news.dispatchEvent(new Event("taken"));
  tell();
}

/** Notes a change; null takes back what was set on the page. */
export function draft(name, value) {
  if (value !== null && text(value) === text(known.rows.get(name).value)) drafts.delete(name);
  else drafts.set(name, value);
  delete known.wrong[name];
  tell();
}

export const drafted = () => Object.fromEntries(drafts);
export const isDrafted = (name) => drafts.has(name);

/** As it will be when it is saved; what is taken back is what it would be without, as far as that is known here. */
export function valueOf(name) {
  const row = known.rows.get(name);
  if (!drafts.has(name)) return row.value;
  return drafts.get(name) ?? row.default;
}

const text = (value) => (value === null || value === undefined ? "" : String(value));

export async function load() {
  take(await api("/api/settings"));
}

/** Keeps all changes, or none: then what is wrong stands with each. */
export async function save() {
  try {
    take(await api("/api/settings", { method: "PUT", body: drafted() }));
    return true;
  } catch (error) {
    if (!error.told?.wrong) throw error;
    known.wrong = error.told.wrong;
    tell();
    return false;
  }
}

export function discard() {
  drafts.clear();
  known.wrong = {};
  news.dispatchEvent(new Event("taken"));
  tell();
}
