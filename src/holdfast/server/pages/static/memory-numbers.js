// Statistics of memory, and what is done with all of it: taking it out and in, the index anew, forgetting everything.
import { attempt, dialog, el, moment, number, toast, word } from "./core.js";
import { ask, here, named } from "./memory-scope.js";

const KINDS = ["fact", "decision", "preference", "note"];
const LOOK = 1_500;
const byId = (id) => document.getElementById(id);
const tenths = (amount) => number(Math.round(amount * 10) / 10);
const spelled = (bytes) => (bytes < 1_000_000 ? word("kilobytes", { n: tenths(bytes / 1_000) }) : word("megabytes", { n: tenths(bytes / 1_000_000) }));
const folded = (title, lines, lang) => el("details", { class: "small", open: lines.length < 10 }, el("summary", {}, title),
  el("ul", {}, ...lines.map((line) => el("li", { lang }, line))));

/** `changed` is called when the memories are others by what was done here. */
export function numbers(changed) {
  let confirm = "";
  let timer = 0;

  async function load() {
    const told = await ask("/api/memory/stats");
    confirm = told.confirm;
    byId("numbers").replaceChildren(counts(told), facts(told));
    byId("index").replaceChildren(...state(told));
    byId("clear-help").textContent = word("clear_help", { whose: named(here) });
    progress(told.reindex);
  }

  function counts(told) {
    const most = Math.max(1, ...KINDS.map((kind) => told.kinds[kind] ?? 0));
    const rows = KINDS.map((kind) => {
      const count = told.kinds[kind] ?? 0;
      const bar = el("i", { class: `bar ${kind}`, "aria-hidden": "true" });
      bar.style.width = `${(100 * count) / most}%`;
      return el("tr", {}, el("th", { scope: "row" }, word(`${kind}s`)), el("td", { class: "amount" }, number(count)), el("td", { class: "grow" }, bar));
    });
    return el("div", { class: "card" }, el("h3", { id: "by-kind" }, word("by_kind")),
      el("table", { class: "bars", "aria-labelledby": "by-kind" }, el("tbody", {}, ...rows)));
  }

  function facts(told) {
    const rows = [
      ["count_active", number(told.active)], ["count_former", number(told.superseded)], ["count_archived", number(told.archived)],
      ["count_forgotten", number(told.forgotten)], ["count_recalls", number(told.recalls)],
      ["count_files", `${number(told.notes.files)} · ${spelled(told.notes.bytes)}`],
      ["last_change", told.newest ? moment(told.newest) : "–"],
    ];
    return el("dl", { class: "facts" }, ...rows.map(([name, value]) => el("div", {}, el("dt", {}, word(name)), el("dd", {}, value))));
  }

  function state({ index, vectors }) {
    const skipped = Object.entries(index.skipped);
    const lines = [
      index.stale ? word("index_stale", { n: number(index.stale), all: number(index.files) }) : word("index_fresh", { n: number(index.files) }),
      index.indexed_at ? word("index_at", { when: moment(index.indexed_at) }) : "",
      vectors.embedder ? word("vectors_by", { name: [vectors.embedder, vectors.engine?.location && vectors.engine.engine].filter(Boolean).join(", ") }) : word("vectors_none"),
      vectors.waiting ? word("vectors_waiting", { n: number(vectors.waiting) }) : "",
    ].filter(Boolean);
    const wrong = vectors.trouble || vectors.engine?.trouble;
    const trouble = wrong ? el("li", { class: "wrong", lang: "en" }, wrong) : "";
    return [el("ul", { class: "plain" }, ...lines.map((line) => el("li", {}, line)), trouble),
      skipped.length ? folded(word("unusable", { n: skipped.length }), skipped.map(([path, why]) => `${path}: ${why}`), "en") : ""];
  }

  /** How far the index is, from an event or from asking. */
  function progress(told) {
    const running = told.phase === "files" || told.phase === "vectors";
    const ended = !byId("reindexing").hidden && !running && told.phase !== "idle";
    byId("reindex").disabled = running;
    byId("reindexing").hidden = !running;
    clearTimeout(timer);
    if (running) {
      byId("reindex-bar").value = told.total ? told.percent : 0;
      byId("reindex-text").textContent = word(`phase_${told.phase}`, { done: number(told.done), total: number(told.total) });
      // Should the events not come, or the end of it be missed.
      timer = setTimeout(() => attempt(load), LOOK);
    }
    if (ended) {
      toast(told.phase === "failed" ? word("failed", { why: told.trouble ?? "" }) : word("reindexed"), told.phase === "failed" ? "error" : "info");
      attempt(load);
    }
  }

  async function exported(form) {
    const response = await ask(`/api/memory/export?format=${form}`, { method: "POST", raw: true });
    const link = el("a", { href: URL.createObjectURL(await response.blob()), download: form === "json" ? "memories.json" : "memories.md" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    const left = Number(response.headers.get("x-holdfast-left-out") ?? 0);
    toast(left ? word("exported_without", { n: left }) : word("exported"));
  }

  async function imported(file) {
    const kind = /\.(md|markdown)$/i.test(file.name) ? "text/markdown" : "application/json";
    const told = await ask("/api/memory/import", { method: "POST", body: file, headers: { "content-type": kind } });
    const counts = Object.fromEntries(["added", "updated", "known", "refused"].map((name) => [name, number(told[name])]));
    byId("imported").replaceChildren(el("p", {}, word("imported", counts)),
      told.bad.length ? folded(word("bad_lines", { n: told.bad.length }), told.bad, "en") : "");
    changed();
    await load();
  }

  async function clear() {
    const typed = el("input", { type: "text", autocomplete: "off", spellcheck: "false", class: "mono" });
    const answer = dialog(word("clear_title"), [el("p", {}, word("clear_more")),
      el("label", {}, el("span", {}, word("clear_type", { name: confirm })), typed)],
    [{ value: "", label: word("cancel") }, { value: "yes", label: word("clear_all"), kind: "danger" }]);
    const button = typed.form.querySelector('button[value="yes"]');
    button.disabled = true;
    typed.addEventListener("input", () => (button.disabled = typed.value.trim() !== confirm));
    typed.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (!button.disabled) button.click();
    });
    typed.focus();
    if ((await answer) !== "yes") return;
    const { forgotten } = await ask(`/api/memory/all?confirm=${encodeURIComponent(confirm)}`, { method: "DELETE" });
    toast(word("cleared", { n: number(forgotten) }));
    changed();
    await load();
  }

  for (const button of document.querySelectorAll("[data-export]")) button.addEventListener("click", () => attempt(() => exported(button.dataset.export)));
  const file = byId("import-file");
  byId("import").addEventListener("click", () => file.click());
  file.addEventListener("change", () => attempt(async () => {
    if (file.files.length) await imported(file.files[0]);
    file.value = "";
  }));
  byId("reindex").addEventListener("click", () => attempt(async () => progress(await ask("/api/memory/reindex", { method: "POST" }))));
  byId("clear").addEventListener("click", () => attempt(clear));

  return { show: load, progress };
}
