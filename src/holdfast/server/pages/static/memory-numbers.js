// Statistics of memory, and what is done with all of it: taking it out and in, the index anew, forgetting everything.
import { attempt, byId, el, formatMoment, formatNumber, queryAll, showDialog, toast, word } from "./core.js";
import { renderArchived } from "./memory-item.js";
import { ask, nameScope, scope } from "./memory-scope.js";

const KINDS = ["fact", "decision", "preference", "note"];
const LOOK = 1_500;
const formatTenths = (amount) => formatNumber(Math.round(amount * 10) / 10);
const formatBytes = (
  bytes,
) => (bytes < 1_000_000
  ? word("kilobytes", { n: formatTenths(bytes / 1_000) })
  : word("megabytes", { n: formatTenths(bytes / 1_000_000) }));
const renderFold = (title, lines, lang) =>
  el(
    "details",
    { class: "small", open: lines.length < 10 },
    el("summary", {}, title),
    el("ul", {}, ...lines.map((line) => el("li", { lang }, line))),
  );

/** `onChange` is called after memories were changed here. */
export function createStatistics(onChange) {
  let confirm = "";
  let timer = 0;

  async function loadStatistics() {
    const stats = await ask("/api/memory/stats");
    confirm = stats.confirm;
    byId("numbers").replaceChildren(renderCounts(stats), renderFacts(stats));
    byId("index").replaceChildren(...renderIndex(stats));
    byId("clear-help").textContent = word("clear_help", { whose: nameScope(scope) });
    showProgress(stats.reindex);
  }

  /** Says that there is no room left, before something is moved without a word. */
  async function showLimit() {
    const { active, limit } = await ask("/api/memory/stats");
    if (active < limit) return;
    byId("room").replaceChildren(
      el(
        "p",
        { class: "notice" },
        word("full", { limit: formatNumber(limit) }),
        " ",
        el("a", { href: "/settings#row-memory_limit" }, word("raise_limit")),
      ),
    );
  }

  function renderCounts(stats) {
    const most = Math.max(1, ...KINDS.map((kind) => stats.kinds[kind] ?? 0));
    const rows = KINDS.map((kind) => {
      const count = stats.kinds[kind] ?? 0;
      const bar = el("i", { class: `bar ${kind}`, "aria-hidden": "true" });
      bar.style.width = `${(100 * count) / most}%`;
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, word(`${kind}s`)),
        el("td", { class: "amount" }, formatNumber(count)),
        el("td", { class: "grow" }, bar),
      );
    });
    return el(
      "div",
      { class: "card" },
      el("h3", { id: "by-kind" }, word("by_kind")),
      el("table", { class: "bars", "aria-labelledby": "by-kind" }, el("tbody", {}, ...rows)),
    );
  }

  function renderFacts(stats) {
    const rows = [
      [
        "count_active",
        word("count_limit", { n: formatNumber(stats.active), limit: formatNumber(stats.limit) }),
      ],
      ["count_former", formatNumber(stats.superseded)],
      ["count_archived", formatNumber(stats.archived)],
      ["count_forgotten", formatNumber(stats.forgotten)],
      ["count_recalls", formatNumber(stats.recalls)],
      ["count_files", `${formatNumber(stats.notes.files)} · ${formatBytes(stats.notes.bytes)}`],
      ["last_change", stats.newest ? formatMoment(stats.newest) : "–"],
    ];
    return el(
      "dl",
      { class: "facts" },
      ...rows.map(([name, value]) => el("div", {}, el("dt", {}, word(name)), el("dd", {}, value))),
    );
  }

  function renderIndex({ index, vectors }) {
    const skipped = Object.entries(index.skipped);
    const lines = [
      index.stale
        ? word("index_stale", { n: formatNumber(index.stale), all: formatNumber(index.files) })
        : word("index_fresh", { n: formatNumber(index.files) }),
      index.indexed_at ? word("index_at", { when: formatMoment(index.indexed_at) }) : "",
      vectors.embedder
        ? word("vectors_by", {
          name: [vectors.embedder, vectors.engine?.location && vectors.engine.engine].filter(Boolean).join(
            ", ",
          ),
        })
        : word("vectors_none"),
      vectors.waiting ? word("vectors_waiting", { n: formatNumber(vectors.waiting) }) : "",
    ].filter(Boolean);
    const wrong = vectors.trouble || vectors.engine?.trouble;
    const trouble = wrong ? el("li", { class: "wrong", lang: "en" }, wrong) : "";
    return [
      el("ul", { class: "plain" }, ...lines.map((line) => el("li", {}, line)), trouble),
      skipped.length
        ? renderFold(
          word("unusable", { n: skipped.length }),
          skipped.map(([path, reason]) => `${path}: ${reason}`),
          "en",
        )
        : "",
    ];
  }

  /** Shows how far indexing is. */
  function showProgress(reindex) {
    const isRunning = reindex.phase === "files" || reindex.phase === "vectors";
    const hasEnded = !byId("reindexing").hidden && !isRunning && reindex.phase !== "idle";
    byId("reindex").disabled = isRunning;
    byId("reindexing").hidden = !isRunning;
    clearTimeout(timer);
    if (isRunning) {
      byId("reindex-bar").value = reindex.total ? reindex.percent : 0;
      byId("reindex-text").textContent = word(`phase_${reindex.phase}`, {
        done: formatNumber(reindex.done),
        total: formatNumber(reindex.total),
      });
      // Should the events not come, or the end of it be missed.
      timer = setTimeout(() => attempt(loadStatistics), LOOK);
    }
    if (hasEnded) {
      toast(
        reindex.phase === "failed" ? word("failed", { why: reindex.trouble ?? "" }) : word("reindexed"),
        reindex.phase === "failed" ? "error" : "info",
      );
      attempt(loadStatistics);
    }
  }

  async function exportMemories(form) {
    const response = await ask(`/api/memory/export?format=${form}`, { method: "POST", raw: true });
    const link = el("a", {
      href: URL.createObjectURL(await response.blob()),
      download: form === "json" ? "memories.json" : "memories.md",
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    const leftOut = Number(response.headers.get("x-holdfast-left-out") ?? 0);
    toast(leftOut ? word("exported_without", { n: leftOut }) : word("exported"));
  }

  async function importFile(file) {
    const kind = /\.(md|markdown)$/i.test(file.name) ? "text/markdown" : "application/json";
    const result = await ask("/api/memory/import", {
      method: "POST",
      body: file,
      headers: { "content-type": kind },
    });
    const counts = Object.fromEntries(
      ["added", "updated", "known", "refused"].map((name) => [name, formatNumber(result[name])]),
    );
    byId("imported").replaceChildren(
      el("p", {}, word("imported", counts)),
      ...(result.archived ? [renderArchived(result.archived)] : []),
      result.bad.length ? renderFold(word("bad_lines", { n: result.bad.length }), result.bad, "en") : "",
    );
    onChange();
    await loadStatistics();
  }

  async function clearMemory() {
    const input = el("input", { type: "text", autocomplete: "off", spellcheck: "false", class: "mono" });
    const answer = showDialog(word("clear_title"), [
      el("p", {}, word("clear_more")),
      el("label", {}, el("span", {}, word("clear_type", { name: confirm })), input),
    ], [{ value: "", label: word("cancel") }, { value: "yes", label: word("clear_all"), kind: "danger" }]);
    const button = input.form.querySelector('button[value="yes"]');
    button.disabled = true;
    input.addEventListener("input", () => (button.disabled = input.value.trim() !== confirm));
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (!button.disabled) button.click();
    });
    input.focus();
    if ((await answer) !== "yes") return;
    const { forgotten } = await ask(`/api/memory/all?confirm=${encodeURIComponent(confirm)}`, {
      method: "DELETE",
    });
    toast(word("cleared", { n: formatNumber(forgotten) }));
    onChange();
    await loadStatistics();
  }

  for (const button of queryAll("[data-export]")) {
    button.addEventListener("click", () => attempt(() => exportMemories(button.dataset.export)));
  }
  const file = byId("import-file");
  byId("import").addEventListener("click", () => file.click());
  file.addEventListener("change", () =>
    attempt(async () => {
      if (file.files.length) await importFile(file.files[0]);
      file.value = "";
    }));
  byId("reindex").addEventListener(
    "click",
    () => attempt(async () => showProgress(await ask("/api/memory/reindex", { method: "POST" }))),
  );
  byId("clear").addEventListener("click", () => attempt(clearMemory));

  return { show: loadStatistics, progress: showProgress, showLimit };
}
