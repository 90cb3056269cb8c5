// HTML that the server made of Markdown, as it is shown: code with colours and a button to copy it, formulas,
// tables that scroll, task lists, footnotes, thinking folded. One way for answers that are written and for those
// that were loaded. Libraries are loaded when there is code or a formula, and not before.
import { _, createCopyButton, el, parseHtml, queryAll } from "./core.js";
import { loaded, loadFormulas, loadHighlighter } from "./vendor.js";

// Characters of code that are coloured at most: more would hold the page up.
const mostCode = 60_000;
let noteCount = 0;

/** Puts HTML of the server's into an element. Folds that were open stay open. */
export function putHtml(place, html) {
  const content = parseHtml(html);
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
  for (const item of queryAll("li.task", content)) addBox(item);
  linkNotes(content);
  for (const thought of queryAll(".thought", content)) foldThought(thought, place);
  for (const code of queryAll("pre > code", content)) addCodeHead(code);
  const codes = queryAll("pre > code[class*='language-']", content), formulas = queryAll(".math", content);
  if (loaded.highlighter) codes.forEach(colour);
  else if (codes.length) loadHighlighter().then(() => codes.forEach(colour), () => {});
  if (loaded.formulas) formulas.forEach(setFormula);
  else if (formulas.length) loadFormulas().then(() => formulas.forEach(setFormula), () => {});
  place.replaceChildren(content);
}

export function renderThinking(text) {
  return el(
    "details",
    { class: "fold thinking" },
    el("summary", {}, _("Thinking")),
    el("div", { class: "words", dir: "auto" }, text),
  );
}

function foldThought(thought, place) {
  const fold = renderThinking(thought.textContent);
  fold.open = Boolean(place.querySelector("details.thinking[open]"));
  thought.replaceWith(fold);
}

function addBox(item) {
  const isDone = item.classList.contains("done");
  const label = isDone ? _("Done") : _("To do");
  const box = el("input", { type: "checkbox", disabled: true, checked: isDone, "aria-label": label });
  (item.querySelector(":scope > p") ?? item).prepend(box, " ");
}

/** Footnotes lead to their texts and back; names are unique on the page, however many answers have notes. */
function linkNotes(content) {
  const texts = queryAll("ol.footnotes > li", content);
  if (!texts.length) return;
  const name = `note-${++noteCount}`;
  for (const [at, text] of texts.entries()) {
    const back = el("a", { href: `#${name}-mark-${at + 1}`, "aria-label": _("Back to the text") }, "↩");
    text.id = `${name}-${at + 1}`;
    text.tabIndex = -1;
    text.append(" ", back);
  }
  const marks = new Set();
  for (const mark of queryAll("sup.footnote", content)) {
    const number = mark.textContent;
    const link = el(
      "a",
      { href: `#${name}-${number}`, "aria-label": _("Footnote {n}", { n: number }) },
      number,
    );
    if (!marks.has(number)) link.id = `${name}-mark-${number}`;
    marks.add(number);
    mark.replaceChildren(link);
  }
  for (const link of queryAll(`a[href^="#${name}"]`, content)) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const target = document.getElementById(link.getAttribute("href").slice(1));
      target?.scrollIntoView({ block: "center" });
      target?.focus({ preventScroll: true });
    });
  }
}

const languageOf = (code) => [...code.classList].find((name) => name.startsWith("language-"))?.slice(9) ?? "";

function addCodeHead(code) {
  const text = code.textContent;
  const holder = el(
    "div",
    { class: "code" },
    el(
      "div",
      { class: "code-head" },
      el("span", {}, languageOf(code) || _("Code")),
      createCopyButton(text),
    ),
  );
  code.parentElement.replaceWith(holder);
  code.dir = "ltr";
  holder.append(el("pre", { tabindex: "0" }, code));
}

/** Colours code whose language the highlighter knows; it escapes whatever is no colour. */
function colour(code) {
  const language = languageOf(code), text = code.textContent;
  if (!loaded.highlighter.getLanguage(language) || text.length > mostCode) return;
  const { value } = loaded.highlighter.highlight(text, { language, ignoreIllegals: true });
  code.replaceChildren(parseHtml(value));
}

/** Sets a formula. One that cannot be read stays as it was written. */
function setFormula(place) {
  const tex = place.textContent;
  const displayMode = place.tagName === "DIV" || place.classList.contains("block");
  const holder = document.createElement(place.tagName);
  // For these two KaTeX writes a style into the MathML, which the policy of the pages refuses.
  const output = /\\(?:pmb|fcolorbox)/.test(tex) ? "html" : "htmlAndMathml";
  try {
    loaded.formulas.render(tex, holder, {
      displayMode,
      output,
      strict: "ignore",
      maxExpand: 200,
      maxSize: 50,
    });
  } catch {
    place.classList.add("raw");
    return;
  }
  if (output === "html") {
    place.setAttribute("role", "math");
    place.setAttribute("aria-label", tex);
  }
  if (displayMode) place.tabIndex = 0;
  place.replaceChildren(...holder.childNodes);
}
