// Whose memory the page shows: one's own, a project's or a group's, as its address says. Knows no route.
import { api, word } from "./core.js";

const asked = new URLSearchParams(location.search);
/** As the address has it; empty means the person's own. */
export const project = asked.get("project") ?? "";
export const here = { project: project || "default", kind: asked.get("kind") === "group" ? "group" : "private" };

/** A header is bytes; what it says is UTF-8. */
const spelled = (text) => String.fromCharCode(...new TextEncoder().encode(text));

export function headersOf({ project: name, kind }) {
  return { "x-holdfast-project": spelled(name), ...(kind === "group" ? { "x-holdfast-kind": "group" } : {}) };
}

/** A REST call in the scope that is shown. */
export function ask(path, { headers = {}, ...options } = {}) {
  return api(path, { ...options, headers: { ...(project || here.kind === "group" ? headersOf(here) : {}), ...headers } });
}

/** Shows another scope. */
export function settle(name, kind) {
  const next = new URLSearchParams();
  if (name !== "default" || kind === "group") next.set("project", name);
  if (kind === "group") next.set("kind", kind);
  location.assign(`${location.pathname}${next.size ? `?${next}` : ""}${location.hash}`);
}

/** What a scope is called. */
export function named(scope) {
  if (scope.kind === "group") return word("group", { name: scope.project });
  return scope.project === "default" ? word("mine") : word("project", { name: scope.project });
}

/** Whose something is, where that is not plain; empty otherwise. */
export function owned(scope) {
  return scope.kind === "group" || scope.project !== "default" || project ? named(scope) : "";
}
