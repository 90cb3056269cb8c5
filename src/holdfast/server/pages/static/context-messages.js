// The messages of a window: how each stands there and why, what the model sees of it, and pinning.
import { attempt, el, formatMoment, formatNumber, queryAll, toast, word } from "./core.js";

const filters = ["all", "in", "shortened", "out"];
let filter = "all";

export async function showMessages(panel, view) {
  const list = el("ul", { class: "list" });
  const more = el("button", { type: "button", hidden: true }, word("more"));
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
    more.hidden = !next;
    list.append(...reply.messages.map((message) => renderMessage(message, view)));
    if (!list.firstChild) list.append(el("li", { class: "empty" }, word("nothing")));
    if (first) panel.replaceChildren(renderFilter(reply.counts, () => showMessages(panel, view)), list, more);
  }

  more.addEventListener("click", () => loadPage(false));
  // The next page is there before its button is reached; the button is for those who do not scroll.
  new IntersectionObserver(([entry]) => entry.isIntersecting && next && loadPage(false), {
    rootMargin: "600px",
  }).observe(more);
  await loadPage(true);
}

function renderFilter(counts, reload) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return el(
    "div",
    { class: "filter", role: "group" },
    filters.map((name) =>
      el("button", {
        type: "button",
        "aria-pressed": String(name === filter),
        data: { filter: name },
        onclick: async () => {
          filter = name;
          await reload();
          queryAll(`[data-filter="${name}"]`)[0]?.focus();
        },
      }, word(`${name}_n`, { n: formatNumber(name === "all" ? all : counts[name]) }))
    ),
  );
}

function renderMessage(message, view) {
  const what = [
    message.tools.length && word("calls", { names: message.tools.join(", ") }),
    message.images && word("pictures", { n: message.images }),
  ].filter(Boolean);
  const cut = message.characters > message.beginning.length;
  return el(
    "li",
    { class: `entry ${message.state}`, data: { message: message.id } },
    el(
      "header",
      {},
      el("strong", {}, word(`role_${message.role}`)),
      el("span", { class: "tag" }, word(`state_${message.state}`)),
      el("span", { class: "grow" }, formatMoment(message.created_at)),
      message.tokens !== null && el("span", {}, word("tokens", { n: formatNumber(message.tokens) })),
      renderPin(message, view),
    ),
    el("p", { class: "text", dir: "auto" }, message.beginning + (cut ? " …" : "")),
    what.length > 0 && el("p", { class: "why faint", dir: "auto" }, what.join(" · ")),
    message.rules.map((rule) => el("p", { class: "why" }, word(`rule_${rule}`))),
    message.shown !== null && renderFold(word("seen_as"), el("pre", { dir: "auto" }, message.shown)),
    message.added.map((addition) =>
      renderFold(
        word("added", {
          what: [word(`section_${addition.section}`), addition.name].filter(Boolean).join(" · "),
        }),
        el("pre", { dir: "auto" }, addition.text),
      )
    ),
    (cut || message.state === "shortened") && renderOriginal(message, view),
  );
}

const renderFold = (title, ...content) => el("details", {}, el("summary", {}, title), content);

function renderOriginal(message, view) {
  const details = renderFold(word("original", { n: formatNumber(message.characters) }));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const full = await attempt(() => view.ask(`messages/${message.id}`));
    if (full) details.append(el("pre", { dir: "auto" }, full.content));
  });
  return details;
}

function renderPin(message, view) {
  let isPinned = message.pinned;
  const button = el("button", {
    type: "button",
    class: "quiet",
    title: word("pin_help"),
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
      toast(`${word(isPinned ? "pinned" : "unpinned")} ${word("next_time")}`);
    },
  });
  const showLabel = () => {
    button.textContent = word(isPinned ? "unpin" : "pin");
    button.setAttribute("aria-pressed", String(isPinned));
  };
  showLabel();
  return button;
}
