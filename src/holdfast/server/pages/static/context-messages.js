// The conversation as a story, in the order in which it was told: on the left what was said, on the right what the
// model gets of it, with what came along and why. Above it the tokens of each turn; a click leads to its question.
import {
  _,
  attempt,
  createIcon,
  describeName,
  el,
  formatMoment,
  formatNumber,
  formatTime,
  ngettext,
  queryAll,
  toast,
} from "./core.js";
import { renderTurnPlot } from "./context-turns.js";
import { describeParts, ROLES } from "./context-names.js";
import { compareWords } from "./word-diff.js";

const filters = {
  all: (n) => _("All ({n})", { n }),
  in: (n) => _("In the window ({n})", { n }),
  shortened: (n) => _("Shortened ({n})", { n }),
  out: (n) => _("Left out ({n})", { n }),
};
let filter = "all";

export async function showMessages(panel, view) {
  const list = el("ol", { class: "list story" });
  const earlier = el("button", { type: "button", hidden: true }, _("Earlier messages"));
  let next = null, busy = false;

  async function loadPage(first) {
    if (busy) return;
    busy = true;
    const params = {
      limit: 60,
      ...(filter === "all" ? {} : { state: filter }),
      ...(first ? {} : { before: next }),
    };
    const reply = await attempt(() => view.ask("window/messages", { params }));
    busy = false;
    if (!reply) return;
    next = reply.next;
    earlier.hidden = !next;
    list.prepend(...reply.messages.toReversed().map((message) => renderMessage(message, view)));
    if (!list.firstChild) list.append(el("li", { class: "empty" }, _("There is nothing here yet.")));
    if (!first) return;
    panel.replaceChildren(
      ...[
        await renderPlot(view, jump),
        renderFilter(reply.counts, () => showMessages(panel, view)),
        view.report.summary && filter === "all" && renderSummary(view.report),
        el(
          "div",
          { class: "story-head", "aria-hidden": "true" },
          el("span", {}, _("What was said")),
          el("span", {}, _("What the model gets")),
        ),
        earlier,
        list,
      ].filter(Boolean),
    );
  }

  /** Goes to a message; pages before it are loaded until it is there. */
  async function jump(id) {
    const findEntry = () => queryAll(`[data-message="${CSS.escape(id)}"]`, list)[0];
    while (!findEntry() && next) await loadPage(false);
    for (const entry of queryAll(".sought", list)) entry.classList.remove("sought");
    const entry = findEntry();
    entry?.classList.add("sought");
    entry?.scrollIntoView({ block: "center" });
    entry?.focus({ preventScroll: true });
  }

  earlier.addEventListener("click", () => loadPage(false));
  await loadPage(true);
}

/** The tokens of each turn, one bar on the other; null while there is but one turn. */
async function renderPlot(view, jump) {
  const reply = await view.ask("turns", { params: { limit: 100 } }).catch(() => null);
  if (!reply || reply.turns.length < 2) return null;
  return el("div", { class: "card" }, renderTurnPlot(reply, (turn) => turn.question && jump(turn.question)));
}

/** What the model reads in the place of what was summarised, before all that follows. */
function renderSummary(report) {
  return el(
    "section",
    { class: "entry summarised", "aria-label": _("What the model reads instead of what was summarised") },
    el("header", {}, el("strong", {}, _("What the model reads instead of what was summarised"))),
    el("pre", { class: "summary", dir: "auto", tabindex: "0" }, report.summary),
  );
}

function renderFilter(counts, reload) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return el(
    "div",
    { class: "filter", role: "group" },
    Object.entries(filters).map(([name, label]) =>
      el("button", {
        type: "button",
        "aria-pressed": String(name === filter),
        data: { filter: name },
        class: name,
        onclick: async () => {
          filter = name;
          await reload();
          queryAll(`[data-filter="${name}"]`)[0]?.focus();
        },
      }, label(formatNumber(name === "all" ? all : counts[name])))
    ),
  );
}

/** How a message stands in the window: as its state, or summarised. */
const lookOf = (message) =>
  message.state === "out" && message.rules.includes("summary") ? "summarised" : message.state;

function renderMessage(message, view) {
  const what = [
    message.tools.length && _("calls {names}", { names: message.tools.join(", ") }),
    message.images && ngettext("1 picture", "{n} pictures", { n: message.images }),
  ].filter(Boolean);
  const look = lookOf(message);
  const said = el("p", { class: "text", dir: "auto" });
  const seen = el("div", { class: "seen" });
  const isCut = message.characters > message.beginning.length;
  said.append(message.beginning + (isCut ? " …" : ""));
  const element = el(
    "li",
    { class: `entry ${look}`, data: { message: message.id }, tabindex: "-1" },
    el(
      "header",
      {},
      el("strong", {}, ROLES[message.role]),
      el(
        "span",
        { class: "tag" },
        look === "summarised" ? _("summarised") : describeName("state", message.state),
      ),
      el("time", { class: "grow", title: formatMoment(message.created_at) }, formatTime(message.created_at)),
      message.tokens !== null &&
        el("span", {}, ngettext("1 token", "{n} tokens", { n: formatNumber(message.tokens) })),
      renderPin(message, view),
    ),
    el(
      "div",
      { class: "pair" },
      el(
        "div",
        { class: "said" },
        said,
        what.length > 0 && el("p", { class: "why faint", dir: "auto" }, what.join(" · ")),
        isCut && renderOriginal(message, view),
      ),
      seen,
    ),
  );
  seen.append(...renderSeen(message, said, view, isCut));
  return element;
}

