// Where one writes: a field that grows, files by drop, paste and choice, names of files after an @.
// What was written goes to `send`; what was not sent stays with its chat. What goes wrong is said here.
import { _, api, byId, debounce, el, toast } from "./core.js";
import { readDraft, readFiles, removeOldFiles, saveDraft, saveFiles } from "./chat-drafts.js";
import * as models from "./chat-models.js";

const form = byId("composer");
const field = byId("text");
const chips = byId("chips");
const chooser = byId("files");
const research = byId("research");
const sendButton = byId("send");
const stopButton = byId("stop");
const noteLine = byId("note");

// A longer text than this is attached as a file: nobody reads it in the field.
const longestText = 8000, mostLines = 150;
const largestMegabytes = 40, megabyte = 1_000_000;

// `chat` names the draft; `taking` is the work on files that were chosen.
let uploads = [], pasteCount = 0, busy = false, hooks = {};
let isQueued = false, chat = "", taking = Promise.resolve();
/** @type {import("./chat-drafts.js").Trouble | null} */
let trouble = null;

/**
 * `send({ text, images, files, research })` asks, `stop()` ends an answer that is being written, `editLast()`
 * opens the last question to be changed and returns whether there is one.
 */
export function start(callbacks) {
  hooks = callbacks;
  startNames();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener("input", grow);
  field.addEventListener("input", debounce(saveText, 500));
  field.addEventListener("keydown", (event) => {
    if (completeName(event)) return;
    if (event.key === "ArrowUp" && !field.value && !event.shiftKey && !event.altKey && !event.ctrlKey) {
      if (hooks.editLast()) event.preventDefault();
      return;
    }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !event.altKey) {
      event.preventDefault();
      submit();
    }
  });
  field.addEventListener("paste", paste);
  stopButton.addEventListener("click", () => hooks.stop());
  byId("attach").addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", () => {
    take([...chooser.files]);
    chooser.value = "";
  });
  research.addEventListener("click", () => {
    const on = research.getAttribute("aria-pressed") !== "true";
    research.setAttribute("aria-pressed", String(on));
    showNote("");
  });
  acceptDrops();
  addEventListener("pagehide", saveText);
  removeOldFiles();
  byId("model").addEventListener("chosen", () => {
    if (uploads.some((upload) => upload.picture)) showNote("");
    warnBlind();
  });
  startDictation();
  models.startModels({
    onFail: (error) => {
      allowSending(false);
      showFailure(error);
    },
    onReply: () => {
      const isEmpty = !models.listInstalled().length;
      allowSending(!isEmpty);
      if (isEmpty) showTrouble(noModel());
      else if (trouble?.links) showTrouble(null);
    },
  });
}

// Handles a key in the list of names; returns whether it was for the list.
let completeName = (_event) => false;

/** Completes names of files and prompts; what does it is loaded with the first @ or slash. */
function startNames() {
  const load = async () => {
    if (!/@|^\//.test(field.value)) return;
    field.removeEventListener("input", load);
    const { completeNames } = await import("./chat-names.js");
    completeName = completeNames(field, byId("names"));
    field.dispatchEvent(new Event("input"));
  };
  field.addEventListener("input", load);
}

const saveText = () => saveDraft(chat, { text: field.value, trouble });

/** Shows what was written in this chat and not sent; what was written in another stays there. */
export async function openDraft(name) {
  if (chat) saveText();
  isQueued = false;
  chat = name;
  const draft = readDraft(name);
  field.value = draft.text;
  uploads = [];
  showTrouble(draft.trouble);
  show();
  grow();
  const files = await readFiles(name);
  if (chat !== name || uploads.length) return;
  uploads = files;
  show();
}

/** The chat has its id now: what is written meanwhile belongs to it. */
export function nameDraft(name) {
  saveDraft(chat, { text: "", trouble: null });
  saveFiles(chat, []);
  chat = name;
  saveFiles(chat, uploads);
}

/** Takes files wherever they are dropped: a browser would open them instead of the page. */
function acceptDrops() {
  const talk = form.closest(".talk");
  const markDrop = (event, on) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    talk.classList.toggle("dropping", on);
  };
  document.addEventListener("dragover", (event) => markDrop(event, true));
  document.addEventListener("dragleave", (event) => markDrop(event, Boolean(event.relatedTarget)));
  document.addEventListener("drop", (event) => {
    markDrop(event, false);
    if (event.dataTransfer?.files.length) take([...event.dataTransfer.files]);
  });
}

