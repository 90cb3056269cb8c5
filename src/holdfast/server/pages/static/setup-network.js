// The network: which model servers were found, where we listen, and what other programs have to be told.
import { createServerForm } from "./server-form.js";
import { renderServer } from "./server-row.js";
import { _, api, attempt, byId, createCopyButton, el } from "./core.js";

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
    byId("servers").replaceChildren(el("p", { class: "faint" }, _("Looking for model servers …")));
    const { upstreams } = await api("/api/upstreams").catch((error) => {
      byId("servers").replaceChildren(el("p", { class: "wrong", lang: "en" }, error.message));
      throw error;
    });
    const servers = upstreams.filter((state) => state.kind || state.location);
    byId("servers").replaceChildren(
      ...(servers.length ? servers.map((state) => renderServer(state, "div")) : [
        el(
          "p",
          {},
          _("No model server was found. Until one runs, a small demonstration model answers. Start Ollama, llama.cpp or LM Studio, or name an address in the settings."),
          " ",
          el("a", { href: "/settings#servers" }, _("To the settings")),
        ),
      ]),
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
        el(
          "p",
          { class: "faint small" },
          network.only_here
            ? _("Only programs on this machine reach it.")
            : _("Other devices reach it, too, and need a key or the password."),
        ),
      );
      byId("pastes").replaceChildren(
        renderPaste(_("Ollama clients"), `OLLAMA_HOST=${base}`),
        renderPaste(_("OpenAI base URL"), `${base}/v1`),
        renderPaste(_("Anthropic clients"), `ANTHROPIC_BASE_URL=${base}`),
        el(
          "p",
          { class: "faint small" },
          network.key_needed
            ? _("Programs need a key: make one under Settings ▸ Access.")
            : _("No key is needed on this machine; programs that insist on one may send any word."),
        ),
      );
      byId("docker").replaceChildren(renderPaste("", "holdfast serve --for-docker"));
      await loadServers();
    },
  };
}
