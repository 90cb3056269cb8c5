// The last request of a window as the model server got it, and whether that is sure.
import { copier, el, number, word } from "./core.js";

// Longer than any word: pictures and files, of which nobody reads the letters.
const data = /^[A-Za-z0-9+/=_-]{400,}$|^data:[^,]{1,100},.{400,}$/;

export async function request(panel, shown) {
  const told = await shown.ask("request");
  const whole = JSON.stringify(told.body, null, 2);
  const brief = JSON.stringify(told.body, (_, value) => (typeof value === "string" && data.test(value) ? word("data_left_out", { n: number(value.length) }) : value), 2);
  const count = told.differs.length + told.missing.length;
  const save = el("button", { type: "button", class: "quiet", onclick: () => download(whole) }, word("download"));
  panel.replaceChildren(
    el("p", { class: `verdict ${told.exact ? "" : "not"}` }, told.exact ? word("exact") : word("not_exact", { n: number(count) })),
    el("div", { class: "row" }, el("span", { class: "faint small grow" }, word("not_kept")), copier(whole), save),
    el("pre", { dir: "auto", tabindex: "0" }, brief));
}

function download(text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "request.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
