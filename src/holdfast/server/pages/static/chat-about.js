// All that is known of an answer, unfolded by a click: numbers, memories and sources used for it.
import { _, attempt, el, formatNumber, ngettext, showDialog, toast } from "./core.js";
import { call, chatPath, state } from "./chat-state.js";

const decimals = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });

/** @param {import("./chat-details.js").AnswerFacts} facts */
export function renderAll(facts) {
  const { tokens, tokens_per_second: pace, window, prompt_tokens: read } = facts.numbers ?? {};
  const rows = [
    read && window &&
    [_("Read"), _("{used} of {window} tokens", { used: formatNumber(read), window: formatNumber(window) })],
    tokens && [_("Written"), ngettext("1 token", "{n} tokens", { n: formatNumber(tokens) })],
    pace && [_("Speed"), _("{n} tokens/s", { n: decimals.format(pace) })],
  ].filter(Boolean);
  return el(
    "div",
    { class: "about-all" },
    rows.length > 0 &&
      el("dl", {}, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    (facts.memories || facts.quotes) ? renderMemoriesUsed(facts.id) : null,
    facts.findings?.length ? renderSources(facts.findings) : null,
    state.conversation &&
      el("a", { href: `/c/${state.conversation}/context`, class: "small" }, _("What the model sees")),
  );
}

/** The memories and quotes used for an answer, looked up. */
function renderMemoriesUsed(answer) {
  const list = el("ul", { class: "used" });
  attempt(() => call(chatPath(`/messages/${answer}/memories`))).then((reply) => {
    const memories = reply?.memories ?? [];
    list.replaceChildren(
      ...(memories.length
        ? memories.map(renderMemory)
        : [el("li", { class: "faint" }, _("They are forgotten by now."))]),
    );
  });
  return el("section", {}, el("h2", {}, _("Recalled for it")), list);
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
          _("Correct"),
        ),
        el(
          "button",
          { type: "button", class: "quiet", onclick: () => forgetMemory(memory, item) },
          _("Forget"),
        ),
      ),
  );
  return item;
}

function renderSource(memory) {
  if (!memory.source) {
    return memory.path ? _("from the note {path}", { path: memory.path }) : _("noted by yourself");
  }
  if (memory.source.title === null) return _("from a conversation that was deleted");
  return el(
    "a",
    { href: `/c/${memory.source.conversation}`, dir: "auto" },
    _("from: {title}", { title: memory.source.title || _("Untitled") }),
  );
}

async function correctMemory(memory, textSpan) {
  const field = el("textarea", { rows: "3", dir: "auto", class: "wide", value: memory.text });
  const choice = await showDialog(_("Correct"), el("label", {}, _("What is remembered"), field), [
    { value: "", label: _("Cancel") },
    { value: "yes", label: _("Save"), kind: "main" },
  ]);
  if (choice !== "yes" || !field.value.trim()) return;
  const saved = await attempt(() =>
    call(`/api/memory/${memory.id}`, { method: "PUT", body: { text: field.value } })
  );
  if (!saved) return;
  memory.text = textSpan.textContent = saved.text;
  toast(_("Saved."));
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
  toast(_("Forgotten."));
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
        ...(entries.length
          ? entries.map(renderLink)
          : [el("li", { class: "faint" }, _("They are forgotten by now."))]),
      );
    },
  );
  return el("section", {}, el("h2", {}, _("Sources")), list);
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
