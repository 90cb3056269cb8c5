// An answer while it is written: followed, taken up again when the connection is lost, and shown as it grows.
// `hooks` tell the rest of the page what it has to know.
import { _, byId, el, pgettext, showBanner } from "./core.js";
import { renderToolCall } from "./chat-message.js";
import { announce, stream } from "./chat-state.js";
import { renderNotices } from "./chat-details.js";
import { setWindow } from "./gauge.js";
import { putHtml, renderThinking } from "./markdown.js";

const decimals = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
// Milliseconds until a lost connection is tried again; the last one over and over.
const pauses = [300, 1000, 2000, 4000];
// Seconds after which people may want to do something else meanwhile.
const longWait = 5;
const ends = new Set(["done", "error"]);

/** An answer while it is being written: its element and its status line. */
export class Live {
  constructor() {
    this.startedAt = performance.now();
    this.job = "";
    this.lastEvent = 0;
    this.blocks = [];
    this.body = el("div", { class: "markdown", dir: "auto" });
    this.above = el("div", { class: "above" });
    this.below = el("div", { class: "below" });
    this.status = el("span");
    this.line = el(
      "p",
      { class: "facts live" },
      el("span", { class: "pulse", "aria-hidden": "true" }),
      this.status,
    );
    this.versions = el("div", { class: "actions" });
    this.element = el(
      "article",
      { class: "message assistant writing", "aria-busy": "true" },
      el("div", { class: "said" }, this.above, this.body),
      this.line,
      this.below,
      this.versions,
    );
    this.say(_("Sending …"));
    this.timer = setInterval(() => this.tick(), 1000);
  }

  say(text, extra = "") {
    this.state = { text, extra };
    this.tick();
  }

  tick() {
    const seconds = Math.round((performance.now() - this.startedAt) / 1000);
    const { text, extra } = this.state;
    const parts = [
      text,
      extra,
      seconds ? _("{n} s", { n: decimals.format(seconds) }) : "",
    ];
    this.status.textContent = parts.filter(Boolean).join(" · ");
    if (seconds >= longWait && !this.hasBell) {
      this.hasBell = true;
      import("./chat-notify.js").then(
        ({ createBell }) => this.line.append(...[createBell()].filter(Boolean)),
        () => {},
      );
    }
  }

  close() {
    clearInterval(this.timer);
    this.line.remove();
    // From here on it is what it will be when it is loaded again.
    this.body.replaceChildren(...this.blocks.flatMap((block) => [...block.childNodes]));
    this.element.removeAttribute("aria-busy");
    this.element.classList.remove("writing");
  }

  handle(kind, data) {
    if (kind === "state") this.showState(data);
    else if (kind === "thinking") this.addThinking(data.text);
    else if (kind === "html") this.putBlock(data);
    else if (kind === "tool") this.above.parentElement.append(renderToolCall(data));
    else if (kind === "pace" && data.seconds > 0.5) {
      this.say(
        this.body.childElementCount ? _("Writing") : pgettext("state of an answer", "Thinking"),
        _("{n} tokens/s", { n: `≈ ${decimals.format(data.pieces / data.seconds)}` }),
      );
    } else if (kind === "report") this.showReport(data);
  }

  showState(data) {
    if (data.status === "queued") this.say(_("Waiting: {n} in line", { n: data.position }));
    else if (data.status === "summarising") {
      this.say(_("Summarising what is older: {n} %", { n: data.percent }));
    } else this.say(_("The model is reading"));
  }

  addThinking(text) {
    if (!this.thinking) {
      this.thinking = renderThinking("");
      this.above.append(this.thinking);
      this.say(pgettext("state of an answer", "Thinking"));
    }
    this.thinking.lastElementChild.append(text);
  }

  putBlock({ block, html }) {
    if (!this.body.childElementCount) {
      announce(_("The model is answering."));
      this.say(_("Writing"));
    }
    while (this.blocks.length <= block) {
      const element = el("div", { class: "block" });
      this.blocks.push(element);
      this.body.append(element);
    }
    putHtml(this.blocks[block], html);
  }

  /** Shows that earlier answers are kept beside this one. */
  showVersions(count) {
    if (count < 2) return;
    const label = _("Version {n} of {of}", { n: count, of: count });
    this.versions.replaceChildren(
      el("span", { class: "versions", role: "group", "aria-label": label }, `${count}/${count}`),
    );
  }

  showReport(report) {
    this.report = report;
    this.below.replaceChildren(...[renderNotices(report)].filter(Boolean));
    setWindow(report);
  }
}

/** Restores the status line, and removes the banner if it is the one about the lost connection. */
function restoreState(live, before) {
  live.say(before.text, before.extra);
  if (
    byId("banner").textContent === _("The connection was lost in the middle of the answer. Trying again …")
  ) showBanner("");
}

/**
 * Follows a turn to its end. `open(after)` gives its events from the beginning or after an id; `hooks.start`
 * hears of its beginning. Gives the last event, or null if the turn is not known any more.
 */
export async function followTurn(live, first, hooks) {
  let source = first, tries = 0, stateBefore = null;
  for (;;) {
    try {
      for await (const { kind, data, id } of source()) {
        tries = 0;
        if (stateBefore) restoreState(live, stateBefore);
        stateBefore = null;
        live.lastEvent = Number(id) || live.lastEvent;
        if (kind === "start") {
          live.job = data.job;
          hooks.start(data);
        } else if (ends.has(kind)) return { kind, data };
        else live.handle(kind, data);
      }
    } catch (error) {
      if (error.name === "AbortError") throw error;
      // Without a job the request itself failed; with one, a turn that the server does not know is over.
      if (!live.job || (error.status && error.status < 500)) {
        restoreState(live, live.state);
        if (live.job) return null;
        throw error;
      }
    }
    if (!live.job) throw new Error(_("The server does not answer. Trying again …"));
    stateBefore ??= live.state;
    if (tries) {
      showBanner(_("The connection was lost in the middle of the answer. Trying again …"));
      live.say(_("Connection lost"));
    }
    await new Promise((resolve) => setTimeout(resolve, pauses[Math.min(tries++, pauses.length - 1)]));
    source = () => stream(`/api/chats/turns/${live.job}?after=${live.lastEvent}`, { signal: hooks.signal });
  }
}
