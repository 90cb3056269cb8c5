// Attached files: read, shown beside the field, and opened by a click, as text or picture, in a dialog.
import { _, attempt, el, formatNumber, showDialog } from "./core.js";

// Characters of a text that are shown; a browser is slow with more.
const longest = 300_000;

/** Shows a text that `load()` gets. */
export function openText(name, load) {
  return attempt(async () => {
    const text = await load();
    const part = text.length > longest ? `${text.slice(0, longest)}\n…` : text;
    await show(name, el("pre", { class: "file-text", dir: "auto", tabindex: "0" }, part));
  });
}

/** Opens what is attached and not sent yet. */
export function openUpload(upload) {
  if (upload.picture) return show(upload.name, el("img", { src: upload.address, alt: upload.name }));
  return openText(upload.name, async () => {
    const bytes = Uint8Array.from(atob(upload.data), (sign) => sign.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  });
}

const show = (name, body) => showDialog(name, body, [{ value: "", label: _("Close") }]);

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

/** Reads a file as base64. */
export function encode(file) {
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

/** Whether a file can be shown as it is, before the server has read it. */
const canOpen = (upload) =>
  upload.picture || /^text\/|json|xml|javascript|yaml/.test(upload.type) ||
  /\.(md|txt|csv|toml|ya?ml|py|js|ts|c|h|rs|go|sh|sql|log)$/i.test(upload.name);

/** An attached file beside the field; `remove()` takes it away. */
export function renderChip(upload, remove) {
  return el(
    "li",
    {},
    upload.picture && el("img", { src: upload.address, alt: "" }),
    canOpen(upload)
      ? el("button", {
        type: "button",
        class: "quiet file",
        dir: "auto",
        onclick: () => openUpload(upload),
      }, upload.name)
      : el("span", { class: "file", dir: "auto" }, upload.name),
    el("span", { class: "faint" }, `${formatNumber(Math.max(1, Math.round(upload.size / 1000)))} KB`),
    el("button", {
      type: "button",
      class: "quiet",
      "aria-label": _("Remove {name}", { name: upload.name }),
      onclick: remove,
    }, "✕"),
  );
}
