// The list of memories: which ones, searching as one types, adding, and following what happens elsewhere.
import { attempt, el, later, number, sure, word } from "./core.js";
import { ask } from "./memory-scope.js";
import { feed } from "./memory-feed.js";
import { adding, article } from "./memory-item.js";
import { passage, reasons } from "./memory-hit.js";

const KINDS = ["fact", "decision", "preference", "note"];
const HITS = 50;
// With less of the question in it, something is only the best of what there is.
const ABOUT = 0.15;
const byId = (id) => document.getElementById(id);

export function listing() {
  let kind = "";
  let begun = false;
  // What came of the newest search; an older one that is late is thrown away.
  let looking = null;
  const ours = new Set();
  const box = byId("search"), state = byId("state"), said = byId("found");
  const tools = { changed, gone, touched: (id) => ours.add(id) };
  const list = feed(byId("feed"), byId("end"), { fetch, draw, told });

  function draw(item) {
    return item.hit && !item.memory ? passage(item) : article(item, tools);
  }

  async function fetch(offset, limit) {
    const wanted = new URLSearchParams({ limit, offset });
    if (kind) wanted.set("kind", kind);
    if (state.value) wanted.set("only", state.value);
    if (box.value.trim()) wanted.set("text", box.value.trim());
    const page = await ask(`/api/memory/list?${wanted}`);
    troubles(page.troubles);
    return { items: page.memories.map((memory) => ({ id: memory.id, memory, chats: page.conversations })), total: page.total };
  }

  function told({ shown, total }) {
    const searching = Boolean(box.value.trim());
    if (!total) said.textContent = word(searching ? "found_nothing" : kind || state.value ? "none_of_these" : "none_yet");
    else if (searching) said.textContent = word("by_letters", { n: number(total) });
    else said.textContent = word(total === 1 ? "one_memory" : "memories", { n: number(total) });
    if (!searching && !kind && !state.value) byId("count-memories").textContent = total ? number(total) : "";
  }

  function troubles(texts) {
    const shown = texts.length ? [el("details", { class: "small faint" }, el("summary", {}, word("remarks", { n: texts.length })),
      el("ul", {}, ...texts.map((text) => el("li", { lang: "en" }, text))))] : [];
    byId("troubles").replaceChildren(...shown);
  }

  /** Pairs of which perhaps only the newer holds: the person says. */
  async function rivals() {
    const { proposals } = await ask("/api/memory/proposals");
    const row = ({ newer, older }) => {
      const decide = (how) => attempt(async () => {
        ours.add(newer.id).add(older.id);
        await ask(`/api/memory/${encodeURIComponent(newer.id)}/${how}`, { method: "POST" });
        await Promise.all([rivals(), look()]);
        (byId("rivals").querySelector("button") ?? box).focus();
      });
      return el("li", { class: "proposal" }, el("div", { class: "grow" }, el("span", { dir: "auto" }, newer.text),
        el("div", { class: "faint small", dir: "auto" }, older.text)),
        el("div", { class: "row" }, el("button", { type: "button", onclick: () => decide("replace") }, word("replace")),
          el("button", { type: "button", class: "quiet", onclick: () => decide("keep-both") }, word("keep_both"))));
    };
    byId("rivals").replaceChildren(...(proposals.length ? [el("div", { class: "card" }, el("h3", {}, word("rivals")),
      el("ul", { class: "list" }, ...proposals.map(row)))] : []));
  }

  /** Shows what is asked for now. `quietly`: nobody asked, so it must not be in anybody's way. */
  async function look(quietly = false) {
    const inTheWay = () => quietly && taken() && (offer(), true);
    looking?.abort();
    const words = box.value.trim();
    byId("weaker").replaceChildren();
    if (!words || state.value) return list.restart(inTheWay);
    looking = new AbortController();
    const wanted = new URLSearchParams({ q: words, limit: HITS, whole: true });
    for (const one of kind ? [kind] : []) wanted.append("kind", one);
    const { signal } = looking;
    const answer = await list.steady(() => ask(`/api/memory/search?${wanted}`, { signal }));
    if (inTheWay()) return undefined;
    troubles(answer.degraded);
    const items = answer.hits.map((hit) => ({ id: hit.id, hit, memory: answer.memories[hit.id], chats: answer.conversations, words }));
    for (const item of items) item.why = reasons(item.hit);
    const near = items.filter(({ hit }) => hit.exact || hit.score >= ABOUT);
    const how = word(answer.engines.includes("vectors") ? "by_both" : "by_words");
    // Whoever is in the middle of a word has none yet that could be looked for.
    if (near.length) found(near, how);
    else await list.restart();
    if (items.length > near.length && box.value.trim() === words) {
      byId("weaker").append(el("button", { type: "button", class: "quiet", onclick: () => {
        byId("weaker").replaceChildren();
        found(items, how);
        byId("feed").querySelectorAll("article")[near.length]?.focus();
      } }, word("weaker", { n: items.length - near.length })));
    }
    return undefined;
  }

  function found(items, how) {
    list.put(items);
    said.textContent = word(items.length === 1 ? "one_hit" : "hits", { n: items.length, how });
  }

  /** A memory is another by now. */
  function changed(item) {
    return list.change(item.id, item);
  }

  function gone(item) {
    const next = list.change(item.id, null);
    (next?.querySelector("button") ?? box).focus();
  }

  function choose(next) {
    kind = next;
    for (const button of byId("kinds").children) button.setAttribute("aria-pressed", button.value === kind);
    attempt(look);
  }

  byId("kinds").append(...["", ...KINDS].map((one) => el("button", { type: "button", class: `kind ${one}`, value: one, "aria-pressed": String(!one),
    onclick: () => choose(one) }, word(one ? `${one}s` : "all_kinds"))));
  box.addEventListener("input", later(() => attempt(look), 180));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.value) return;
    event.preventDefault();
    box.value = "";
    attempt(look);
  });
  state.addEventListener("change", () => attempt(look));
  byId("add").addEventListener("click", () => adding(byId("adding"), byId("add"), (item) => {
    ours.add(item.id);
    if (list.has(item.id)) list.change(item.id, item);
    else if (!box.value.trim() && !state.value && (!kind || kind === item.memory.kind)) list.first(item);
    else attempt(look);
  }));
  // In a feed one goes from article to article with these keys.
  byId("feed").addEventListener("keydown", (event) => {
    const at = event.target.closest("article");
    if (!at || event.target.matches("textarea, input, select") || !["PageDown", "PageUp"].includes(event.key)) return;
    event.preventDefault();
    const every = [...byId("feed").querySelectorAll("article")];
    every[every.indexOf(at) + (event.key === "PageDown" ? 1 : -1)]?.focus();
  });

  const again = later(() => {
    attempt(rivals);
    return taken() ? offer() : attempt(() => look(true));
  }, 400);

  /** Whether somebody writes, or reads further down: then nothing moves by itself. */
  function taken() {
    return list.editing() || scrollY > innerHeight / 2;
  }

  function offer() {
    const button = el("button", { type: "button", class: "quiet", onclick: async () => {
      if (!list.editing() || (await sure(word("reload"), word("editing"), word("reload")))) attempt(look);
      button.remove();
    } }, word("changed_meanwhile"));
    byId("troubles").replaceChildren(button);
  }

  return {
    show() {
      if (begun) return undefined;
      begun = true;
      attempt(rivals);
      return look();
    },
    stale: () => begun && again(),
    /** What an event told; what was done here is shown already, or will be when its answer is there. */
    heard({ id }) {
      setTimeout(() => !ours.delete(id) && begun && again(), 300);
    },
  };
}
