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
  if (report.recall?.searched?.length) parts.push(el("h3", {}, word("looked_for")), ...lookedFor(report.recall));
  panel.replaceChildren(...(parts.length ? parts : [el("p", { class: "empty" }, word("no_brought"))]));
}

/** What was searched for the last question, how likely anything answers it, and what came of it. */
function lookedFor({ searched, likely, brought, missed }) {
  const hit = (one) => el("li", {}, el("span", { class: "mono small" }, one.id), ` ${number(Math.round(one.score * 100))} % `,
    el("span", { class: "faint small" }, Object.entries(one.parts).map(([name, value]) => `${word(`part_${name}`)} ${number(value)}`).join(" · ")));
  const listed = (title, rows) => (rows.length ? [el("details", {}, el("summary", {}, word(title, { n: number(rows.length) })), el("ul", { class: "list" }, rows.map(hit)))] : []);
  return [el("p", { dir: "auto" }, searched.join(" · ")), el("p", { class: "faint small" }, word("likely_answered", { n: number(Math.round(likely * 100)) })),
    ...listed("hits_brought", brought), ...listed("hits_missed", missed)];
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
