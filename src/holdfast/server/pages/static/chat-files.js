// Attached files, opened by a click: their text, or the picture, in a dialog.
import { attempt, el, showDialog, word } from "./core.js";

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

const show = (name, body) => showDialog(name, body, [{ value: "", label: word("close") }]);
