// The messages of a window: how each stands there and why, what the model sees of it, and pinning.
import { attempt, el, moment, number, toast, word } from "./core.js";

const filters = ["all", "in", "shortened", "out"];
let filter = "all";

export async function messages(panel, shown) {
  const list = el("ul", { class: "list" });
  const more = el("button", { type: "button", hidden: true }, word("more"));
  let next = null, busy = false;

  async function page(first) {
    if (busy) return;
    busy = true;
    const params = { limit: 60, ...(filter === "all" ? {} : { state: filter }), ...(first ? {} : { before: next }) };
    const told = await attempt(() => shown.ask("window/messages", { params }));
    busy = false;
    if (!told) return;
    next = told.next;
    more.hidden = !next;
    list.append(...told.messages.map((message) => row(message, shown)));
    if (!list.firstChild) list.append(el("li", { class: "empty" }, word("nothing")));
    if (first) panel.replaceChildren(choice(told.counts, () => messages(panel, shown)), list, more);
  }

  more.addEventListener("click", () => page(false));
  // The next page is there before its button is reached; the button is for those who do not scroll.
  new IntersectionObserver(([seen]) => seen.isIntersecting && next && page(false), { rootMargin: "600px" }).observe(more);
  await page(true);
}

function choice(counts, again) {
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  return el("div", { class: "filter", role: "group" }, filters.map((name) =>
    el("button", { type: "button", "aria-pressed": String(name === filter), data: { filter: name }, onclick: async () => {
      filter = name;
      await again();
      document.querySelector(`[data-filter="${name}"]`)?.focus();
    } }, word(`${name}_n`, { n: number(name === "all" ? all : counts[name]) }))));
}

function row(message, shown) {
  const what = [message.tools.length && word("calls", { names: message.tools.join(", ") }), message.images && word("pictures", { n: message.images })].filter(Boolean);
  const cut = message.characters > message.beginning.length;
  return el("li", { class: `entry ${message.state}`, data: { message: message.id } },
    el("header", {}, el("strong", {}, word(`role_${message.role}`)), el("span", { class: "tag" }, word(`state_${message.state}`)),
      el("span", { class: "grow" }, moment(message.created_at)),
      message.tokens !== null && el("span", {}, word("tokens", { n: number(message.tokens) })), pin(message, shown)),
    el("p", { class: "text", dir: "auto" }, message.beginning + (cut ? " …" : "")),
    what.length > 0 && el("p", { class: "why faint", dir: "auto" }, what.join(" · ")),
    message.rules.map((rule) => el("p", { class: "why" }, word(`rule_${rule}`))),
    message.shown !== null && fold(word("seen_as"), el("pre", { dir: "auto" }, message.shown)),
    message.added.map((one) => fold(word("added", { what: [word(`section_${one.section}`), one.name].filter(Boolean).join(" · ") }), el("pre", { dir: "auto" }, one.text))),
    (cut || message.state === "shortened") && original(message, shown));
}

const fold = (title, ...content) => el("details", {}, el("summary", {}, title), content);

function original(message, shown) {
  const made = fold(word("original", { n: number(message.characters) }));
  made.addEventListener("toggle", async () => {
    if (!made.open || made.childElementCount > 1) return;
    const whole = await attempt(() => shown.ask(`messages/${message.id}`));
    if (whole) made.append(el("pre", { dir: "auto" }, whole.content));
  });
  return made;
}

function pin(message, shown) {
  let pinned = message.pinned;
  const button = el("button", { type: "button", class: "quiet", title: word("pin_help"), onclick: async () => {
    button.disabled = true;
    const done = await attempt(() => shown.ask(`messages/${message.id}/pin`, { method: pinned ? "DELETE" : "POST" }));
    button.disabled = false;
    button.focus();
    if (!done) return;
    pinned = done.pinned;
    say();
    toast(`${word(pinned ? "pinned" : "unpinned")} ${word("next_time")}`);
  } });
  const say = () => {
    button.textContent = word(pinned ? "unpin" : "pin");
    button.setAttribute("aria-pressed", String(pinned));
  };
  say();
  return button;
}
