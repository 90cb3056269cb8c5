// The files of memory: a tree of them, and an editor that never writes over what its person has not seen.
import { attempt, dialog, el, moment, number, sure, toast, word } from "./core.js";
import { ask } from "./memory-scope.js";
import { bothVersions } from "./memory-conflict.js";

const byId = (id) => document.getElementById(id);
const FOLDERS = new Set(["memory", "conversations", "research", "archive", "projects"]);
const route = (path) => `/api/notes/${path.split("/").map(encodeURIComponent).join("/")}`;
const spelled = (bytes) => (bytes < 1000 ? word("bytes", { n: number(bytes) }) : word("kilobytes", { n: number(Math.round(bytes / 100) / 10) }));

/** `open` shows a tab of the page, so that a file has an address. */
export function notes(open) {
  const tree = byId("tree"), editor = byId("editor");
  // Where this scope's own files are; what one confirms with is the name of that folder.
  let folder = "";
  let files = [];
  let current = null;

  const dirty = () => current !== null && current.box.value !== current.text;

  async function list() {
    const told = await ask("/api/notes");
    files = told.notes;
    const left = Object.entries(told.left_out);
    tree.replaceChildren(el("button", { type: "button", class: "wide", onclick: create }, word("new_note")), branch(grown()),
      left.length ? el("details", { class: "small faint" }, el("summary", {}, word("unusable", { n: left.length })),
        el("ul", {}, ...left.map(([path, why]) => el("li", {}, `${path}: ${why}`)))) : "");
    if (!files.length) tree.append(el("p", { class: "faint small" }, word("no_notes")));
    mark();
  }

  /** Folders inside folders, by the parts of the paths. */
  function grown() {
    const root = { folders: new Map(), files: [] };
    for (const file of files) {
      const parts = file.path.split("/");
      let at = root;
      for (const part of parts.slice(0, -1)) {
        if (!at.folders.has(part)) at.folders.set(part, { folders: new Map(), files: [] });
        at = at.folders.get(part);
      }
      at.files.push({ ...file, name: parts.at(-1) });
    }
    // What every file has in front tells nothing.
    let top = root;
    while (!top.files.length && top.folders.size === 1) [top] = top.folders.values();
    return top;
  }

  function branch(node, name = "") {
    const days = name === "memory" || name === "archive";
    const folders = [...node.folders].map(([inner, below]) => el("li", {}, el("details", { open: current && below.files.some((file) => file.path === current.path) },
      el("summary", {}, FOLDERS.has(inner) ? word(`folder_${inner}`) : inner, " ", el("span", { class: "count" }, number(size(below)))), branch(below, inner))));
    const own = days ? [...node.files].reverse() : node.files;
    const link = (file) => el("a", { href: `#notes/${encodeURI(file.path)}`, data: { path: file.path }, title: file.path, dir: "auto" }, file.name);
    return el("ul", { class: "tree" }, ...own.map((file) => el("li", {}, link(file))), ...folders);
  }

  const size = (node) => node.files.length + [...node.folders.values()].reduce((sum, below) => sum + size(below), 0);

  function mark() {
    for (const link of tree.querySelectorAll("a")) {
      if (current && link.dataset.path === current.path) {
        link.setAttribute("aria-current", "true");
        for (let at = link.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
      } else link.removeAttribute("aria-current");
    }
  }

  async function left() {
    return !dirty() || sure(word("unsaved"), word("unsaved_more", { path: current.path }), word("discard"));
  }

  async function read(path) {
    const response = await ask(route(path), { raw: true });
    const bytes = await response.arrayBuffer();
    const tag = response.headers.get("etag");
    try {
      return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), tag, whole: true };
    } catch {
      // Its bytes would not survive being edited as text.
      return { text: new TextDecoder().decode(bytes), tag, whole: false };
    }
  }

  async function show(path) {
    if (current?.path === path) return;
    if (!(await left())) {
      open("notes", current.path);
      return;
    }
    const got = await read(path);
    const summary = /(^|\/)conversations\/[^/]+\/summary\.md$/.test(path);
    draw({ path, ...got, fixed: !got.whole ? word("no_text") : summary ? word("summary_fixed") : "" });
  }

  function draw(note) {
    const file = files.find((one) => one.path === note.path);
    // A browser knows only one way to end a line; the file keeps its own.
    const crlf = note.text.includes("\r\n");
    const text = note.text.replaceAll("\r\n", "\n");
    const box = el("textarea", { class: "mono", rows: 24, dir: "auto", spellcheck: "true", readonly: Boolean(note.fixed), "aria-label": note.path, value: text });
    const save = el("button", { type: "button", class: "main", disabled: !note.fresh, onclick: () => attempt(() => keep(current.tag)) }, word("save"));
    // What is kept about a memory is one long line, which says nothing to people.
    const wrapped = el("input", { type: "checkbox", checked: !text.includes("<!-- holdfast"), onchange: () => (box.wrap = wrapped.checked ? "soft" : "off") });
    box.wrap = wrapped.checked ? "soft" : "off";
    current = { ...note, text: note.fresh ? null : text, box, save, crlf };
    box.addEventListener("input", () => (save.disabled = !dirty()));
    box.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "s") {
        event.preventDefault();
        if (dirty() && !note.fixed) save.click();
      }
    });
    editor.replaceChildren(
      el("div", { class: "row between" }, el("h3", { class: "mono", dir: "auto" }, note.path),
        el("span", { class: "faint small" }, file ? `${spelled(file.size)} · ${moment(file.modified_at)}` : word("not_saved_yet"))),
      note.fixed ? el("p", { class: "small faint" }, note.fixed) : "", box,
      note.fixed ? "" : el("div", { class: "buttons start" }, save,
        file ? el("button", { type: "button", class: "danger", onclick: () => attempt(remove) }, word("delete")) : "",
        el("label", { class: "row small" }, wrapped, word("wrap"))));
    mark();
    open("notes", note.path);
  }

  async function keep(tag) {
    const { path, box, crlf } = current;
    const written = crlf ? box.value.replaceAll("\n", "\r\n") : box.value;
    const expected = tag ? { "if-match": tag } : { "if-none-match": "*" };
    const saved = await ask(route(path), { method: "PUT", body: written, headers: { "content-type": "text/markdown", ...expected } })
      .catch((error) => {
        if (error.status !== 412) throw error;
        return null;
      });
    if (saved) {
      const next = await read(path);
      await list();
      draw({ path, ...next, fixed: "" });
      toast(word("saved"));
      editor.querySelector("textarea").focus();
      return;
    }
    const theirs = await read(path);
    const choice = await bothVersions(box.value, theirs.text);
    if (choice === null) return;
    draw({ path, ...theirs, fixed: "" });
    current.box.value = choice;
    if (dirty()) await keep(theirs.tag);
  }

  async function remove() {
    const { path } = current;
    if (!(await sure(word("delete_note"), word("delete_note_more", { path })))) return;
    await ask(route(path), { method: "DELETE", headers: { "if-match": current.tag } });
    current = null;
    await list();
    empty();
    tree.querySelector("button").focus();
  }

  function empty() {
    editor.replaceChildren(el("p", { class: "empty" }, word("choose_note")));
    open("notes");
  }

  async function create() {
    if (!(await left())) return;
    const name = el("input", { type: "text", class: "mono", required: true, maxlength: 150, placeholder: "ideas.md", autocomplete: "off" });
    const answer = await dialog(word("new_note"), el("label", {}, el("span", {}, word("new_note_name")), name), [
      { value: "yes", label: word("ok"), kind: "main" }, { value: "", label: word("cancel") }]);
    if (answer !== "yes" || !name.value.trim()) return;
    const given = name.value.trim().replace(/^\/+/, "");
    const path = `${folder}/${/\.(md|markdown)$/i.test(given) ? given : `${given}.md`}`;
    if (files.some((one) => one.path === path)) {
      attempt(() => show(path));
      return;
    }
    draw({ path, text: "", tag: "", fixed: "", fresh: true });
    current.box.focus();
  }

  editor.replaceChildren(el("p", { class: "empty" }, word("choose_note")));
  addEventListener("beforeunload", (event) => dirty() && event.preventDefault());

  return {
    async show(path) {
      if (!folder) folder = (await ask("/api/memory/stats")).confirm;
      if (!tree.firstChild) await list();
      if (path) await show(path);
    },
  };
}
