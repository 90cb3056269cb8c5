// Statistics of memory, and what is done with all of it: taking it out and in, the index anew, forgetting everything.
import {
  _,
  attempt,
  byId,
  el,
  formatMoment,
  formatNumber,
  ngettext,
  queryAll,
  showDialog,
  toast,
} from "./core.js";
import { KINDS, renderArchived } from "./memory-item.js";
import { ask, nameScope, scope } from "./memory-scope.js";

const LOOK = 1_500;
const formatTenths = (amount) => formatNumber(Math.round(amount * 10) / 10);
const formatBytes = (
  bytes,
) => (bytes < 1_000_000
  ? _("{n} KB", { n: formatTenths(bytes / 1_000) })
  : _("{n} MB", { n: formatTenths(bytes / 1_000_000) }));
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
    byId("clear-help").textContent = _(
      "All memories ({whose}) are removed for good, the archive included. Other text in the files stays.",
      { whose: nameScope(scope) },
    );
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
        _(
          "The limit of {limit} memories is reached: the least useful are moved to the archive, where they can still be found. Pinned ones, rules and preferences stay.",
          { limit: formatNumber(limit) },
        ),
        " ",
        el("a", { href: "/settings#row-memory_limit" }, _("Raise the limit")),
      ),
    );
  }

  function renderCounts(stats) {
    const most = Math.max(1, ...Object.keys(KINDS).map((kind) => stats.kinds[kind] ?? 0));
    const rows = Object.entries(KINDS).map(([kind, [, label]]) => {
      const count = stats.kinds[kind] ?? 0;
      const bar = el("i", { class: `bar ${kind}`, "aria-hidden": "true" });
      bar.style.width = `${(100 * count) / most}%`;
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, label),
        el("td", { class: "amount" }, formatNumber(count)),
        el("td", { class: "grow" }, bar),
      );
    });
    return el(
      "div",
      { class: "card" },
      el("h3", { id: "by-kind" }, _("By kind")),
      el("table", { class: "bars", "aria-labelledby": "by-kind" }, el("tbody", {}, ...rows)),
    );
  }

  function renderFacts(stats) {
    const rows = [
      [
        _("Hold now"),
        _("{n} of at most {limit}", { n: formatNumber(stats.active), limit: formatNumber(stats.limit) }),
      ],
      [_("No longer hold"), formatNumber(stats.superseded)],
      [_("In the archive"), formatNumber(stats.archived)],
      [_("Forgotten"), formatNumber(stats.forgotten)],
      [_("Used in answers"), formatNumber(stats.recalls)],
      [_("Files and size"), `${formatNumber(stats.notes.files)} · ${formatBytes(stats.notes.bytes)}`],
      [_("Newest"), stats.newest ? formatMoment(stats.newest) : "–"],
    ];
    return el(
      "dl",
      { class: "facts" },
      ...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    );
  }

  function renderIndex({ index, vectors }) {
    const skipped = Object.entries(index.skipped);
    const lines = [
      index.stale
        ? _("{n} of {all} files have changed and are read again with the next search.", {
          n: formatNumber(index.stale),
          all: formatNumber(index.files),
        })
        : ngettext("The one file is indexed.", "All {n} files are indexed.", {
          n: formatNumber(index.files),
        }),
      index.indexed_at ? _("Last read: {when}", { when: formatMoment(index.indexed_at) }) : "",
      vectors.embedder
        ? _("Found by meaning with {name}", {
          name: [vectors.embedder, vectors.engine?.location && vectors.engine.engine].filter(Boolean).join(
            ", ",
          ),
        })
        : _("Found by words only."),
      vectors.waiting
        ? ngettext("1 text waits for its vector.", "{n} texts wait for their vectors.", {
          n: formatNumber(vectors.waiting),
        })
        : "",
    ].filter(Boolean);
    const wrong = vectors.trouble || vectors.engine?.trouble;
    const trouble = wrong ? el("li", { class: "wrong", lang: "en" }, wrong) : "";
    return [
      el("ul", { class: "plain" }, ...lines.map((line) => el("li", {}, line)), trouble),
      skipped.length
        ? renderFold(
          _("Files that cannot be used ({n})", { n: skipped.length }),
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
      const progress = { done: formatNumber(reindex.done), total: formatNumber(reindex.total) };
      byId("reindex-text").textContent = reindex.phase === "files"
        ? _("Reading files: {done} of {total}", progress)
        : _("Making vectors: {done} of {total}", progress);
      // Should the events not come, or the end of it be missed.
      timer = setTimeout(() => attempt(loadStatistics), LOOK);
    }
    if (hasEnded) {
      toast(
        reindex.phase === "failed"
          ? _("That did not work: {why}", { why: reindex.trouble ?? "" })
          : _("The index is new."),
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
    toast(
      leftOut
        ? ngettext(
          "Exported, without 1 file that cannot be read.",
          "Exported, without {n} files that cannot be read.",
          { n: leftOut },
        )
        : _("Exported."),
    );
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
      el(
        "p",
        {},
        _("{added} added, {updated} brought up to date, {known} known already, {refused} refused.", counts),
      ),
      ...(result.archived ? [renderArchived(result.archived)] : []),
      result.bad.length
        ? renderFold(_("{n} could not be read", { n: result.bad.length }), result.bad, "en")
        : "",
    );
    onChange();
    await loadStatistics();
  }

  async function clearMemory() {
    const input = el("input", { type: "text", autocomplete: "off", spellcheck: "false", class: "mono" });
    const answer = showDialog(_("Forget everything?"), [
      el("p", {}, _("This cannot be undone. An export beforehand keeps a copy.")),
      el("label", {}, el("span", {}, _("Type “{name}” to confirm", { name: confirm })), input),
    ], [{ value: "", label: _("Cancel") }, { value: "yes", label: _("Forget all"), kind: "danger" }]);
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
    toast(
      ngettext("1 memory was forgotten.", "{n} memories were forgotten.", { n: formatNumber(forgotten) }),
    );
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
