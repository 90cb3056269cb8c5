// A conversation as a file: Markdown to read, JSON to work with.
import { _, el, formatMoment } from "./core.js";
import { call, projectQuery } from "./chat-state.js";

function saveFile(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** What a file may be called in every system. */
const nameFile = (title) => title.replace(/[^\p{L}\p{N} _-]+/gu, "").trim().slice(0, 80) || "chat";

function renderMarkdown({ chat, messages }) {
  const parts = [`# ${chat.title || _("Untitled")}`];
  for (const entry of messages) {
    if (entry.type === "compaction" || entry.role === "system" || !entry.content) continue;
    const who = entry.role === "user"
      ? _("You")
      : entry.role === "tool"
      ? _("Result: {name}", { name: entry.tool_name ?? _("tool") })
      : _("Answer of {model}", { model: entry.model ?? "" });
    const when = entry.created_at ? ` · ${formatMoment(entry.created_at)}` : "";
    // The mark is not shown where Markdown is; by it the file can be imported.
    const mark = ["holdfast", entry.role, entry.created_at ?? "0", entry.model].filter(Boolean).join(" ");
    parts.push(`## ${who}${when} <!-- ${mark} -->`, entry.content);
  }
  return `${parts.join("\n\n")}\n`;
}

const saveJson = (name, value) =>
  saveFile(`${name}.json`, "application/json", `${JSON.stringify(value, null, 2)}\n`);

const readChat = (chat) => call(`/api/chats/${encodeURIComponent(chat.id)}/messages`);

/** Saves a conversation as `markdown` or `json`. */
export async function exportChat(chat, form) {
  const reply = await readChat(chat), name = nameFile(chat.title);
  if (form === "json") saveJson(name, reply);
  else saveFile(`${name}.md`, "text/markdown", renderMarkdown(reply));
}

/** Saves several conversations: all in one file as `json`, one file each as `markdown`. */
export async function exportChats(chats, form) {
  if (chats.length === 1) return exportChat(chats[0], form);
  const replies = [];
  for (const chat of chats) replies.push(await readChat(chat));
  if (form === "json") return saveJson(_("chats"), { chats: replies });
  for (const reply of replies) {
    saveFile(`${nameFile(reply.chat.title)}.md`, "text/markdown", renderMarkdown(reply));
  }
  return undefined;
}

/** Imports files that were saved here, as Markdown or JSON; returns the report. */
export async function importFiles(files) {
  const read = await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })));
  return call(`/api/chats/import?${projectQuery().slice(1)}`, { method: "POST", body: { files: read } });
}
