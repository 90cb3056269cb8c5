// What stands under an answer: how long it took, the window it was made from, memories and sources used for it.
import { attempt, dialog, el, number, toast, word } from "./core.js";
import { call, here, state } from "./chat-state.js";
import { meter } from "./meter.js";

const decimals = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });

/** Seconds, tokens and speed in a line; null where nothing is known. */
export function facts({ model, seconds, tokens, tokens_per_second: pace, prompt_tokens: read, window, finish }) {
  const parts = [model];
  if (seconds !== null && seconds !== undefined) parts.push(word("seconds", { n: decimals.format(seconds) }));
  if (tokens) parts.push(word("tokens", { n: number(tokens) }));
  if (pace) parts.push(word("pace", { n: decimals.format(pace) }));
  if (finish === "cut" || finish === "length") parts.push(word(finish));
  const told = parts.filter(Boolean).join(" · ");
  if (!told) return null;
  return el("p", { class: "facts" }, told, read && window && el("span", { class: "read" }, ` · ${word("used", { used: number(read), window: number(window) })}`));
}

/** The meter of the window that an answer was made from, and the way to all that is known of it. */
export function windowed(report) {
  const link = el("a", { href: `/c/${state.conversation}/context`, class: "small" }, word("context"));
  return el("div", { class: "windowed" }, meter(report, { compact: true }), link);
}

/** What was not as it should be, in sentences. */
export function notices(report) {
  const told = (report.notices ?? []).map((one) => one.text);
  const language = document.documentElement.lang === "de" ? 1 : 0;
  for (const file of report.files ?? []) told.push(word("file_trouble", { name: file.name, why: file.trouble[language] ?? file.trouble[0] }));
  return told.length ? el("ul", { class: "notices" }, told.map((text) => el("li", { dir: "auto" }, text))) : null;
}

/** The memories used for an answer, folded; they are looked up when somebody wants to see them. */
export function remembered(answer, count, known = null) {
  const list = el("ul", { class: "used" });
  const made = el("details", { class: "fold memories" }, el("summary", {}, count === 1 ? word("memory_used") : word("memories_used", { n: count })), list);
  let asked = known !== null;
  if (known) list.append(...known.map(memory));
  made.addEventListener("toggle", async () => {
    if (!made.open || asked) return;
    asked = true;
    const found = await attempt(() => call(here(`/messages/${answer}/memories`)));
    if (!found) asked = false;
    else if (found.memories.length) list.replaceChildren(...found.memories.map(memory));
    else list.replaceChildren(el("li", { class: "faint" }, word("gone")));
  });
  return made;
}

function memory(one) {
  const text = el("span", { dir: "auto" }, one.text);
  const made = el("li", {}, text, el("span", { class: "small faint" }, " ", source(one)), one.kind !== "passage" && el("span", { class: "deeds" },
    el("button", { type: "button", class: "quiet", onclick: () => correct(one, text) }, word("correct")),
    el("button", { type: "button", class: "quiet", onclick: () => forget(one, made) }, word("forget"))));
  return made;
}

function source(one) {
  if (!one.source) return one.path ? word("from_file", { path: one.path }) : word("from_you");
  if (one.source.title === null) return word("from_deleted");
  return el("a", { href: `/c/${one.source.conversation}`, dir: "auto" }, word("from_chat", { title: one.source.title || word("untitled") }));
}

async function correct(one, shown) {
  const field = el("textarea", { rows: "3", dir: "auto", class: "wide", value: one.text });
  const pressed = await dialog(word("correct"), el("label", {}, word("memory_text"), field), [
    { value: "", label: word("cancel") }, { value: "yes", label: word("save"), kind: "main" }]);
  if (pressed !== "yes" || !field.value.trim()) return;
  const changed = await attempt(() => call(`/api/memory/${one.id}`, { method: "PUT", body: { text: field.value } }));
  if (!changed) return;
  one.text = shown.textContent = changed.text;
  toast(word("saved"));
}

async function forget(one, made) {
  const done = await attempt(async () => {
    await call(`/api/memory/${one.id}`, { method: "DELETE" });
    return true;
  });
  if (!done) return;
  const beside = made.nextElementSibling ?? made.previousElementSibling;
  (beside?.querySelector("button") ?? made.closest("details").querySelector("summary")).focus();
  made.remove();
  toast(word("forgotten"));
}

/** The sources that were found for a question, folded; they are looked up when somebody wants to see them. */
export function sources(findings) {
  const list = el("ol", { class: "used" });
  const made = el("details", { class: "fold" }, el("summary", {}, word("sources")), list);
  let asked = false;
  made.addEventListener("toggle", async () => {
    if (!made.open || asked) return;
    asked = true;
    const found = await Promise.all(findings.map((id) => call(`/api/research/${id}?texts=off`).catch(() => null)));
    const known = found.flatMap((one) => (one?.sources ?? []).map((source, at) => ({ ...source, number: at + 1 }))).filter((one) => one.url && !one.trouble);
    list.replaceChildren(...(known.length ? known.map(linked) : [el("li", { class: "faint" }, word("gone"))]));
  });
  return made;
}

function linked(one) {
  const name = one.title || one.url;
  // The number by which the model knows it: those that could not be read are counted.
  return el("li", { dir: "auto", value: one.number }, /^https?:/.test(one.url) ? el("a", { href: one.url, target: "_blank", rel: "noopener noreferrer" }, name) : name);
}