function grow() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, innerHeight * 0.4)}px`;
}

export const focus = () => field.focus({ preventScroll: true });

/** Puts a text into the field, to be continued. */
export function write(text) {
  field.value = text;
  grow();
  focus();
  field.setSelectionRange(text.length, text.length);
}

/** Puts back what was sent, because sending failed. */
export function restore({ text, attachments }) {
  if (!field.value) field.value = text;
  if (!uploads.length) setUploads(attachments ?? []);
  grow();
  saveText();
}

/** Shows why a question cannot be asked; an empty text removes the note. */
export const showNote = (text) => showTrouble(text ? { text, links: false } : null);

/** Shows an error of the server beside the field, with the next step; it stays with the draft. */
export const showFailure = (error) =>
  showTrouble({ text: error.message, links: error.code === "upstream_key" || error.status >= 502 });

/** The server has no model: what one needs is not its settings but a model. */
const noModel = () => ({ text: _("There is no model to ask yet."), links: true, models: true });

/** Without a model there is nobody to ask; the field stays, so that one can write meanwhile. */
function allowSending(on) {
  sendButton.disabled = !on;
  sendButton.title = on ? _("Send") : _("There is no model to ask yet.");
}

function showTrouble(next) {
  trouble = next;
  noteLine.hidden = !trouble;
  noteLine.replaceChildren(
    ...(trouble ? [el("span", {}, trouble.text), ...(trouble.links ? renderSteps(trouble) : [])] : []),
  );
  saveText();
}

function renderSteps({ models: needsModel = false }) {
  return [
    " ",
    el("button", { type: "button", class: "quiet", onclick: () => models.loadModels() }, _("Look again")),
    " ",
    needsModel
      ? el("a", { href: "/settings/models" }, _("Get a model"))
      : el("a", { href: "/settings#servers" }, _("Settings of the model servers")),
  ];
}

/** While an answer is being written, the button stops it; otherwise it sends. */
export function setBusy(on) {
  busy = on;
  const hadFocus = [sendButton, stopButton].includes(document.activeElement);
  sendButton.hidden = on;
  stopButton.hidden = !on;
  // A button that goes must not take the focus with it.
  if (hadFocus) focus();
}

/** What is in the field is asked once the answer that is being written is there. */
function queueNext() {
  isQueued = true;
  noteLine.hidden = false;
  noteLine.replaceChildren(
    el("span", {}, _("This is asked as soon as the answer is there.")),
    " ",
    el("button", { type: "button", class: "quiet", onclick: cancelQueue }, _("Cancel")),
  );
}

function cancelQueue() {
  isQueued = false;
  showTrouble(trouble);
  focus();
}

/** Asks what was queued. */
export function sendQueued() {
  if (!isQueued) return;
  isQueued = false;
  submit();
}

async function submit() {
  // Somebody may be faster than the list of models, or than the files.
  await models.waitForModels();
  await taking;
  const text = field.value;
  if (!text.trim() && !uploads.length) return;
  if (busy) return queueNext();
  if (!models.currentModel()) {
    if (!trouble) showTrouble(noModel());
    models.loadModels();
    return;
  }
  const question = {
    text,
    images: uploads.filter((upload) => upload.picture).map((upload) => upload.data),
    files: uploads.filter((upload) => !upload.picture).map(({ name, data, type }) => ({
      name,
      data,
      media_type: type,
    })),
    research: research.getAttribute("aria-pressed") === "true",
    attachments: uploads,
    second: models.secondModel(),
  };
  field.value = "";
  setUploads([]);
  showNote("");
  grow();
  hooks.send(question);
}

function paste(event) {
  const files = [...(event.clipboardData?.files ?? [])];
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (files.length && !text) {
    event.preventDefault();
    take(files);
  } else if (text.length > longestText || text.split("\n", mostLines + 1).length > mostLines) {
    event.preventDefault();
    take([new File([text], _("pasted-{n}.txt", { n: ++pasteCount }), { type: "text/plain" })]);
    toast(_("A long text was attached as a file instead."));
  }
}

/** Attaches files, one after the other; what cannot be read is refused at once, beside the field. */
function take(files) {
  showNote("");
  taking = taking.then(async () => {
    for (const file of files) await takeFile(file);
    focus();
  });
}

async function takeFile(file) {
  const place = chat;
  const total = uploads.reduce((sum, upload) => sum + upload.size, file.size);
  if (total > largestMegabytes * megabyte) {
    return showNote(
      _("{name} is too large: at most {mb} MB in all.", { name: file.name, mb: largestMegabytes }),
    );
  }
  try {
    const { encode } = await import("./chat-files.js");
    const upload = await encode(file);
    if (!upload.picture) {
      await api("/api/files/check", { method: "POST", body: { name: upload.name, data: upload.data } });
    }
    if (place === chat) setUploads([...uploads, upload]);
    if (upload.picture) await warnBlind();
  } catch (error) {
    showNote(_("{name} was not attached: {why}", { name: file.name, why: error.message }));
  }
}

/** Shows the button for dictation where the browser has a recogniser. */
function startDictation() {
  const button = byId("dictate");
  button.hidden = !("SpeechRecognition" in globalThis || "webkitSpeechRecognition" in globalThis);
  button.addEventListener("click", async () => {
    const { toggleDictation } = await import("./chat-speech.js");
    toggleDictation(button, (text) => write([field.value.trimEnd(), text].filter(Boolean).join(" ")));
  });
}

/** Says so where a picture is attached and the model cannot see. */
async function warnBlind() {
  const model = models.currentModel();
  if (uploads.some((upload) => upload.picture) && (await models.canSee(model)) === false) {
    showNote(_("{model} cannot see pictures. Choose a model that can, or leave them out.", { model }));
  }
}

function setUploads(next) {
  uploads = next;
  saveFiles(chat, uploads);
  show();
}

async function show() {
  // The gauge counts what is attached.
  form.dispatchEvent(new CustomEvent("uploads", { detail: uploads }));
  chips.hidden = !uploads.length;
  if (!uploads.length) return chips.replaceChildren();
  const { renderChip } = await import("./chat-files.js");
  return chips.replaceChildren(...uploads.map((upload) =>
    renderChip(upload, () => {
      setUploads(uploads.filter((item) => item !== upload));
      focus();
    })
  ));
}
