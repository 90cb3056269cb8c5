// A long list of which only the visible part is in the page. It fetches more when its end comes near.
import { _, attempt, el } from "./core.js";

const PAGE = 50;
// How far off, in pixels, something is still kept ready.
const NEAR = "1200px";

/** `fetch(offset, limit)` gives {items, total}; `draw(item)` an article, called anew whenever it comes near. */
export function createFeed(place, end, { fetch, draw, report }) {
  let blocks = [];
  let total = null;
  let generation = 0;
  let busy = false;
  // How often something was changed here: what was fetched before that may not know of it.
  let changes = 0;
  const more = el("button", { type: "button", onclick: () => loadNext() }, _("Load more"));
  const visibility = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      const block = blocks.find(({ place: element }) => element === target);
      if (!block) continue;
      if (isIntersecting) fillBlock(block);
      else emptyBlock(block);
    }
  }, { rootMargin: NEAR });
  const endReached = new IntersectionObserver((entries) => entries.at(-1).isIntersecting && loadNext(), {
    rootMargin: NEAR,
  });

  function countItems() {
    return blocks.reduce((sum, block) => sum + block.items.length, 0);
  }

  function drawItem(item) {
    const article = draw(item);
    article.dataset.id = item.id;
    return article;
  }

  function fillBlock(block) {
    if (block.filled) return;
    block.filled = true;
    block.place.replaceChildren(...block.items.map(drawItem));
    block.place.style.height = "";
    numberArticles();
  }

  /** Removes the articles of a block, unless somebody works in it. */
  function emptyBlock(block) {
    if (!block.filled || block.place.contains(document.activeElement) || block.place.querySelector("form")) {
      return;
    }
    block.place.style.height = `${block.place.offsetHeight}px`;
    block.filled = false;
    block.place.replaceChildren();
  }

  function numberArticles() {
    let at = 0;
    for (const block of blocks) {
      if (block.filled) {
        for (const [index, article] of [...block.place.children].entries()) {
          article.setAttribute("aria-posinset", at + index + 1);
          article.setAttribute("aria-setsize", total ?? -1);
        }
      }
      at += block.items.length;
    }
  }

  function appendBlock(items) {
    const block = { items, place: el("div", { class: "block" }), filled: false };
    blocks.push(block);
    place.append(block.place);
    fillBlock(block);
    visibility.observe(block.place);
  }

  function finishPage() {
    const hasMore = total !== null && countItems() < total;
    end.replaceChildren(...(hasMore ? [more] : []));
    endReached.unobserve(end);
    if (hasMore) endReached.observe(end);
    place.setAttribute("aria-busy", "false");
    report(total ?? countItems());
  }

  /** Focuses the same button of the same item again. */
  function restoreFocus(focused) {
    const article = [...place.querySelectorAll("article")].find((candidate) =>
      candidate.dataset.id === focused.closest("article")?.dataset.id
    );
    (article?.querySelector(`[data-do="${focused.dataset.do}"]`) ?? article)?.focus({ preventScroll: true });
  }

  /** Returns what `get` fetches, and repeats it if something was changed here meanwhile. */
  async function fetchSteadily(get) {
    for (;;) {
      const before = changes;
      const result = await get();
      if (before === changes) return result;
    }
  }

  async function loadNext() {
    if (busy || (total !== null && countItems() >= total)) return;
    busy = true;
    const current = generation;
    place.setAttribute("aria-busy", "true");
    const page = await attempt(() => fetchSteadily(() => fetch(countItems(), PAGE)));
    busy = false;
    if (current !== generation) return;
    if (page) {
      // What came in meanwhile may have pushed down what is known already.
      const ids = new Set(blocks.flatMap((block) => block.items.map((item) => item.id)));
      const fresh = page.items.filter((item) => !ids.has(item.id));
      total = page.items.length ? page.total : countItems();
      if (fresh.length) appendBlock(fresh);
    }
    finishPage();
  }

  return {
    /** Loads the list anew; the old one is replaced when the first page is there, unless `unless()` holds. */
    async restart(unless = () => false) {
      generation += 1;
      const current = generation;
      place.setAttribute("aria-busy", "true");
      const page = await attempt(() => fetchSteadily(() => fetch(0, PAGE)));
      if (current !== generation) return;
      place.setAttribute("aria-busy", "false");
      if (page && !unless()) this.put(page.items, page.total);
    },
    /** These and, up to `all`, more on request. */
    put(items, all = items.length) {
      const focused = place.contains(document.activeElement) ? document.activeElement : null;
      generation += 1;
      busy = false;
      visibility.disconnect();
      place.replaceChildren();
      blocks = [];
      total = all;
      if (items.length) appendBlock(items);
      finishPage();
      if (focused) restoreFocus(focused);
    },
    /** One more, in front of all others. */
    prepend(item) {
      changes += 1;
      if (!blocks.length) return this.put([item], 1);
      fillBlock(blocks[0]);
      blocks[0].items.unshift(item);
      blocks[0].place.prepend(drawItem(item));
      total += 1;
      numberArticles();
      return finishPage();
    },
    /** Puts something else in an item's place, or nothing; gives the article that is there now. */
    replace(id, item) {
      changes += 1;
      for (const block of blocks) {
        const at = block.items.findIndex((entry) => entry.id === id);
        if (at < 0) continue;
        const article = block.filled ? block.place.children[at] : null;
        if (item) {
          block.items[at] = item;
          const next = drawItem(item);
          article?.replaceWith(next);
          numberArticles();
          return next;
        }
        block.items.splice(at, 1);
        total -= 1;
        article?.remove();
        numberArticles();
        finishPage();
        return block.filled ? (block.place.children[Math.min(at, block.items.length - 1)] ?? null) : null;
      }
      return null;
    },
    fetchSteadily,
    has: (id) => blocks.some((block) => block.items.some((item) => item.id === id)),
    isEditing: () => place.querySelector("form") !== null,
  };
}
