// The models: what is there, with which window, getting another one and deleting one, and which suit this machine.
// What a window should be is the server's to say.
import {
  _,
  api,
  attempt,
  byId,
  confirmAction,
  createCopyButton,
  createIconButton,
  el,
  formatNumber,
  groupBy,
  pgettext,
  queryAll,
  toast,
} from "./core.js";

const SOURCES = [
  ["set by you", pgettext("page", "set by you")],
  ["the running server", _("as it runs")],
  ["the Modelfile", _("from its Modelfile")],
  ["the client", _("as a client asked")],
  ["trained for", pgettext("page", "trained for no more")],
  ["known of", _("usual for this family")],
  ["usual for", _("usual for its size")],
];

export function describeSource(text) {
  const match = SOURCES.find(([start]) => text.startsWith(start));
  return match ? match[1] : text;
}

export function createModelsStep() {
  async function showModels() {
    byId("models").replaceChildren(el("p", { class: "faint" }, _("Loading …")));
    const { models } = await api("/api/models/installed").catch((error) => {
      byId("models").replaceChildren(el("p", { class: "wrong", lang: "en" }, error.message));
      throw error;
    });
    const ollama = models.some((model) => model.server.kind === "ollama") || (await hasOllama());
    byId("models").replaceChildren(
      ...(models.length ? groupByServer(models) : [
        el(
          "p",
          {},
          _("There is no model yet. Start a model server, or get the small one with `holdfast models get`."),
        ),
      ]),
    );
    byId("pulling").hidden = byId("tuning").hidden = byId("staying").hidden = !ollama;
    const { settings } = await api("/api/settings");
    const findSetting = (name) => settings.find((row) => row.name === name);
    showKeepAlive(findSetting("keep_alive"));
    const recommended = await api("/api/models/recommended");
    showRecommended(recommended, models);
    await offerEmbedder(models, findSetting, recommended.embedder);
  }

  /** The models below their servers, where there are several. */
  function groupByServer(models) {
    const servers = groupBy(models, (model) => `${model.server.kind} · ${model.server.location}`);
    return [...servers].flatMap(([server, members]) => [
      servers.size > 1 && el("h3", { class: "model-server" }, server),
      ...members.map(renderModel),
    ]).filter(Boolean);
  }

  /** What of Ollama's library suits the memory of this machine, to be got with a click. */
  function showRecommended({ models: suited, memory_gb: memory, here }, installed) {
    const names = new Set(installed.map((model) => model.name));
    byId("recommended").hidden = !suited.length;
    byId("recommended").replaceChildren(
      ...suited.map((model) =>
        el(
          "li",
          {},
          el("strong", {}, model.name),
          el("p", { class: "faint small" }, model.good_for),
          el("span", { class: "faint small" }, _("{n} GB", { n: formatNumber(model.gigabytes) })),
          names.has(model.name) ? el("span", { class: "tag good" }, _("Installed")) : el("button", {
            type: "button",
            onclick: () => attempt(() => pullModel(model.name)),
          }, _("Get {model}", { model: model.name })),
        )
      ),
    );
    byId("recommended-for").textContent = memory && here
      ? _("Good for this machine with {n} GB of memory:", { n: formatNumber(Math.round(memory)) })
      : _("Good to begin with:");
  }

  async function deleteModel(model) {
    const isSure = await confirmAction(
      _("Delete this model?"),
      _("{model} is deleted from its server. It can be got again.", { model: model.name }),
    );
    if (!isSure) return;
    await api("/api/delete", { method: "DELETE", body: { model: model.name }, raw: true });
    toast(_("{model} is deleted.", { model: model.name }));
    await showModels();
    byId("pull-name").focus();
  }

  /** A larger embedder is offered where the one inside is used and an Ollama is there that could hold another. */
  async function offerEmbedder(models, value, embedder) {
    const { upstreams } = await api("/api/upstreams");
    const server = upstreams.find((state) => state.kind === "ollama");
    const inside = ["auto", "embedded"].includes(value("embedder").value);
    byId("finding").hidden = !server || !value("memory").value || !inside || value("embedder").read_only;
    if (byId("finding").hidden) return;
    const installed = models.find((model) => model.name.split(":")[0] === embedder)?.name;
    const button = byId("use-embedder");
    button.textContent = installed
      ? _("Use {model}", { model: embedder })
      : _("Get {model} and use it", { model: embedder });
    button.onclick = () =>
      attempt(async () => {
        if (!installed && !(await pullModel(embedder))) return;
        await api("/api/settings", {
          method: "PUT",
          body: { embedder: `ollama+${server.location}`, embedder_model: installed ?? embedder },
        });
        button.hidden = true;
        byId("embedder-set").textContent = _(
          "{model} is used after the next start; all vectors are then made again in the background.",
          { model: embedder },
        );
      });
  }

  /** Shows how long models stay loaded, and who set it if the page cannot change it. */
  function showKeepAlive(row) {
    // Whoever was quicker than the settings keeps what they typed.
    byId("keep-alive").value ||= row.value ?? "";
    byId("keep-alive").disabled = byId("keep-alive-set").disabled = row.read_only;
    if (row.read_only) {
      byId("keep-alive-told").textContent = _("Set by {where}.", { where: row.set_by });
    }
  }

  async function hasOllama() {
    const { upstreams } = await api("/api/upstreams");
    return upstreams.some((state) => state.kind === "ollama");
  }

  function renderModel(model) {
    const element = el("article", { class: "model" });
    const input = el("input", {
      type: "number",
      min: 512,
      step: 512,
      value: model.num_ctx,
      inputmode: "numeric",
      "aria-label": _("Window of {model} in tokens", { model: model.name }),
    });
    const setWindow = (tokens) =>
      attempt(async () => {
        const saved = await api(`/api/models/${model.name.split("/").map(encodeURIComponent).join("/")}`, {
          method: "PUT",
          body: { num_ctx: tokens },
        });
        toast(
          _("{model} now has a window of {n} tokens.", { model: model.name, n: formatNumber(saved.num_ctx) }),
        );
        const next = renderModel(saved);
        element.replaceWith(next);
        next.querySelector("button")?.focus();
      });
    // Enter in the field sets the window, and does not leave the step.
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      setWindow(Number(input.value));
    });
    const isOwn = model.num_ctx_source === "set by you";
    element.append(
      el(
        "div",
        { class: "model-head" },
        el("strong", { dir: "auto" }, model.name),
        el(
          "span",
          { class: "faint small" },
          [
            model.parameter_size,
            model.size > 5e7 && _("{n} GB", { n: formatNumber(Math.round(model.size / 1e8) / 10) }),
            model.server.kind,
          ].filter(Boolean).join(" · "),
        ),
        el("span", { class: "grow" }),
        model.server.kind === "ollama" &&
          createIconButton(
            "trash-2",
            _("Delete {model} from the server", { model: model.name }),
            () => attempt(() => deleteModel(model)),
          ),
      ),
      el(
        "p",
        { class: "model-window" },
        _("Window in use:"),
        " ",
        el("b", {}, formatNumber(model.num_ctx)),
        " ",
        el("span", { class: "faint small" }, `(${describeSource(model.num_ctx_source)})`),
        el(
          "span",
          { class: "faint small" },
          [
            model.running_ctx && model.running_ctx !== model.num_ctx &&
            _("runs with {n} now", { n: formatNumber(model.running_ctx) }),
            model.context_window && _("trained for {n}", { n: formatNumber(model.context_window) }),
            _("recommended {n}", { n: formatNumber(model.recommended_ctx) }),
          ].filter(Boolean).map((text) => ` · ${text}`).join(""),
        ),
      ),
      model.fixed
        ? el("p", { class: "faint small" }, _("This server decides its window when it starts."))
        : el(
          "div",
          { class: "row" },
          model.num_ctx !== model.recommended_ctx &&
            el("button", {
              type: "button",
              onclick: () => setWindow(model.recommended_ctx),
            }, _("Use the recommended {n}", { n: formatNumber(model.recommended_ctx) })),
          input,
          el("button", { type: "button", onclick: () => setWindow(Number(input.value)) }, _("Set")),
          isOwn && el("button", {
            type: "button",
            class: "quiet",
            onclick: () => setWindow(0),
          }, _("Leave it to Holdfast")),
        ),
    );
    return element;
  }

  let stopper = null;

  /** Downloads a model on the server; returns whether it succeeded. */
  async function pullModel(name) {
    if (!name || stopper) return false;
    stopper = new AbortController();
    byId("pull-progress").hidden = byId("pull-stop").hidden = false;
    byId("pull").disabled = true;
    try {
      const response = await api("/api/pull", {
        method: "POST",
        body: { model: name },
        raw: true,
        signal: stopper.signal,
      });
      await followPull(response, name);
      toast(_("{model} is here.", { model: name }));
      byId("pull-name").value = "";
      await showModels();
      return true;
    } catch (error) {
      if (error.name !== "AbortError") toast(_("That did not work: {why}", { why: error.message }), "error");
      return false;
    } finally {
      stopper = null;
      byId("pull-progress").hidden = byId("pull-stop").hidden = true;
      byId("pull").disabled = false;
    }
  }

  /** One line of JSON after the other, as Ollama tells how far it is. */
  async function followPull(response, name) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop();
      for (const line of lines.filter((text) => text.trim())) showProgress(JSON.parse(line), name);
      if (done) return;
    }
  }

  function showProgress(line, name) {
    if (line.error) throw new Error(line.error);
    const share = line.total ? (100 * (line.completed ?? 0)) / line.total : null;
    byId("pull-text").textContent = `${name}: ${line.status ?? ""}${
      share === null ? "" : ` ${formatNumber(Math.floor(share))} %`
    }`;
    if (share === null) byId("pull-bar").removeAttribute("value");
    else byId("pull-bar").value = share;
  }

  const pullTyped = () => pullModel(byId("pull-name").value.trim());
  byId("pull").addEventListener("click", () => attempt(pullTyped));
  byId("pull-stop").addEventListener("click", () => stopper?.abort());
  byId("pull-name").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    attempt(pullTyped);
  });
  const saveKeepAlive = async () => {
    await api("/api/settings", {
      method: "PUT",
      body: { keep_alive: byId("keep-alive").value.trim() || null },
    });
    byId("keep-alive-told").textContent = _("Set; it holds after the next start.");
  };
  byId("keep-alive-set").addEventListener("click", () => attempt(saveKeepAlive));
  byId("keep-alive").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    attempt(saveKeepAlive);
  });
  const lines = queryAll(".tuning code").map((code) => code.textContent).join("\n");
  byId("tuning-copy").replaceChildren(createCopyButton(lines));

  return { show: showModels };
}
