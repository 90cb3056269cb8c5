// Printing: a few messages of a long conversation are on the page, but all of them belong on paper.
import { byId, el } from "./core.js";
import { renderAll } from "./chat-messages.js";
import { chatPath, state } from "./chat-state.js";

const portion = 500;

/** Loads the whole conversation. A browser that prints waits for nothing, so this waits for the server. */
function loadAll() {
  const entries = [];
  let before = "";
  do {
    const request = new XMLHttpRequest();
    request.open("GET", chatPath(`/messages?limit=${portion}&html=true${before}`), false);
    request.setRequestHeader("x-holdfast-kind", state.kind);
    request.send();
    if (request.status !== 200) return [];
    const reply = JSON.parse(request.responseText);
    entries.unshift(...renderAll(reply));
    before = reply.next ? `&before=${encodeURIComponent(reply.next)}` : "";
  } while (before);
  return entries;
}

export function startPrinting() {
  addEventListener("beforeprint", () => {
    const entries = state.conversation ? loadAll() : [];
    if (entries.length) byId("messages").after(el("div", { class: "messages", id: "paper" }, entries));
  });
  addEventListener("afterprint", () => byId("paper")?.remove());
}
