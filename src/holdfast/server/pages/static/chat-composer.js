// Where one writes: a field that grows, files by drop, paste and choice, names of files after an @, the model.
// It knows nothing of conversations; `send` gets what was written.
import { api, attempt, el, number, toast, word } from "./core.js";
import { keep, kept } from "./chat-state.js";
import { names } from "./chat-names.js";

const form = document.getElementById("composer");
const field = document.getElementById("text");
const chips = document.getElementById("chips");
const chooser = document.getElementById("files");
const models = document.getElementById("model");
const research = document.getElementById("research");
const sendButton = document.getElementById("send");
const stopButton = document.getElementById("stop");
const told = document.getElementById("note");

// A longer text than this is attached as a file: nobody reads it in the field.
const long = 8000, lines = 150;
const largest = 40, megabyte = 1_000_000;
const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

let attached = [], pasted = 0, busy = false, hooks = {}, listed = null;

/** `send({ text, images, files, research })` asks, `stop()` ends an answer that is being written. */
export function start(given) {
  hooks = given;
  const completing = names(field, document.getElementById("names"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (event) => {
    if (completing(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !event.altKey) {
      event.preventDefault();
      submit();
    }
  });
  field.addEventListener("paste", paste);
  stopButton.addEventListener("click", () => hooks.stop());
  document.getElementById("attach").addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", () => {
    take([...chooser.files]);
    chooser.value = "";
  });
  research.addEventListener("click", () => {
    const on = research.getAttribute("aria-pressed") !== "true";
    research.setAttribute("aria-pressed", String(on));
    note("");
  });
  models.addEventListener("change", () => keep("model", models.value));
  drops();
  drafts();
  listed = listModels();
}

/** What was typed and not sent is there again after a reload of the page. */
function drafts() {
  field.value = kept("draft", true);
  grow();
  addEventListener("pagehide", () => keep("draft", field.value, true));
}

function drops() {
  const talk = form.closest(".talk");
  const over = (event, on) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    talk.classList.toggle("dropping", on);
  };
  talk.addEventListener("dragover", (event) => over(event, true));
  talk.addEventListener("dragleave", (event) => over(event, talk.contains(event.relatedTarget)));
  talk.addEventListener("drop", (event) => {
    over(event, false);
    if (event.dataTransfer?.files.length) take([...event.dataTransfer.files]);
  });
}

function grow() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, innerHeight * 0.4)}px`;
}

export const model = () => models.value;
export const focus = () => field.focus({ preventScroll: true });

/** Puts words into the field, for somebody to go on with. */
export function write(text) {
  field.value = text;
  grow();
  focus();
  field.setSelectionRange(text.length, text.length);
}

/** Gives back what was sent, because nothing came of it. */
export function restore({ text, attachments }) {
  if (!field.value) field.value = text;
  if (!attached.length) attached = attachments ?? [];
  show();
  grow();
}

/** What keeps a question from being asked; it stays until something is done about it. */
export function note(text) {
  told.textContent = text;
  told.hidden = !text;
}

/** While an answer is written one can stop it, and not send. */
export function working(on) {
  busy = on;
  const held = [sendButton, stopButton].includes(document.activeElement);
  sendButton.hidden = on;
  stopButton.hidden = !on;
  // A button that goes must not take the focus with it.
  if (held) focus();
}

async function submit() {
  // Somebody may be faster than the list of models.
  await listed;
  const text = field.value;
  if (busy || (!text.trim() && !attached.length)) return;
  if (!models.value) {
    toast(word("choose_model"), "error");
    listed = listModels();
    return;
  }
  const sent = {
    text,
    images: attached.filter((one) => one.picture).map((one) => one.data),
    files: attached.filter((one) => !one.picture).map(({ name, data, type }) => ({ name, data, media_type: type })),
    research: research.getAttribute("aria-pressed") === "true",
    attachments: attached,
  };
  field.value = "";
  attached = [];
  note("");
  show();
  grow();
  hooks.send(sent);
}

function paste(event) {
  const files = [...(event.clipboardData?.files ?? [])];
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (files.length && !text) {
    event.preventDefault();
    take(files);
  } else if (text.length > long || text.split("\n", lines + 1).length > lines) {
    event.preventDefault();
    take([new File([text], word("paste_name", { n: ++pasted }), { type: "text/plain" })]);
    toast(word("pasted"));
  }
}

async function take(files) {
  for (const file of files) {
    const whole = attached.reduce((sum, one) => sum + one.size, file.size);
    if (whole > largest * megabyte) toast(word("too_large", { name: file.name, mb: largest }), "error");
    else {
      const read = await attempt(() => encoded(file));
      if (read) attached.push(read);
    }
  }
  show();
  focus();
}

/** A file as base64; the reader makes an address of it, whose beginning is cut off. */
function encoded(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => resolve({
      name: file.name, size: file.size, type: file.type, picture: pictures.includes(file.type),
      address: reader.result, data: reader.result.slice(reader.result.indexOf(",") + 1),
    });
    reader.readAsDataURL(file);
  });
}

function show() {
  chips.hidden = !attached.length;
  chips.replaceChildren(...attached.map((one) => el("li", {},
    one.picture && el("img", { src: one.address, alt: "" }), el("span", { dir: "auto" }, one.name),
    el("span", { class: "faint" }, `${number(Math.max(1, Math.round(one.size / 1000)))} KB`),
    el("button", { type: "button", class: "quiet", "aria-label": word("remove", { name: one.name }), onclick: () => {
      attached = attached.filter((other) => other !== one);
      show();
      focus();
    } }, "✕"))));
}

async function listModels() {
  const found = await attempt(() => api("/api/models/installed"));
  const known = found?.models ?? [];
  const size = (one) => (one.num_ctx ? ` · ${one.num_ctx >= 1024 ? `${Math.round(one.num_ctx / 1024)}k` : one.num_ctx}` : "");
  models.replaceChildren(...(known.length ? known.map((one) => el("option", { value: one.name }, `${one.name}${size(one)}`)) : [el("option", { value: "" }, word("no_models"))]));
  const wanted = kept("model");
  if (known.some((one) => one.name === wanted)) models.value = wanted;
  document.getElementById("demonstration").hidden = !(known.length === 1 && known[0].name.split(":")[0] === "embedded");
}
