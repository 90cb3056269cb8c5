// All that is known of an answer, unfolded by a click: numbers, memories and sources used for it.
import { attempt, el, formatNumber, showDialog, toast, word } from "./core.js";
import { call, chatPath, state } from "./chat-state.js";

const decimals = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });

/** @param {import("./chat-details.js").AnswerFacts} facts */
export function renderAll(facts) {
  const { tokens, tokens_per_second: pace, window, prompt_tokens: read } = facts.numbers ?? {};
  const rows = [
    read && window &&
    [word("about_read"), word("used", { used: formatNumber(read), window: formatNumber(window) })],
    tokens && [word("about_written"), word("tokens", { n: formatNumber(tokens) })],
    pace && [word("about_pace"), word("pace", { n: decimals.format(pace) })],
  ].filter(Boolean);
  return el(
    "div",
    { class: "about-all" },
    rows.length > 0 &&
      el("dl", {}, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    (facts.memories || facts.quotes) ? renderMemoriesUsed(facts.id) : null,
    facts.findings?.length ? renderSources(facts.findings) : null,
    state.conversation &&
      el("a", { href: `/c/${state.conversation}/context`, class: "small" }, word("to_context")),
  );
}

/** The memories and quotes used for an answer, looked up. */
function renderMemoriesUsed(answer) {
  const list = el("ul", { class: "used" });
  attempt(() => call(chatPath(`/messages/${answer}/memories`))).then((reply) => {
    const memories = reply?.memories ?? [];
    list.replaceChildren(
      ...(memories.length ? memories.map(renderMemory) : [el("li", { class: "faint" }, word("gone"))]),
    );
  });
  return el("section", {}, el("h2", {}, word("recalled")), list);
}

function renderMemory(memory) {
  const text = el("span", { dir: "auto" }, memory.text);
  const item = el(
    "li",
    {},
    text,
    el("span", { class: "small faint" }, " ", renderSource(memory)),
    memory.kind !== "passage" &&
      el(
        "span",
        { class: "deeds" },
        el(
          "button",
          { type: "button", class: "quiet", onclick: () => correctMemory(memory, text) },
          word("correct"),
        ),
        el(
          "button",
          { type: "button", class: "quiet", onclick: () => forgetMemory(memory, item) },
          word("forget"),
        ),
      ),
  );
  return item;
}

function renderSource(memory) {
  if (!memory.source) return memory.path ? word("from_file", { path: memory.path }) : word("from_you");
  if (memory.source.title === null) return word("from_deleted");
  return el(
    "a",
    { href: `/c/${memory.source.conversation}`, dir: "auto" },
    word("from_chat", { title: memory.source.title || word("untitled") }),
  );
}

async function correctMemory(memory, textSpan) {
  const field = el("textarea", { rows: "3", dir: "auto", class: "wide", value: memory.text });
  const choice = await showDialog(word("correct"), el("label", {}, word("memory_text"), field), [
    { value: "", label: word("cancel") },
    { value: "yes", label: word("save"), kind: "main" },
  ]);
  if (choice !== "yes" || !field.value.trim()) return;
  const saved = await attempt(() =>
    call(`/api/memory/${memory.id}`, { method: "PUT", body: { text: field.value } })
  );
  if (!saved) return;
  memory.text = textSpan.textContent = saved.text;
  toast(word("saved"));
}

async function forgetMemory(memory, item) {
  const done = await attempt(async () => {
    await call(`/api/memory/${memory.id}`, { method: "DELETE" });
    return true;
  });
  if (!done) return;
  const beside = item.nextElementSibling ?? item.previousElementSibling;
  (beside?.querySelector("button") ?? item.closest("details").querySelector("summary")).focus();
  item.remove();
  toast(word("forgotten"));
}

/** The sources that were found for a question, looked up. */
function renderSources(findings) {
  const list = el("ol", { class: "used" });
  Promise.all(findings.map((id) => call(`/api/research/${id}?texts=off`).catch(() => null))).then(
    (replies) => {
      const entries = replies.flatMap((finding) =>
        (finding?.sources ?? []).map((source, at) => ({ ...source, number: at + 1 }))
      ).filter((finding) => finding.url && !finding.trouble);
      list.replaceChildren(
        ...(entries.length ? entries.map(renderLink) : [el("li", { class: "faint" }, word("gone"))]),
      );
    },
  );
  return el("section", {}, el("h2", {}, word("sources")), list);
}

function renderLink(source) {
  const name = source.title || source.url;
  // The number by which the model knows it: those that could not be read are counted.
  return el(
    "li",
    { dir: "auto", value: source.number },
    /^https?:/.test(source.url)
      ? el("a", { href: source.url, target: "_blank", rel: "noopener noreferrer" }, name)
      : name,
  );
}
