// One message as an element: what was said, thinking and tools folded, pictures and files, what can be done.
// What its buttons do is passed in as `acts`.
import {
  createCopyButton,
  createIconButton,
  el,
  formatMoment,
  formatNumber,
  formatTime,
  word,
} from "./core.js";
import { renderLine as keptLine } from "./chat-memories.js";
import { call, chatPath, state } from "./chat-state.js";
import { renderAbout } from "./chat-details.js";
import { putHtml, renderThinking } from "./markdown.js";

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
  if (entry.id) element.append(renderFoot(entry, element, acts, isQuestion));
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

/** What stands below a message: what can be done with it and, of an answer, what is known of it. */
export function renderFoot(entry, element, acts, isQuestion) {
  return el(
    "footer",
    { class: "foot" },
    !isQuestion && entry.kept?.length > 0 && keptLine(entry.kept),
    !isQuestion && renderAbout(entry),
    renderActions(entry, element, acts, isQuestion),
  );
}

/** The button by which a question is put into other words; a shortcut presses it, too. */
function createEditButton(work) {
  const button = createIconButton("pencil", word("edit"), work);
  button.classList.add("edit");
  return button;
}

/** The row of buttons below a message. */
export function renderActions(entry, element, acts, isQuestion) {
  const getText = () => entry.text ?? entry.content;
  return el(
    "div",
    { class: "actions" },
    renderVersions(entry, acts),
    createCopyButton(getText, { bare: true }),
    isQuestion
      ? createEditButton(() => acts.edit(entry, element))
      : createIconButton("refresh-cw", word("regenerate"), () => acts.regenerate(entry)),
    !isQuestion && createIconButton("git-fork", word("fork"), () => acts.fork(entry), word("fork_here")),
    entry.pinned && el("span", { class: "tag" }, word("pinned")),
    entry.created_at &&
      el(
        "time",
        {
          class: "when",
          datetime: new Date(entry.created_at * 1000).toISOString(),
          title: formatMoment(entry.created_at),
        },
        formatTime(entry.created_at),
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
    const body = element.querySelector(".said"), row = element.querySelector(".foot");
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
