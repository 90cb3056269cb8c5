// A long list of which only what is near stands in the page. It fetches more as one gets to its end; knows no memory.
import { attempt, el, word } from "./core.js";

const PAGE = 50;
// How far off, in pixels, something is still kept ready.
const NEAR = "1200px";

/** `fetch(offset, limit)` gives {items, total}; `draw(item)` an article, called anew whenever it comes near. */
export function feed(place, end, { fetch, draw, told }) {
  let blocks = [];
  let total = null;
  let turn = 0;
  let busy = false;
  // How often something was changed here: what was fetched before that may not know of it.
  let changes = 0;
  const more = el("button", { type: "button", onclick: () => load() }, word("more"));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) entry.isIntersecting ? fill(entry.target.block) : empty(entry.target.block);
  }, { rootMargin: NEAR });
  const reached = new IntersectionObserver((entries) => entries.at(-1).isIntersecting && load(), { rootMargin: NEAR });

  function count() {
    return blocks.reduce((sum, block) => sum + block.items.length, 0);
  }

  function drawn(item) {
    const made = draw(item);
    made.dataset.id = item.id;
    return made;
  }

  function fill(block) {
    if (block.filled) return;
    block.filled = true;
    block.place.replaceChildren(...block.items.map(drawn));
    block.place.style.height = "";
    number();
  }

  /** What somebody works in stays. */
  function empty(block) {
    if (!block.filled || block.place.contains(document.activeElement) || block.place.querySelector("form")) return;
    block.place.style.height = `${block.place.offsetHeight}px`;
    block.filled = false;
    block.place.replaceChildren();
  }

  function number() {
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

  function append(items) {
    const block = { items, place: el("div", { class: "block" }), filled: false };
    block.place.block = block;
    blocks.push(block);
    place.append(block.place);
    fill(block);
    seen.observe(block.place);
  }

  function finish() {
    const left = total !== null && count() < total;
    end.replaceChildren(...(left ? [more] : []));
    reached.unobserve(end);
    if (left) reached.observe(end);
    place.setAttribute("aria-busy", "false");
    told({ shown: count(), total: total ?? count() });
  }

  /** Whoever was at a button of an item is there again. */
  function again(held) {
    const article = [...place.querySelectorAll("article")].find((one) => one.dataset.id === held.closest("article")?.dataset.id);
    (article?.querySelector(`[data-do="${held.dataset.do}"]`) ?? article)?.focus({ preventScroll: true });
  }

  /** What `get` gives, asked again if something was changed here meanwhile. */
  async function steady(get) {
    for (;;) {
      const before = changes;
      const got = await get();
      if (before === changes) return got;
    }
  }

  async function load() {
    if (busy || (total !== null && count() >= total)) return;
    busy = true;
    const mine = turn;
    place.setAttribute("aria-busy", "true");
    const got = await attempt(() => steady(() => fetch(count(), PAGE)));
    busy = false;
    if (mine !== turn) return;
    if (got) {
      // What came in meanwhile may have pushed down what is known already.
      const known = new Set(blocks.flatMap((block) => block.items.map((item) => item.id)));
      const fresh = got.items.filter((item) => !known.has(item.id));
      total = got.items.length ? got.total : count();
      if (fresh.length) append(fresh);
    }
    finish();
  }

  return {
    /** From the beginning; what was shown goes when the first of the new is there, `unless` that must not be. */
    async restart(unless = () => false) {
      turn += 1;
      const mine = turn;
      place.setAttribute("aria-busy", "true");
      const got = await attempt(() => steady(() => fetch(0, PAGE)));
      if (mine !== turn) return;
      place.setAttribute("aria-busy", "false");
      if (got && !unless()) this.put(got.items, got.total);
    },
    /** These and, up to `all`, more on request. */
    put(items, all = items.length) {
      const held = place.contains(document.activeElement) ? document.activeElement : null;
      turn += 1;
      busy = false;
      seen.disconnect();
      place.replaceChildren();
      blocks = [];
      total = all;
      if (items.length) append(items);
      finish();
      if (held) again(held);
    },
    /** One more, in front of all others. */
    first(item) {
      changes += 1;
      if (!blocks.length) return this.put([item], 1);
      fill(blocks[0]);
      blocks[0].items.unshift(item);
      blocks[0].place.prepend(drawn(item));
      total += 1;
      number();
      return finish();
    },
    /** Puts something else in an item's place, or nothing; gives the article that is there now. */
    change(id, item) {
      changes += 1;
      for (const block of blocks) {
        const at = block.items.findIndex((one) => one.id === id);
        if (at < 0) continue;
        const article = block.filled ? block.place.children[at] : null;
        if (item) {
          block.items[at] = item;
          const next = drawn(item);
          article?.replaceWith(next);
          number();
          return next;
        }
        block.items.splice(at, 1);
        total -= 1;
        article?.remove();
        number();
        finish();
        return block.filled ? (block.place.children[Math.min(at, block.items.length - 1)] ?? null) : null;
      }
      return null;
    },
    steady,
    has: (id) => blocks.some((block) => block.items.some((item) => item.id === id)),
    editing: () => place.querySelector("form") !== null,
  };
}
