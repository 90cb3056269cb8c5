// One message as an element: what was said, thinking and tools folded, pictures and files, what can be done.
// What its buttons do is passed in as `acts`.
import { createCopyButton, el, formatMoment, formatNumber, parseHtml, queryAll, word } from "./core.js";
import { renderLine as keptLine } from "./chat-memories.js";
import { call, chatPath, state } from "./chat-state.js";
import { renderFacts, renderMemoriesUsed, renderSources } from "./chat-details.js";

/** An entry of a conversation; `acts` has `edit`, `regenerate`, `fork` and `turn`. */
export function renderMessage(entry, acts) {
  if (entry.role === "tool") {
    return renderShell(
      entry,
      "tool",
      word("tool_result", { name: entry.tool_name ?? word("unnamed_tool") }),
      renderToolResult(entry),
    );
  }
  const isQuestion = entry.role !== "assistant";
  const label = isQuestion ? word("you") : word("answer_of", { model: entry.model ?? "" });
  const parts = isQuestion ? [...renderQuestion(entry)] : [...renderAnswer(entry)];
  const element = renderShell(entry, isQuestion ? "user" : "assistant", label, parts);
  if (!isQuestion) element.append(...renderDetails(entry));
  if (entry.id) element.append(renderActions(entry, element, acts, isQuestion));
  return element;
}

function renderShell(entry, kind, label, parts) {
  const data = entry.id ? { message: entry.id, parent: entry.parent ?? "" } : {};
  return el(
    "article",
    { class: `message ${kind}`, "aria-label": label, data, tabindex: "-1" },
    el("div", { class: "said" }, parts),
  );
}

function* renderQuestion(entry) {
  const text = entry.text ?? entry.content;
  if (entry.images) yield renderPictures(entry);
  if (entry.files?.length) {
    yield el(
      "ul",
      { class: "attached" },
      entry.files.map((file) =>
        el(
          "li",
          {},
          el(
            "span",
            { dir: "auto" },
            word("file_size", { name: file.name, n: formatNumber(file.characters) }),
          ),
        )
      ),
    );
  }
  if (text) yield el("div", { class: "words", dir: "auto" }, text);
}

function renderPictures(entry) {
  const addresses = entry.pictures ??
    Array.from({ length: entry.images }, (_, at) => chatPath(`/messages/${entry.id}/images/${at}`));
  return el(
    "div",
    { class: "pictures" },
    addresses.map((address, at) => {
      const image = el("img", { alt: word("picture", { n: at + 1 }), loading: "lazy" });
      const link = el("a", { target: "_blank", rel: "noopener" }, image);
      const showFrom = (from) => ([image.src, link.href] = [from, from]);
      // A picture is asked for by its address alone, which does not say that it is a group's.
      if (state.kind === "private" || !address.startsWith("/")) showFrom(address);
      else {call(address, { raw: true }).then((response) => response.blob()).then((blob) =>
          showFrom(URL.createObjectURL(blob))
        ).catch(() => link.remove());}
      return link;
    }),
  );
}

function* renderAnswer(entry) {
  if (entry.thinking) yield renderThinking(entry.thinking);
  const body = el("div", { class: "markdown", dir: "auto" });
  // Without HTML it is too long to be rendered, and shown as it is.
  if (entry.html !== null && entry.html !== undefined) putHtml(body, entry.html);
  else body.append(el("div", { class: "words", dir: "auto" }, entry.content));
  yield body;
  for (const call of entry.tool_calls ?? []) yield renderToolCall(call);
}

export function renderThinking(text) {
  return el(
    "details",
    { class: "fold thinking" },
    el("summary", {}, word("thinking")),
    el("div", { class: "words", dir: "auto" }, text),
  );
}

export function renderToolCall(call) {
  return el(
    "details",
    { class: "fold" },
    el("summary", {}, word("tool_call", { name: call.name })),
    el("pre", { dir: "auto" }, formatJson(call.arguments)),
  );
}

function renderToolResult(entry) {
  return el(
    "details",
    { class: "fold" },
    el("summary", {}, word("tool_result", { name: entry.tool_name ?? word("unnamed_tool") })),
    el("pre", { dir: "auto" }, entry.content),
  );
}

function formatJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Puts HTML of the server's into an element, and what belongs to blocks of code around them. */
export function putHtml(place, html) {
  const content = parseHtml(html);
  for (const code of queryAll("pre > code", content)) addCodeHead(code);
  for (const table of queryAll("table", content)) {
    const holder = el("div", { class: "wide-table", tabindex: "0" });
    table.replaceWith(holder);
    holder.append(table);
  }
  for (const link of queryAll("a[href^='http']", content)) link.setAttribute("target", "_blank");
  // What a model calls a heading stands below those of the page.
  for (const heading of queryAll("h1, h2, h3, h4, h5, h6", content)) {
    heading.ariaLevel = String(Math.min(6, Number(heading.tagName[1]) + 2));
  }
  for (const block of queryAll("p, li, h1, h2, h3, h4, h5, h6, td, th, blockquote", content)) {
    block.dir = "auto";
  }
  place.replaceChildren(content);
}

function addCodeHead(code) {
  const languageClass = [...code.classList].find((name) => name.startsWith("language-"));
  const text = code.textContent;
  const holder = el(
    "div",
    { class: "code" },
    el(
      "div",
      { class: "code-head" },
      el("span", {}, languageClass?.slice(9) || word("code")),
      createCopyButton(text),
    ),
  );
  code.parentElement.replaceWith(holder);
  code.dir = "ltr";
  holder.append(el("pre", { tabindex: "0" }, code));
}

function renderDetails(entry) {
  const parts = [];
  const line = renderFacts({ ...entry.numbers, model: entry.model, finish: entry.finish });
  if (line) parts.push(line);
  if (entry.memories) parts.push(renderMemoriesUsed(entry.id, entry.memories));
  if (entry.findings?.length) parts.push(renderSources(entry.findings));
  if (entry.kept?.length) parts.push(keptLine(entry.kept));
  return parts;
}

/** The row of buttons below a message. */
export function renderActions(entry, element, acts, isQuestion) {
  const getText = () => entry.text ?? entry.content;
  const createButton = (label, work, name = "") =>
    el("button", { type: "button", class: `quiet ${name}`, onclick: work }, label);
  return el(
    "div",
    { class: "actions" },
    renderVersions(entry, acts),
    createCopyButton(getText),
    isQuestion
      ? createButton(word("edit"), () => acts.edit(entry, element), "edit")
      : createButton(word("regenerate"), () => acts.regenerate(entry)),
    !isQuestion && el("button", {
      type: "button",
      class: "quiet",
      title: word("fork_here"),
      onclick: () => acts.fork(entry),
    }, word("fork")),
    entry.pinned && el("span", { class: "tag" }, word("pinned")),
    entry.created_at &&
      el(
        "time",
        { class: "when", datetime: new Date(entry.created_at * 1000).toISOString() },
        formatMoment(entry.created_at),
      ),
  );
}

function renderVersions(entry, acts) {
  if (!entry.versions) return null;
  const at = entry.versions.indexOf(entry.id), of = entry.versions.length;
  const renderStep = (label, sign, to) =>
    el("button", {
      type: "button",
      class: "quiet",
      "aria-label": label,
      disabled: !entry.versions[to],
      onclick: () => acts.turn(entry.versions[to]),
    }, sign);
  return el(
    "span",
    { class: "versions", role: "group", "aria-label": word("version", { n: at + 1, of }) },
    renderStep(word("earlier"), "‹", at - 1),
    el("span", { "aria-hidden": "true" }, `${at + 1}/${of}`),
    renderStep(word("later"), "›", at + 1),
  );
}

/** Opens a field to rewrite the question; returns the new text, or null if it was left. */
export function openEditor(entry, element) {
  return new Promise((resolve) => {
    const body = element.querySelector(".said"), row = element.querySelector(".actions");
    const field = el("textarea", {
      rows: "3",
      dir: "auto",
      "aria-label": word("edit_label"),
      value: entry.text ?? entry.content,
    });
    const closeEditor = (text) => {
      form.replaceWith(body);
      row.hidden = false;
      element.focus({ preventScroll: true });
      resolve(text);
    };
    const form = el(
      "form",
      {
        class: "editor",
        onsubmit: (event) => {
          event.preventDefault();
          if (field.value.trim()) closeEditor(field.value);
        },
      },
      field,
      el(
        "div",
        { class: "buttons" },
        el("button", { type: "button", onclick: () => closeEditor(null) }, word("cancel")),
        el("button", { class: "main" }, word("ask_again")),
      ),
    );
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") closeEditor(null);
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    body.replaceWith(form);
    row.hidden = true;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  });
}
