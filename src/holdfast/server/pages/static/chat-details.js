// What stands under an answer: how long it took, the window it was made from, memories and sources used for it.
import { attempt, el, formatNumber, showDialog, toast, word } from "./core.js";
import { call, chatPath, state } from "./chat-state.js";
import { renderMeter } from "./meter.js";

const decimals = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });

/** Seconds, tokens and speed in a line; null where nothing is known. */
export function renderFacts(
  { model, seconds, tokens, tokens_per_second: pace, prompt_tokens: read, window, finish },
) {
  const parts = [model];
  if (seconds !== null && seconds !== undefined) parts.push(word("seconds", { n: decimals.format(seconds) }));
  if (tokens) parts.push(word("tokens", { n: formatNumber(tokens) }));
  if (pace) parts.push(word("pace", { n: decimals.format(pace) }));
  if (finish === "cut" || finish === "length") parts.push(word(finish));
  const line = parts.filter(Boolean).join(" · ");
  if (!line) return null;
  return el(
    "p",
    { class: "facts" },
    line,
    read && window &&
      el(
        "span",
        { class: "read" },
        ` · ${word("used", { used: formatNumber(read), window: formatNumber(window) })}`,
      ),
  );
}

/** The meter of the window that an answer was made from, and the way to all that is known of it. */
export function renderWindow(report) {
  const link = el("a", { href: `/c/${state.conversation}/context`, class: "small" }, word("context"));
  return el("div", { class: "windowed" }, renderMeter(report, { compact: true }), link);
}

/** Lists notices and troubles with files, in sentences. */
export function renderNotices(report) {
  const texts = (report.notices ?? []).map((notice) => notice.text);
  const language = document.documentElement.lang === "de" ? 1 : 0;
  for (const file of report.files ?? []) {
    texts.push(word("file_trouble", { name: file.name, why: file.trouble[language] ?? file.trouble[0] }));
  }
  return texts.length
    ? el("ul", { class: "notices" }, texts.map((text) => el("li", { dir: "auto" }, text)))
    : null;
}

/** The memories used for an answer, folded; they are looked up when somebody wants to see them. */
export function renderMemoriesUsed(answer, count, memories = null) {
  const list = el("ul", { class: "used" });
  const fold = el(
    "details",
    { class: "fold memories" },
    el("summary", {}, count === 1 ? word("memory_used") : word("memories_used", { n: count })),
    list,
  );
  let isLoaded = memories !== null;
  if (memories) list.append(...memories.map(renderMemory));
  fold.addEventListener("toggle", async () => {
    if (!fold.open || isLoaded) return;
    isLoaded = true;
    const reply = await attempt(() => call(chatPath(`/messages/${answer}/memories`)));
    if (!reply) isLoaded = false;
    else if (reply.memories.length) list.replaceChildren(...reply.memories.map(renderMemory));
    else list.replaceChildren(el("li", { class: "faint" }, word("gone")));
  });
  return fold;
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

/** The sources that were found for a question, folded; they are looked up when somebody wants to see them. */
export function renderSources(findings) {
  const list = el("ol", { class: "used" });
  const fold = el("details", { class: "fold" }, el("summary", {}, word("sources")), list);
  let isLoaded = false;
  fold.addEventListener("toggle", async () => {
    if (!fold.open || isLoaded) return;
    isLoaded = true;
    const replies = await Promise.all(
      findings.map((id) => call(`/api/research/${id}?texts=off`).catch(() => null)),
    );
    const entries = replies.flatMap((finding) =>
      (finding?.sources ?? []).map((source, at) => ({ ...source, number: at + 1 }))
    ).filter((finding) => finding.url && !finding.trouble);
    list.replaceChildren(
      ...(entries.length ? entries.map(renderLink) : [el("li", { class: "faint" }, word("gone"))]),
    );
  });
  return fold;
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