/** What the model gets of a message, and why it gets no more or no less. */
function* renderSeen(message, said, view, isCut) {
  yield el("span", { class: "hidden-label" }, _("What the model gets"));
  if (message.state === "in") {
    yield el("p", { class: "text", dir: "auto" }, message.beginning + (isCut ? " …" : ""));
  } else if (message.state === "shortened") {
    const text = el("p", { class: "text", dir: "auto" }, message.shown);
    yield text;
    compareSoon(message, said, text, view);
  } else yield el("p", { class: "text nothing" }, _("Nothing of it."));
  for (const rule of message.rules) yield el("p", { class: "why" }, describeName("rule", rule));
  for (const addition of message.added) yield renderAddition(addition, message, view);
}

// What is compared when it comes into view: the whole text is asked for then.
const nearby = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    nearby.unobserve(target);
    comparisons.get(target)?.();
  }
}, { rootMargin: "400px" });
const comparisons = new WeakMap();

/** Marks the words that went, and those that came in their place. */
function compareSoon(message, said, seen, view) {
  comparisons.set(seen, async () => {
    const full = await attempt(() => view.ask(`messages/${message.id}`));
    if (!full) return;
    const parts = compareWords(full.content, message.shown);
    const render = (side, tag) =>
      parts.filter((part) => ["both", side].includes(part.in)).map((part) =>
        part.in === "both" ? part.text : el(tag, {}, part.text)
      );
    said.replaceChildren(...render("said", "del"));
    seen.replaceChildren(...render("seen", "ins"));
  });
  nearby.observe(seen);
}

/** What came along with a message: files, sources, memories; of what was recalled, why and from where. */
function renderAddition(addition, message, view) {
  const isRecalled = addition.section === "recalled";
  const title = [describeName("section", addition.section), !isRecalled && addition.name].filter(Boolean)
    .join(
      " · ",
    );
  const fold = renderFold(
    _("Added: {what}", { what: title }),
    el("pre", { dir: "auto" }, addition.text),
  );
  fold.classList.add("addition");
  fold.dataset.section = addition.section;
  if (isRecalled) {
    const places = el("ul", { class: "places small" });
    const why = addition.name === "beginning"
      ? _("Brought in because the conversation began: what matters to it was looked up.")
      : _("Brought in because it fits the question.");
    fold.append(el("p", { class: "why" }, why), places);
    fold.addEventListener("toggle", async () => {
      if (!fold.open || places.firstChild) return;
      const reply = await attempt(() => view.ask(`messages/${message.id}/memories`));
      if (!places.firstChild) {
        places.append(...(reply?.memories ?? []).map((memory) => renderPlace(memory, view)));
      }
    });
  }
  return fold;
}

function renderPlace(memory, view) {
  const source = memory.source;
  const hit = view.report.recall?.brought?.find((entry) => entry.id === memory.id);
  const why = hit &&
    describeParts(hit);
  return el(
    "li",
    { dir: "auto" },
    memory.text,
    " ",
    source?.title !== null && source?.conversation
      ? el(
        "a",
        { href: `/c/${source.conversation}` },
        _("from: {title}", { title: source.title || _("Untitled conversation") }),
      )
      : memory.path
      ? el("a", { href: "/settings/memory#notes" }, memory.path)
      : el("a", { href: "/settings/memory" }, _("Memories")),
    why && el("span", { class: "faint" }, ` (${_("found by {why}", { why })})`),
  );
}

const renderFold = (title, ...content) => el("details", {}, el("summary", {}, title), content);

function renderOriginal(message, view) {
  const details = renderFold(
    ngettext("The original (1 character)", "The original ({n} characters)", {
      n: formatNumber(message.characters),
    }),
  );
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const full = await attempt(() => view.ask(`messages/${message.id}`));
    if (full) details.append(el("pre", { dir: "auto" }, full.content));
  });
  return details;
}

function renderPin(message, view) {
  let isPinned = message.pinned;
  const label = el("span");
  const button = el("button", {
    type: "button",
    class: "quiet copy",
    title: _("Keep this message in the window as it is"),
    onclick: async () => {
      button.disabled = true;
      const done = await attempt(() =>
        view.ask(`messages/${message.id}/pin`, { method: isPinned ? "DELETE" : "POST" })
      );
      button.disabled = false;
      button.focus();
      if (!done) return;
      isPinned = done.pinned;
      showLabel();
      toast(
        `${isPinned ? _("Pinned: it stays in the window.") : _("No longer pinned.")} ${
          _("Changes take effect with the next question.")
        }`,
      );
    },
  });
  const showLabel = () => {
    label.textContent = isPinned ? _("Unpin") : _("Pin");
    button.setAttribute("aria-pressed", String(isPinned));
  };
  button.append(createIcon("pin"), label);
  showLabel();
  return button;
}
