// The network: which model servers were found, where we listen, and what other programs have to be told.
import { createServerForm } from "./server-form.js";
import { renderServer } from "./server-row.js";
import { api, attempt, byId, createCopyButton, el, word } from "./core.js";

/** A line to paste, with what it is for. */
export function renderPaste(label, text) {
  return el(
    "div",
    { class: "paste" },
    label && el("span", { class: "faint small" }, label),
    el("code", {}, text),
    createCopyButton(text),
  );
}

export function createNetworkStep() {
  async function loadServers() {
    byId("servers").replaceChildren(el("p", { class: "faint" }, word("looking")));
    const { upstreams } = await api("/api/upstreams").catch((error) => {
      byId("servers").replaceChildren(el("p", { class: "wrong", lang: "en" }, error.message));
      throw error;
    });
    const servers = upstreams.filter((state) => state.kind || state.location);
    byId("servers").replaceChildren(
      ...(servers.length
        ? servers.map((state) => renderServer(state, "div"))
        : [el("p", {}, word("no_server"), " ", el("a", { href: "/settings#servers" }, word("to_settings")))]),
    );
    // Who has no server that answers is asked for one.
    if (!servers.some((state) => state.well)) byId("own-server").open = true;
  }

  byId("look-again").addEventListener("click", () => attempt(loadServers));
  byId("own-server").append(createServerForm(() => attempt(loadServers)));

  return {
    async show() {
      const network = await api("/api/system/network");
      const [base] = network.addresses;
      byId("listening").replaceChildren(
        ...network.addresses.map((address) => renderPaste("", address)),
        el("p", { class: "faint small" }, word(network.only_here ? "only_here" : "others_too")),
      );
      byId("pastes").replaceChildren(
        renderPaste(word("for_ollama"), `OLLAMA_HOST=${base}`),
        renderPaste(word("for_openai"), `${base}/v1`),
        renderPaste(word("for_anthropic"), `ANTHROPIC_BASE_URL=${base}`),
        el("p", { class: "faint small" }, word(network.key_needed ? "key_needed" : "no_key_needed")),
      );
      byId("docker").replaceChildren(renderPaste("", "holdfast serve --for-docker"));
      await loadServers();
    },
  };
}
