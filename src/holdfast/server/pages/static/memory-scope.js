// Whose memory the page shows: one's own, a project's or a group's, as its address says.
import { _, api } from "./core.js";

const query = new URLSearchParams(location.search);
/** As the address has it; empty means the person's own. */
export const project = query.get("project") ?? "";
export const scope = {
  project: project || "default",
  kind: query.get("kind") === "group" ? "group" : "private",
};

/** Encodes a text for a header, whose bytes are UTF-8. */
const encodeHeader = (text) => String.fromCharCode(...new TextEncoder().encode(text));

export function scopeHeaders({ project: name, kind }) {
  return {
    "x-holdfast-project": encodeHeader(name),
    ...(kind === "group" ? { "x-holdfast-kind": "group" } : {}),
  };
}

/**
 * Calls the REST API in the scope that is shown.
 * @param {string} path
 * @param {import("./core.js").RequestOptions} options
 */
export function ask(path, { headers = {}, ...options } = {}) {
  return api(path, {
    ...options,
    headers: { ...(project || scope.kind === "group" ? scopeHeaders(scope) : {}), ...headers },
  });
}

/** Shows another scope. */
export function switchScope(name, kind) {
  const next = new URLSearchParams();
  if (name !== "default" || kind === "group") next.set("project", name);
  if (kind === "group") next.set("kind", kind);
  location.assign(`${location.pathname}${next.size ? `?${next}` : ""}${location.hash}`);
}

/** Returns the name of a scope. */
export function nameScope(scope) {
  if (scope.kind === "group") return _("Group {name}", { name: scope.project });
  return scope.project === "default" ? _("Personal") : _("Project {name}", { name: scope.project });
}

/** Names the owner where it is not plain; empty otherwise. */
export function nameOwner(scope) {
  return scope.kind === "group" || scope.project !== "default" || project ? nameScope(scope) : "";
}
