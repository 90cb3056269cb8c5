// The network: which model servers were found, where we listen, and what other programs have to be told.
import { api, attempt, copier, el, number, word } from "./core.js";

const byId = (id) => document.getElementById(id);

/** A line to paste, with what it is for. */
export function paste(label, text) {
  return el("div", { class: "paste" }, label && el("span", { class: "faint small" }, label), el("code", {}, text), copier(text));
}

export function server(state) {
  const how = state.well === false ? "bad" : state.well ? "good" : "";
  return el("div", { class: "server" }, el("span", { class: `light ${how}`, "aria-hidden": "true" }),
    el("div", { class: "grow" }, el("strong", { dir: "auto" }, state.kind ?? state.name), " ", el("code", {}, state.location || "–"),
      el("div", { class: "faint small" }, state.well === false ? word("server_away") : state.well ? word("server_well", { n: number(state.models ?? 0) }) : word("server_unknown"),
        state.error ? el("span", { lang: "en" }, ` ${state.error}`) : null)));
}

export function networkStep() {
  async function look() {
    byId("servers").replaceChildren(el("p", { class: "faint" }, word("looking")));
    const { upstreams } = await api("/api/upstreams").catch((error) => {
      byId("servers").replaceChildren(el("p", { class: "wrong", lang: "en" }, error.message));
      throw error;
    });
    const found = upstreams.filter((state) => state.kind || state.location);
    byId("servers").replaceChildren(...(found.length ? found.map(server) : [el("p", {}, word("no_server"), " ", el("a", { href: "/settings#servers" }, word("to_settings")))]));
  }

  byId("look-again").addEventListener("click", () => attempt(look));

  return {
    async show() {
      const network = await api("/api/system/network");
      const [base] = network.addresses;
      byId("listening").replaceChildren(...network.addresses.map((address) => paste("", address)),
        el("p", { class: "faint small" }, word(network.only_here ? "only_here" : "others_too")));
      byId("pastes").replaceChildren(paste(word("for_ollama"), `OLLAMA_HOST=${base}`), paste(word("for_openai"), `${base}/v1`),
        paste(word("for_anthropic"), `ANTHROPIC_BASE_URL=${base}`),
        el("p", { class: "faint small" }, word(network.key_needed ? "key_needed" : "no_key_needed")));
      byId("docker").replaceChildren(paste("", "holdfast serve --for-docker"));
      await look();
    },
  };
}
