// What stands in a window beside what was said: files, findings and memories, each at the message it came with.
import { el, language, number, word } from "./core.js";

export async function brought(panel, shown) {
  const { report, heading } = shown;
  const added = report.messages.flatMap((message) => (message.added ?? []).map((one) => ({ ...one, message: message.id })));
  const parts = [];
  if (report.files?.length) parts.push(heading("files"), el("ul", { class: "list brought" }, report.files.map((file) => fileRow(file, added))));
  for (const section of ["research", "recalled"]) {
    const found = added.filter((one) => one.section === section);
    if (found.length) parts.push(heading(section), el("ul", { class: "list brought" }, found.map(row)));
  }
  panel.replaceChildren(...(parts.length ? parts : [el("p", { class: "empty" }, word("no_brought"))]));
}

function fileRow(file, added) {
  const text = added.find((one) => one.section === "files" && one.name === file.name && one.message === file.message)?.text;
  const facts = [word(`mode_${file.mode}`), file.shortened && word("cut"), file.changed && word("changed"), word("tokens", { n: number(file.tokens) })];
  return el("li", {}, el("strong", { class: "mono", dir: "auto" }, file.name), el("div", { class: "faint small" }, facts.filter(Boolean).join(" · ")),
    file.trouble.length > 0 && el("div", { class: "small", dir: "auto" }, file.trouble[language === "de" ? 1 : 0]), text && fold(text));
}

function row(one) {
  const [first] = one.text.trim().split("\n");
  return el("li", {}, el("p", { dir: "auto" }, first.length > 160 ? `${first.slice(0, 160)} …` : first),
    one.section === "research" && one.name && el("a", { href: `/research#${encodeURIComponent(one.name)}` }, word("to_finding")), fold(one.text));
}

const fold = (text) => el("details", {}, el("summary", {}, word("seen_as")), el("pre", { class: "summary", dir: "auto" }, text));
