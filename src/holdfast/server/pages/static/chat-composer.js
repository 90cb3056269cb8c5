// Where one writes: a field that grows, files by drop, paste and choice, names of files after an @, the model.
// What was written goes to `send`.
import { api, attempt, byId, el, formatNumber, toast, word } from "./core.js";
import { readStored, store } from "./chat-state.js";
import { completeNames } from "./chat-names.js";

const form = byId("composer");
const field = byId("text");
const chips = byId("chips");
const chooser = byId("files");
const models = byId("model");
const research = byId("research");
const sendButton = byId("send");
const stopButton = byId("stop");
const noteLine = byId("note");

// A longer text than this is attached as a file: nobody reads it in the field.
const longestText = 8000, mostLines = 150;
const largestMegabytes = 40, megabyte = 1_000_000;
const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

let uploads = [], pasteCount = 0, busy = false, hooks = {}, modelsReady = null;

/** `send({ text, images, files, research })` asks, `stop()` ends an answer that is being written. */
export function start(callbacks) {
  hooks = callbacks;
  const completeName = completeNames(field, byId("names"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (event) => {
    if (completeName(event)) return;
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
  models.addEventListener("change", () => store("model", models.value));
  acceptDrops();
  restoreDraft();
  modelsReady = listModels();
}

/** What was typed and not sent is there again after a reload of the page. */
function restoreDraft() {
  field.value = readStored("draft", true);
  grow();
  addEventListener("pagehide", () => store("draft", field.value, true));
}

function acceptDrops() {
  const talk = form.closest(".talk");
  const markDrop = (event, on) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    talk.classList.toggle("dropping", on);
  };
  talk.addEventListener("dragover", (event) => markDrop(event, true));
  talk.addEventListener("dragleave", (event) => markDrop(event, talk.contains(event.relatedTarget)));
  talk.addEventListener("drop", (event) => {
    markDrop(event, false);
    if (event.dataTransfer?.files.length) take([...event.dataTransfer.files]);
  });
}

function grow() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, innerHeight * 0.4)}px`;
}

export const currentModel = () => models.value;
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
  if (!uploads.length) uploads = attachments ?? [];
  show();
  grow();
}

/** Shows why a question cannot be asked; an empty text removes the note. */
export function showNote(text) {
  noteLine.textContent = text;
  noteLine.hidden = !text;
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

async function submit() {
  // Somebody may be faster than the list of models.
  await modelsReady;
  const text = field.value;
  if (busy || (!text.trim() && !uploads.length)) return;
  if (!models.value) {
    toast(word("choose_model"), "error");
    modelsReady = listModels();
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
  };
  field.value = "";
  uploads = [];
  showNote("");
  show();
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
    take([new File([text], word("paste_name", { n: ++pasteCount }), { type: "text/plain" })]);
    toast(word("pasted"));
  }
}

async function take(files) {
  for (const file of files) {
    const total = uploads.reduce((sum, upload) => sum + upload.size, file.size);
    if (total > largestMegabytes * megabyte) {
      toast(word("too_large", { name: file.name, mb: largestMegabytes }), "error");
    } else {
      const read = await attempt(() => encode(file));
      if (read) uploads.push(read);
    }
  }
  show();
  focus();
}

/** Reads a file as base64. */
function encode(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => {
      const address = String(reader.result);
      resolve({
        name: file.name,
        size: file.size,
        type: file.type,
        picture: pictures.includes(file.type),
        address,
        data: address.slice(address.indexOf(",") + 1),
      });
    };
    reader.readAsDataURL(file);
  });
}

function show() {
  // The gauge counts what is attached.
  form.dispatchEvent(new CustomEvent("uploads", { detail: uploads }));
  chips.hidden = !uploads.length;
  chips.replaceChildren(
    ...uploads.map((upload) =>
      el(
        "li",
        {},
        upload.picture && el("img", { src: upload.address, alt: "" }),
        el("span", { dir: "auto" }, upload.name),
        el("span", { class: "faint" }, `${formatNumber(Math.max(1, Math.round(upload.size / 1000)))} KB`),
        el("button", {
          type: "button",
          class: "quiet",
          "aria-label": word("remove", { name: upload.name }),
          onclick: () => {
            uploads = uploads.filter((item) => item !== upload);
            show();
            focus();
          },
        }, "✕"),
      )
    ),
  );
}

async function listModels() {
  const reply = await attempt(() => api("/api/models/installed"));
  const installed = reply?.models ?? [];
  const describeSize = (
    entry,
  ) => (entry.num_ctx
    ? ` · ${entry.num_ctx >= 1024 ? `${Math.round(entry.num_ctx / 1024)}k` : entry.num_ctx}`
    : "");
  models.replaceChildren(
    ...(installed.length
      ? installed.map((entry) =>
        el(
          "option",
          { value: entry.name, data: { window: entry.num_ctx ?? "" } },
          `${entry.name}${describeSize(entry)}`,
        )
      )
      : [el("option", { value: "" }, word("no_models"))]),
  );
  const lastModel = readStored("model");
  if (installed.some((entry) => entry.name === lastModel)) models.value = lastModel;
  byId("demonstration").hidden = !(installed.length === 1 && installed[0].name.split(":")[0] === "embedded");
}
