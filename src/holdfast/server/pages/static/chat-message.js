// One message as an element: what was said, thinking and tools folded, pictures and files, what can be done.
// It does nothing by itself: `acts` says what happens when somebody wants something.
import { cleaned, copier, el, moment, number, word } from "./core.js";
import { line as keptLine } from "./chat-kept.js";
import { call, here, state } from "./chat-state.js";
import { facts, remembered, sources } from "./chat-under.js";

/** An entry of a conversation; `acts` has `edit`, `regenerate`, `fork` and `turn`. */
export function message(entry, acts) {
  if (entry.role === "tool") return shell(entry, "tool", word("tool_result", { name: entry.tool_name ?? word("unnamed_tool") }), result(entry));
  const mine = entry.role !== "assistant";
  const label = mine ? word("you") : word("answer_of", { model: entry.model ?? "" });
  const parts = mine ? [...asked(entry)] : [...answered(entry)];
  const made = shell(entry, mine ? "user" : "assistant", label, parts);
  if (!mine) made.append(...under(entry));
  if (entry.id) made.append(actions(entry, made, acts, mine));
  return made;
}

function shell(entry, kind, label, parts) {
  const data = entry.id ? { message: entry.id, parent: entry.parent ?? "" } : {};
  return el("article", { class: `message ${kind}`, "aria-label": label, data, tabindex: "-1" }, el("div", { class: "said" }, parts));
}

function* asked(entry) {
  const text = entry.text ?? entry.content;
  if (entry.images) yield pictures(entry);
  if (entry.files?.length) {
    yield el("ul", { class: "attached" }, entry.files.map((file) =>
      el("li", {}, el("span", { dir: "auto" }, word("file_size", { name: file.name, n: number(file.characters) })))));
  }
  if (text) yield el("div", { class: "words", dir: "auto" }, text);
}

function pictures(entry) {
  const shown = entry.pictures ?? Array.from({ length: entry.images }, (_, at) => here(`/messages/${entry.id}/images/${at}`));
  return el("div", { class: "pictures" }, shown.map((address, at) => {
    const image = el("img", { alt: word("picture", { n: at + 1 }), loading: "lazy" });
    const link = el("a", { target: "_blank", rel: "noopener" }, image);
    const show = (from) => ([image.src, link.href] = [from, from]);
    // A picture is asked for by its address alone, which does not say that it is a group's.
    if (state.kind === "private" || !address.startsWith("/")) show(address);
    else call(address, { raw: true }).then((got) => got.blob()).then((blob) => show(URL.createObjectURL(blob))).catch(() => link.remove());
    return link;
  }));
}

function* answered(entry) {
  if (entry.thinking) yield thinking(entry.thinking);
  const body = el("div", { class: "markdown", dir: "auto" });
  // Without HTML it is too long to be rendered, and shown as it is.
  if (entry.html !== null && entry.html !== undefined) put(body, entry.html);
  else body.append(el("div", { class: "words", dir: "auto" }, entry.content));
  yield body;
  for (const call of entry.tool_calls ?? []) yield tool(call);
}

export function thinking(text) {
  return el("details", { class: "fold thinking" }, el("summary", {}, word("thinking")), el("div", { class: "words", dir: "auto" }, text));
}

export function tool(call) {
  return el("details", { class: "fold" }, el("summary", {}, word("tool_call", { name: call.name })), el("pre", { dir: "auto" }, pretty(call.arguments)));
}

function result(entry) {
  return el("details", { class: "fold" }, el("summary", {}, word("tool_result", { name: entry.tool_name ?? word("unnamed_tool") })),
    el("pre", { dir: "auto" }, entry.content));
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Puts HTML of the server's into an element, and what belongs to blocks of code around them. */
export function put(place, html) {
  const content = cleaned(html);
  for (const code of content.querySelectorAll("pre > code")) dress(code);
  for (const table of content.querySelectorAll("table")) {
    const holder = el("div", { class: "wide-table", tabindex: "0" });
    table.replaceWith(holder);
    holder.append(table);
  }
  for (const link of content.querySelectorAll("a[href^='http']")) link.target = "_blank";
  // What a model calls a heading stands below those of the page.
  for (const heading of content.querySelectorAll("h1, h2, h3, h4, h5, h6")) heading.ariaLevel = String(Math.min(6, Number(heading.tagName[1]) + 2));
  for (const block of content.querySelectorAll("p, li, h1, h2, h3, h4, h5, h6, td, th, blockquote")) block.dir = "auto";
  place.replaceChildren(content);
}

function dress(code) {
  const named = [...code.classList].find((name) => name.startsWith("language-"));
  const text = code.textContent;
  const holder = el("div", { class: "code" }, el("div", { class: "code-head" }, el("span", {}, named?.slice(9) || word("code")), copier(text)));
  code.parentElement.replaceWith(holder);
  code.dir = "ltr";
  holder.append(el("pre", { tabindex: "0" }, code));
}

function under(entry) {
  const made = [];
  const line = facts({ ...entry.numbers, model: entry.model, finish: entry.finish });
  if (line) made.push(line);
  if (entry.memories) made.push(remembered(entry.id, entry.memories));
  if (entry.findings?.length) made.push(sources(entry.findings));
  if (entry.kept?.length) made.push(keptLine(entry.kept));
  return made;
}

/** The row of buttons below a message. */
export function actions(entry, made, acts, mine) {
  const text = () => entry.text ?? entry.content;
  const act = (label, work) => el("button", { type: "button", class: "quiet", onclick: work }, label);
  return el("div", { class: "actions" },
    versions(entry, acts),
    copier(text),
    mine ? act(word("edit"), () => acts.edit(entry, made)) : act(word("regenerate"), () => acts.regenerate(entry)),
    !mine && el("button", { type: "button", class: "quiet", title: word("fork_here"), onclick: () => acts.fork(entry) }, word("fork")),
    entry.pinned && el("span", { class: "tag" }, word("pinned")),
    entry.created_at && el("time", { class: "when", datetime: new Date(entry.created_at * 1000).toISOString() }, moment(entry.created_at)));
}

function versions(entry, acts) {
  if (!entry.versions) return null;
  const at = entry.versions.indexOf(entry.id), of = entry.versions.length;
  const step = (label, sign, to) => el("button", { type: "button", class: "quiet", "aria-label": label, disabled: !entry.versions[to],
    onclick: () => acts.turn(entry.versions[to]) }, sign);
  return el("span", { class: "versions", role: "group", "aria-label": word("version", { n: at + 1, of }) },
    step(word("earlier"), "‹", at - 1), el("span", { "aria-hidden": "true" }, `${at + 1}/${of}`), step(word("later"), "›", at + 1));
}

/** The question in a field, to be asked in other words; gives them, or null. */
export function editor(entry, made) {
  return new Promise((resolve) => {
    const said = made.querySelector(".said"), row = made.querySelector(".actions");
    const field = el("textarea", { rows: "3", dir: "auto", "aria-label": word("edit_label"), value: entry.text ?? entry.content });
    const over = (text) => {
      form.replaceWith(said);
      row.hidden = false;
      made.focus({ preventScroll: true });
      resolve(text);
    };
    const form = el("form", { class: "editor", onsubmit: (event) => {
      event.preventDefault();
      if (field.value.trim()) over(field.value);
    } }, field, el("div", { class: "buttons" },
      el("button", { type: "button", onclick: () => over(null) }, word("cancel")), el("button", { class: "main" }, word("ask_again"))));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") over(null);
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    said.replaceWith(form);
    row.hidden = true;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  });
}
