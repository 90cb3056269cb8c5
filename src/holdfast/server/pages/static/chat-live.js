// An answer while it is written: followed, taken up again when the connection is lost, and shown as it grows.
// It knows nothing of what was asked; `hooks` hear of what the rest of the page has to know.
import { banner, el, word } from "./core.js";
import { put, thinking, tool } from "./chat-message.js";
import { announce, stream } from "./chat-state.js";
import { notices, windowed } from "./chat-under.js";

const decimals = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
// Milliseconds until a lost connection is tried again; the last one over and over.
const pauses = [300, 1000, 2000, 4000];
const ends = new Set(["done", "error"]);

/** The element that an answer grows in. */
export class Live {
  constructor() {
    this.began = performance.now();
    this.job = "";
    this.seen = 0;
    this.blocks = [];
    this.body = el("div", { class: "markdown", dir: "auto" });
    this.above = el("div", { class: "above" });
    this.below = el("div", { class: "below" });
    this.line = el("p", { class: "facts live" }, el("span", { class: "pulse", "aria-hidden": "true" }), el("span"));
    this.element = el("article", { class: "message assistant writing", "aria-busy": "true" },
      el("div", { class: "said" }, this.above, this.body), this.line, this.below);
    this.says("asking");
    this.timer = setInterval(() => this.tick(), 1000);
  }

  says(name, values = {}, more = "") {
    this.state = { name, values, more };
    this.tick();
  }

  tick() {
    const seconds = Math.round((performance.now() - this.began) / 1000);
    const { name, values, more } = this.state;
    const parts = [word(name, values), more, seconds ? word("seconds", { n: decimals.format(seconds) }) : ""];
    this.line.lastElementChild.textContent = parts.filter(Boolean).join(" · ");
  }

  close() {
    clearInterval(this.timer);
    this.line.remove();
    this.element.removeAttribute("aria-busy");
    this.element.classList.remove("writing");
  }

  hear(kind, data) {
    if (kind === "state") this.stands(data);
    else if (kind === "thinking") this.thinks(data.text);
    else if (kind === "html") this.block(data);
    else if (kind === "tool") this.above.parentElement.append(tool(data));
    else if (kind === "pace" && data.seconds > 0.5) this.says(this.body.childElementCount ? "writing" : "is_thinking", {}, word("pace", { n: `≈ ${decimals.format(data.pieces / data.seconds)}` }));
    else if (kind === "report") this.reports(data);
  }

  stands(data) {
    if (data.status === "queued") this.says("queued", { n: data.position });
    else if (data.status === "summarising") this.says("compacting", { n: data.percent });
    else this.says("running");
  }

  thinks(text) {
    if (!this.thought) {
      this.thought = thinking("");
      this.above.append(this.thought);
      this.says("is_thinking");
    }
    this.thought.lastElementChild.append(text);
  }

  block({ block, html }) {
    if (!this.body.childElementCount) {
      announce(word("began"));
      this.says("writing");
    }
    while (this.blocks.length <= block) {
      const made = el("div", { class: "block" });
      this.blocks.push(made);
      this.body.append(made);
    }
    put(this.blocks[block], html);
  }

  reports(report) {
    this.report = report;
    this.below.replaceChildren(...[windowed(report), notices(report)].filter(Boolean));
  }
}

/** Takes away what was said of the lost connection, and nothing else that may stand there by now. */
function mended(live, was) {
  live.says(was.name, was.values, was.more);
  if (document.getElementById("banner").textContent === word("connection_lost")) banner("");
}

/**
 * Follows a turn to its end. `open(after)` gives its events from the beginning or after an id; `hooks.start`
 * hears of its beginning. Gives the last event, or null if the turn is not known any more.
 */
export async function follow(live, first, hooks) {
  let source = first, tries = 0, lost = null;
  for (;;) {
    try {
      for await (const { kind, data, id } of source()) {
        tries = 0;
        if (lost) mended(live, lost);
        lost = null;
        live.seen = Number(id) || live.seen;
        if (kind === "start") {
          live.job = data.job;
          hooks.start(data);
        } else if (ends.has(kind)) return { kind, data };
        else live.hear(kind, data);
      }
    } catch (error) {
      if (error.name === "AbortError") throw error;
      // Before anything was told, it is the asking that failed; after that, a turn that is not known is over.
      if (!live.job || (error.status && error.status < 500)) {
        mended(live, live.state);
        if (live.job) return null;
        throw error;
      }
    }
    if (!live.job) throw new Error(word("offline"));
    lost ??= live.state;
    if (tries) {
      banner(word("connection_lost"));
      live.says("lost");
    }
    await new Promise((resolve) => setTimeout(resolve, pauses[Math.min(tries++, pauses.length - 1)]));
    source = () => stream(`/api/chats/turns/${live.job}?after=${live.seen}`, { signal: hooks.signal });
  }
}
