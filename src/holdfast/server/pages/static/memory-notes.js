// The files of memory: a tree of them, and an editor that never writes over what its person has not seen.
import {
  _,
  attempt,
  byId,
  confirmAction,
  el,
  formatMoment,
  formatNumber,
  showDialog,
  toast,
} from "./core.js";
import { ask } from "./memory-scope.js";
import { chooseVersion } from "./memory-conflict.js";

const FOLDERS = {
  memory: _("Days"),
  conversations: _("Summaries"),
  research: _("Research"),
  archive: _("Archive"),
  projects: _("Projects"),
};
const noteRoute = (path) => `/api/notes/${path.split("/").map(encodeURIComponent).join("/")}`;
const formatBytes = (
  bytes,
) => (bytes < 1000
  ? _("{n} bytes", { n: formatNumber(bytes) })
  : _("{n} KB", { n: formatNumber(Math.round(bytes / 100) / 10) }));

/** `open` shows a tab of the page, so that a file has an address. */
export function createNotes(open) {
  const tree = byId("tree"), editor = byId("editor");
  // Where this scope's own files are; what one confirms with is the name of that folder.
  let folder = "";
  let files = [];
  let current = null;

  const isDirty = () => current !== null && current.box.value !== current.text;

  async function loadList() {
    const reply = await ask("/api/notes");
    files = reply.notes;
    const unusable = Object.entries(reply.left_out);
    tree.replaceChildren(
      el("button", { type: "button", class: "wide", onclick: createNote }, _("New note")),
      renderBranch(buildTree()),
      unusable.length
        ? el(
          "details",
          { class: "small faint" },
          el("summary", {}, _("Files that cannot be used ({n})", { n: unusable.length })),
          el("ul", {}, ...unusable.map(([path, reason]) => el("li", {}, `${path}: ${reason}`))),
        )
        : "",
    );
    if (!files.length) tree.append(el("p", { class: "faint small" }, _("There are no files yet.")));
    markCurrent();
  }

  /** Folders inside folders, by the parts of the paths. */
  function buildTree() {
    const root = { folders: new Map(), files: [] };
    for (const file of files) {
      const parts = file.path.split("/");
      let node = root;
      for (const part of parts.slice(0, -1)) {
        if (!node.folders.has(part)) node.folders.set(part, { folders: new Map(), files: [] });
        node = node.folders.get(part);
      }
      node.files.push({ ...file, name: parts.at(-1) });
    }
    // Folders that all files share are left out.
    let top = root;
    while (!top.files.length && top.folders.size === 1) [top] = top.folders.values();
    return top;
  }

  function renderBranch(node, name = "") {
    const days = name === "memory" || name === "archive";
    const folders = [...node.folders].map(([inner, below]) =>
      el(
        "li",
        {},
        el(
          "details",
          { open: current && below.files.some((file) => file.path === current.path) },
          el(
            "summary",
            {},
            FOLDERS[inner] ?? inner,
            " ",
            el("span", { class: "count" }, formatNumber(countFiles(below))),
          ),
          renderBranch(below, inner),
        ),
      )
    );
    const own = days ? [...node.files].reverse() : node.files;
    const renderLink = (file) =>
      el("a", {
        href: `#notes/${encodeURI(file.path)}`,
        data: { path: file.path },
        title: file.path,
        dir: "auto",
      }, file.name);
    return el("ul", { class: "tree" }, ...own.map((file) => el("li", {}, renderLink(file))), ...folders);
  }

  const countFiles = (node) =>
    node.files.length + [...node.folders.values()].reduce((sum, below) => sum + countFiles(below), 0);

  function markCurrent() {
    for (const link of tree.querySelectorAll("a")) {
      if (current && link.dataset.path === current.path) {
        link.setAttribute("aria-current", "true");
        for (let at = link.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
      } else link.removeAttribute("aria-current");
    }
  }

  async function confirmLeave() {
    return !isDirty() ||
      confirmAction(
        _("Discard changes?"),
        _("{path} has changes that are not saved.", { path: current.path }),
        _("Discard"),
      );
  }

  async function readNote(path) {
    const response = await ask(noteRoute(path), { raw: true });
    const bytes = await response.arrayBuffer();
    const tag = response.headers.get("etag");
    try {
      return {
        text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
        tag,
        whole: true,
      };
    } catch {
      // It is not UTF-8, so editing it as text would damage it.
      return { text: new TextDecoder().decode(bytes), tag, whole: false };
    }
  }

  async function showNote(path) {
    if (current?.path === path) return;
    if (!(await confirmLeave())) {
      open("notes", current.path);
      return;
    }
    const note = await readNote(path);
    const summary = /(^|\/)conversations\/[^/]+\/summary\.md$/.test(path);
    drawNote({
      path,
      ...note,
      fixed: !note.whole
        ? _("Some of its bytes are no text, so it can only be read here.")
        : summary
        ? _("Summaries are written from their conversations; undo one there.")
        : "",
    });
  }

  function drawNote(note) {
    const file = files.find((entry) => entry.path === note.path);
    // A browser knows only one way to end a line; the file keeps its own.
    const crlf = note.text.includes("\r\n");
    const text = note.text.replaceAll("\r\n", "\n");
    const box = el("textarea", {
      class: "mono",
      rows: 24,
      dir: "auto",
      spellcheck: "true",
      readonly: Boolean(note.fixed),
      "aria-label": note.path,
      value: text,
    });
    const save = el("button", {
      type: "button",
      class: "main",
      disabled: !note.fresh,
      onclick: () => attempt(() => saveNote(current.tag)),
    }, _("Save"));
    // What is kept about a memory is one long line, which says nothing to people.
    const wrapBox = el("input", {
      type: "checkbox",
      checked: !text.includes("<!-- holdfast"),
      onchange: () => (box.wrap = wrapBox.checked ? "soft" : "off"),
    });
    box.wrap = wrapBox.checked ? "soft" : "off";
    current = { ...note, text: note.fresh ? null : text, box, save, crlf };
    box.addEventListener("input", () => (save.disabled = !isDirty()));
    box.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "s") {
        event.preventDefault();
        if (isDirty() && !note.fixed) save.click();
      }
    });
    editor.replaceChildren(
      el(
        "div",
        { class: "row between" },
        el("h3", { class: "mono", dir: "auto" }, note.path),
        el(
          "span",
          { class: "faint small" },
          file ? `${formatBytes(file.size)} · ${formatMoment(file.modified_at)}` : _("Not saved yet"),
        ),
      ),
      note.fixed ? el("p", { class: "small faint" }, note.fixed) : "",
      box,
      note.fixed ? "" : el(
        "div",
        { class: "buttons start" },
        save,
        file
          ? el(
            "button",
            { type: "button", class: "danger", onclick: () => attempt(deleteNote) },
            _("Delete"),
          )
          : "",
        el("label", { class: "row small" }, wrapBox, _("Wrap lines")),
      ),
    );
    markCurrent();
    open("notes", note.path);
  }

  async function saveNote(tag) {
    const { path, box, crlf } = current;
    const written = crlf ? box.value.replaceAll("\n", "\r\n") : box.value;
    const condition = tag ? { "if-match": tag } : { "if-none-match": "*" };
    const reply = await ask(noteRoute(path), {
      method: "PUT",
      body: written,
      headers: { "content-type": "text/markdown", ...condition },
    })
      .catch((error) => {
        if (error.status !== 412) throw error;
        return null;
      });
    if (reply) {
      const next = await readNote(path);
      await loadList();
      drawNote({ path, ...next, fixed: "" });
      toast(_("Saved."));
      editor.querySelector("textarea").focus();
      return;
    }
    const theirs = await readNote(path);
    const choice = await chooseVersion(box.value, theirs.text);
    if (choice === null) return;
    drawNote({ path, ...theirs, fixed: "" });
    current.box.value = choice;
    if (isDirty()) await saveNote(theirs.tag);
  }

  async function deleteNote() {
    const { path } = current;
    if (
      !(await confirmAction(
        _("Delete this file?"),
        _("{path} and everything remembered in it will be gone.", { path }),
      ))
    ) return;
    await ask(noteRoute(path), { method: "DELETE", headers: { "if-match": current.tag } });
    current = null;
    await loadList();
    showEmpty();
    tree.querySelector("button").focus();
  }

  function showEmpty() {
    editor.replaceChildren(el("p", { class: "empty" }, _("Choose a file.")));
    open("notes");
  }

  async function createNote() {
    if (!(await confirmLeave())) return;
    const name = el("input", {
      type: "text",
      class: "mono",
      required: true,
      maxlength: 150,
      placeholder: "ideas.md",
      autocomplete: "off",
    });
    const answer = await showDialog(
      _("New note"),
      el("label", {}, el("span", {}, _("Name of the file, such as ideas.md")), name),
      [
        { value: "yes", label: _("OK"), kind: "main" },
        { value: "", label: _("Cancel") },
      ],
    );
    if (answer !== "yes" || !name.value.trim()) return;
    const fileName = name.value.trim().replace(/^\/+/, "");
    const path = `${folder}/${/\.(md|markdown)$/i.test(fileName) ? fileName : `${fileName}.md`}`;
    if (files.some((entry) => entry.path === path)) {
      attempt(() => showNote(path));
      return;
    }
    drawNote({ path, text: "", tag: "", fixed: "", fresh: true });
    current.box.focus();
  }

  editor.replaceChildren(el("p", { class: "empty" }, _("Choose a file.")));
  addEventListener("beforeunload", (event) => isDirty() && event.preventDefault());

  return {
    async show(path) {
      if (!folder) folder = (await ask("/api/memory/stats")).confirm;
      if (!tree.firstChild) await loadList();
      if (path) await showNote(path);
    },
  };
}
