// The list of memories: which ones, searching as one types, adding, and following what happens elsewhere.
import { _, attempt, byId, confirmAction, debounce, el, formatNumber, ngettext } from "./core.js";
import { ask } from "./memory-scope.js";
import { createFeed } from "./memory-feed.js";
import { KINDS, openAddForm, renderMemory } from "./memory-item.js";
import { explainHit, renderPassage } from "./memory-hit.js";

const HITS = 50;
// With less of the question in it, something is only the best of what there is.
const ABOUT = 0.15;

export function createList() {
  let kind = "";
  let hasBegun = false;
  // What came of the newest search; an older one that is late is thrown away.
  let search = null;
  const ownChanges = new Set();
  const box = byId("search"), state = byId("state"), summary = byId("found");
  const tools = { replace: replaceItem, remove: removeItem, markOwn: (id) => ownChanges.add(id) };
  const list = createFeed(byId("feed"), byId("end"), { fetch: fetchPage, draw: drawItem, report: showCount });

  function drawItem(item) {
    return item.hit && !item.memory ? renderPassage(item) : renderMemory(item, tools);
  }

  async function fetchPage(offset, limit) {
    const query = new URLSearchParams({ limit, offset });
    if (kind) query.set("kind", kind);
    if (state.value) query.set("only", state.value);
    if (box.value.trim()) query.set("text", box.value.trim());
    const page = await ask(`/api/memory/list?${query}`);
    showTroubles(page.troubles);
    return {
      items: page.memories.map((memory) => ({ id: memory.id, memory, chats: page.conversations })),
      total: page.total,
    };
  }

  function showCount(total) {
    const isSearching = Boolean(box.value.trim());
    if (!total) {
      summary.textContent = isSearching
        ? _("Nothing was found.")
        : kind || state.value
        ? _("There are none of these.")
        : _("Nothing is remembered yet. What matters in your chats appears here by itself.");
    } else if (isSearching) {
      summary.textContent = _("{n} with these letters, newest first", { n: formatNumber(total) });
    } else {summary.textContent = total === 1
        ? _("One memory", { n: formatNumber(total) })
        : _("{n} memories, newest first", { n: formatNumber(total) });}
    if (!isSearching && !kind && !state.value) {
      byId("count-memories").textContent = total ? formatNumber(total) : "";
    }
  }

  function showTroubles(texts) {
    const parts = texts.length
      ? [
        el(
          "details",
          { class: "small faint" },
          el("summary", {}, _("Remarks ({n})", { n: texts.length })),
          el("ul", {}, ...texts.map((text) => el("li", { lang: "en" }, text))),
        ),
      ]
      : [];
    byId("troubles").replaceChildren(...parts);
  }

  /** Shows pairs of memories where the newer one perhaps replaces the older, for the person to decide. */
  async function showRivals() {
    const { proposals } = await ask("/api/memory/proposals");
    const renderRival = ({ newer, older }) => {
      const decide = (action) =>
        attempt(async () => {
          ownChanges.add(newer.id).add(older.id);
          await ask(`/api/memory/${encodeURIComponent(newer.id)}/${action}`, { method: "POST" });
          await Promise.all([showRivals(), refresh()]);
          (byId("rivals").querySelector("button") ?? box).focus();
        });
      return el(
        "li",
        { class: "proposal" },
        el(
          "div",
          { class: "grow" },
          el("span", { dir: "auto" }, newer.text),
          el("div", { class: "older faint small", dir: "auto" }, older.text),
        ),
        el(
          "div",
          { class: "row" },
          el("button", { type: "button", onclick: () => decide("replace") }, _("Replace")),
          el("button", {
            type: "button",
            class: "quiet",
            onclick: () => decide("keep-both"),
          }, _("Keep both")),
        ),
      );
    };
    byId("rivals").replaceChildren(
      ...(proposals.length
        ? [
          el(
            "div",
            { class: "card" },
            el("h3", {}, _("Does the newer one replace the older?")),
            el("ul", { class: "list" }, ...proposals.map(renderRival)),
          ),
        ]
        : []),
    );
  }

  /** Shows what the search and filters ask for. `quietly`: nobody asked, so it must not disturb. */
  async function refresh(quietly = false) {
    const isInTheWay = () => quietly && isOccupied() && (offerReload(), true);
    search?.abort();
    const words = box.value.trim();
    byId("weaker").replaceChildren();
    if (!words || state.value) return list.restart(isInTheWay);
    search = new AbortController();
    const query = new URLSearchParams({ q: words, limit: String(HITS), whole: "true" });
    for (const only of kind ? [kind] : []) query.append("kind", only);
    const { signal } = search;
    const answer = await list.fetchSteadily(() => ask(`/api/memory/search?${query}`, { signal }));
    if (isInTheWay()) return undefined;
    showTroubles(answer.degraded);
    const items = answer.hits.map((hit) => ({
      id: hit.id,
      hit,
      memory: answer.memories[hit.id],
      chats: answer.conversations,
      words,
    }));
    for (const item of items) item.why = explainHit(item.hit);
    const near = items.filter(({ hit }) => hit.exact || hit.score >= ABOUT);
    const method = answer.engines.includes("vectors") ? _("by words and meaning") : _("by words");
    // Whoever is in the middle of a word has none yet that could be looked for.
    if (near.length) showHits(near, method);
    else await list.restart();
    if (items.length > near.length && box.value.trim() === words) {
      byId("weaker").append(el("button", {
        type: "button",
        class: "quiet",
        onclick: () => {
          byId("weaker").replaceChildren();
          showHits(items, method);
          byId("feed").querySelectorAll("article")[near.length]?.focus();
        },
      }, _("Show {n} that are hardly about it", { n: items.length - near.length })));
    }
    return undefined;
  }

  function showHits(items, method) {
    list.put(items);
    summary.textContent = items.length === 1
      ? _("One hit, found {how}", { n: items.length, how: method })
      : ngettext("1 hit, found {how}", "{n} hits, best first, found {how}", { n: items.length, how: method });
  }

  /** Shows the changed memory. */
  function replaceItem(item) {
    return list.replace(item.id, item);
  }

  function removeItem(item) {
    const next = list.replace(item.id, null);
    (next?.querySelector("button") ?? box).focus();
  }

  function chooseKind(next) {
    kind = next;
    for (const button of byId("kinds").children) button.setAttribute("aria-pressed", button.value === kind);
    attempt(refresh);
  }

  byId("kinds").append(
    ...["", ...Object.keys(KINDS)].map((name) =>
      el("button", {
        type: "button",
        class: `kind ${name}`,
        value: name,
        "aria-pressed": String(!name),
        onclick: () => chooseKind(name),
      }, name ? KINDS[name][1] : _("All"))
    ),
  );
  box.addEventListener("input", debounce(() => attempt(refresh), 180));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.value) return;
    event.preventDefault();
    box.value = "";
    attempt(refresh);
  });
  state.addEventListener("change", () => attempt(refresh));
  byId("add").addEventListener("click", () =>
    openAddForm(byId("adding"), byId("add"), (item) => {
      ownChanges.add(item.id);
      if (list.has(item.id)) list.replace(item.id, item);
      else if (!box.value.trim() && !state.value && (!kind || kind === item.memory.kind)) list.prepend(item);
      else attempt(refresh);
    }));
  // In a feed one goes from article to article with these keys.
  byId("feed").addEventListener("keydown", (event) => {
    const article = event.target.closest("article");
    if (
      !article || event.target.matches("textarea, input, select") ||
      !["PageDown", "PageUp"].includes(event.key)
    ) return;
    event.preventDefault();
    const every = [...byId("feed").querySelectorAll("article")];
    every[every.indexOf(article) + (event.key === "PageDown" ? 1 : -1)]?.focus();
  });

  const refreshSoon = debounce(() => {
    attempt(showRivals);
    return isOccupied() ? offerReload() : attempt(() => refresh(true));
  }, 400);

  /** Whether somebody writes, or reads further down: then nothing moves by itself. */
  function isOccupied() {
    return list.isEditing() || scrollY > innerHeight / 2;
  }

  function offerReload() {
    const button = el("button", {
      type: "button",
      class: "quiet",
      onclick: async () => {
        if (
          !list.isEditing() ||
          (await confirmAction(
            _("Reload"),
            _("You are editing a memory; your changes would be lost."),
            _("Reload"),
          ))
        ) attempt(refresh);
        button.remove();
      },
    }, _("Memories have changed meanwhile: show them"));
    byId("troubles").replaceChildren(button);
  }

  return {
    show() {
      if (hasBegun) return undefined;
      hasBegun = true;
      attempt(showRivals);
      return refresh();
    },
    refreshSoon: () => hasBegun && refreshSoon(),
    /** What an event told; what was done here is shown already, or will be when its answer is there. */
    handleEvent({ id }) {
      setTimeout(() => !ownChanges.delete(id) && hasBegun && refreshSoon(), 300);
    },
  };
}
