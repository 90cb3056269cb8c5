// The models: what is there, with which window, getting another one. What a window should be is the server's to say.
import { api, attempt, copier, el, number, toast, word } from "./core.js";

// Of Ollama's library: many languages, and small enough to stay beside a chat model.
const EMBEDDER = "embeddinggemma";
const byId = (id) => document.getElementById(id);
const SOURCES = [["set by you", "by_you"], ["the running server", "by_running"], ["the Modelfile", "by_modelfile"], ["the client", "by_client"], ["trained for", "by_training"], ["known of", "by_knowledge"], ["usual for", "by_size"]];

export function sourceOf(text) {
  const known = SOURCES.find(([start]) => text.startsWith(start));
  return known ? word(known[1]) : text;
}

export function modelsStep() {
  async function show() {
    byId("models").replaceChildren(el("p", { class: "faint" }, word("loading")));
    const { models } = await api("/api/models/installed").catch((error) => {
      byId("models").replaceChildren(el("p", { class: "wrong", lang: "en" }, error.message));
      throw error;
    });
    const ollama = models.some((model) => model.server.kind === "ollama") || (await hasOllama());
    byId("models").replaceChildren(...(models.length ? models.map(card) : [el("p", {}, word("no_models"))]));
    byId("pulling").hidden = byId("tuning").hidden = byId("staying").hidden = !ollama;
    const { settings } = await api("/api/settings");
    const value = (name) => settings.find((row) => row.name === name);
    showStay(value("keep_alive"));
    await offerEmbedder(models, value);
  }

  /** A larger embedder is offered where the one inside is used and an Ollama is there that could hold another. */
  async function offerEmbedder(models, value) {
    const { upstreams } = await api("/api/upstreams");
    const server = upstreams.find((state) => state.kind === "ollama");
    const inside = ["auto", "embedded"].includes(value("embedder").value);
    byId("finding").hidden = !server || !value("memory").value || !inside || value("embedder").read_only;
    if (byId("finding").hidden) return;
    const there = models.find((model) => model.name.split(":")[0] === EMBEDDER)?.name;
    const button = byId("use-embedder");
    button.textContent = word(there ? "use_embedder" : "get_embedder", { model: EMBEDDER });
    button.onclick = () => attempt(async () => {
      if (!there && !(await pull(EMBEDDER))) return;
      await api("/api/settings", { method: "PUT", body: { embedder: `ollama+${server.location}`, embedder_model: there ?? EMBEDDER } });
      button.hidden = true;
      byId("embedder-set").textContent = word("embedder_set", { model: EMBEDDER });
    });
  }

  /** What is set where the page cannot change it is shown, and by whom. */
  function showStay(row) {
    // Whoever was quicker than the settings keeps what they typed.
    byId("keep-alive").value ||= row.value ?? "";
    byId("keep-alive").disabled = byId("keep-alive-set").disabled = row.read_only;
    if (row.read_only) byId("keep-alive-told").textContent = word("keep_alive_elsewhere", { where: row.set_by });
  }

  async function hasOllama() {
    const { upstreams } = await api("/api/upstreams");
    return upstreams.some((state) => state.kind === "ollama");
  }

  function card(model) {
    const made = el("article", { class: "model" });
    const input = el("input", { type: "number", min: 512, step: 512, value: model.num_ctx, inputmode: "numeric", "aria-label": word("window_of", { model: model.name }) });
    const set = (tokens) => attempt(async () => {
      const told = await api(`/api/models/${model.name.split("/").map(encodeURIComponent).join("/")}`, { method: "PUT", body: { num_ctx: tokens } });
      toast(word("window_set", { model: model.name, n: number(told.num_ctx) }));
      const next = card(told);
      made.replaceWith(next);
      next.querySelector("button")?.focus();
    });
    // Enter in the field sets the window, and does not leave the step.
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      set(Number(input.value));
    });
    const mine = model.num_ctx_source === "set by you";
    made.append(
      el("div", { class: "model-head" }, el("strong", { dir: "auto" }, model.name), el("span", { class: "faint small" }, [model.parameter_size, model.server.kind].filter(Boolean).join(" · "))),
      el("p", { class: "model-window" }, word("window_now"), " ", el("b", {}, number(model.num_ctx)), " ", el("span", { class: "faint small" }, `(${sourceOf(model.num_ctx_source)})`),
        el("span", { class: "faint small" }, [
          model.context_window && word("trained", { n: number(model.context_window) }),
          word("recommended", { n: number(model.recommended_ctx) }),
        ].filter(Boolean).map((text) => ` · ${text}`).join(""))),
      model.fixed ? el("p", { class: "faint small" }, word("window_fixed")) : el("div", { class: "row" },
        model.num_ctx !== model.recommended_ctx && el("button", { type: "button", class: "main", onclick: () => set(model.recommended_ctx) }, word("use_recommended", { n: number(model.recommended_ctx) })),
        input, el("button", { type: "button", onclick: () => set(Number(input.value)) }, word("set_window")),
        mine && el("button", { type: "button", class: "quiet", onclick: () => set(0) }, word("leave_window"))));
    return made;
  }

  let stopping = null;

  /** Has the server get a model, and says whether it is there. */
  async function pull(name) {
    if (!name || stopping) return false;
    stopping = new AbortController();
    byId("pull-progress").hidden = byId("pull-stop").hidden = false;
    byId("pull").disabled = true;
    try {
      const response = await api("/api/pull", { method: "POST", body: { model: name }, raw: true, signal: stopping.signal });
      await follow(response, name);
      toast(word("pulled", { model: name }));
      byId("pull-name").value = "";
      await show();
      return true;
    } catch (error) {
      if (error.name !== "AbortError") toast(word("failed", { why: error.message }), "error");
      return false;
    } finally {
      stopping = null;
      byId("pull-progress").hidden = byId("pull-stop").hidden = true;
      byId("pull").disabled = false;
    }
  }

  /** One line of JSON after the other, as Ollama tells how far it is. */
  async function follow(response, name) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop();
      for (const line of lines.filter((text) => text.trim())) told(JSON.parse(line), name);
      if (done) return;
    }
  }

  function told(line, name) {
    if (line.error) throw new Error(line.error);
    const share = line.total ? (100 * (line.completed ?? 0)) / line.total : null;
    byId("pull-text").textContent = `${name}: ${line.status ?? ""}${share === null ? "" : ` ${number(Math.floor(share))} %`}`;
    if (share === null) byId("pull-bar").removeAttribute("value");
    else byId("pull-bar").value = share;
  }

  const typed = () => pull(byId("pull-name").value.trim());
  byId("pull").addEventListener("click", () => attempt(typed));
  byId("pull-stop").addEventListener("click", () => stopping?.abort());
  byId("pull-name").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    attempt(typed);
  });
  const stay = async () => {
    await api("/api/settings", { method: "PUT", body: { keep_alive: byId("keep-alive").value.trim() || null } });
    byId("keep-alive-told").textContent = word("keep_alive_kept");
  };
  byId("keep-alive-set").addEventListener("click", () => attempt(stay));
  byId("keep-alive").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    attempt(stay);
  });
  const lines = [...document.querySelectorAll(".tuning code")].map((code) => code.textContent).join("\n");
  byId("tuning-copy").replaceChildren(copier(lines));

  return { show };
}
