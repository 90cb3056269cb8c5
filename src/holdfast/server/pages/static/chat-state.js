// What the parts of the chat page share: which conversation is open, in whose scope, and calls in that scope.
import { api, byId, streamEvents } from "./core.js";

/** The conversation that is open ("" is a new one), private or of a group, and what is known of it. */
export const state = {
  conversation: "",
  kind: readStored("kind") === "group" ? "group" : "private",
  chat: null,
  /** The project whose conversations are listed and where new ones begin; "" is every one. */
  project: readStored("project"),
  /** @type {Set<string>} conversations that are about to be deleted and are not shown any more */
  deleted: new Set(),
};

const addScope = (options = {}) => ({
  ...options,
  headers: { ...options.headers, "x-holdfast-kind": state.kind },
});

/** A REST call in the scope that is open. */
export const call = (path, options) => api(path, addScope(options));

/** Server-sent events in the scope that is open. */
export const stream = (path, options) => streamEvents(path, addScope(options));

/** The address of the open conversation, or of something below it. */
export const chatPath = (rest = "") => `/api/chats/${encodeURIComponent(state.conversation)}${rest}`;

/** The part of an address that names the chosen project; groups have none. */
export const projectQuery = () =>
  state.project && state.kind === "private" ? `&project=${encodeURIComponent(state.project)}` : "";

/** What this browser keeps of a person's choices, or this tab alone. Where it may keep nothing, there is nothing. */
export function readStored(name, tab = false) {
  try {
    return (tab ? sessionStorage : localStorage).getItem(`holdfast_${name}`) ?? "";
  } catch {
    return "";
  }
}

export function store(name, value, tab = false) {
  try {
    (tab ? sessionStorage : localStorage).setItem(`holdfast_${name}`, value);
  } catch { /* a browser that keeps nothing forgets the choice */ }
}

/** Says something to those who cannot see it. */
export function announce(text) {
  byId("said").textContent = text;
}
