// A conversation as a file: Markdown to read, JSON to work with.
import { el, formatMoment, word } from "./core.js";
import { call } from "./chat-state.js";

function saveFile(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** What a file may be called in every system. */
const nameFile = (title) => title.replace(/[^\p{L}\p{N} _-]+/gu, "").trim().slice(0, 80) || "chat";

function renderMarkdown({ chat, messages }) {
  const parts = [`# ${chat.title || word("untitled")}`];
  for (const entry of messages) {
    if (entry.type === "compaction" || entry.role === "system" || !entry.content) continue;
    const who = entry.role === "user"
      ? word("you")
      : entry.role === "tool"
      ? word("tool_result", { name: entry.tool_name ?? word("unnamed_tool") })
      : word("answer_of", { model: entry.model ?? "" });
    const when = entry.created_at ? ` · ${formatMoment(entry.created_at)}` : "";
    parts.push(`## ${who}${when}`, entry.content);
  }
  return `${parts.join("\n\n")}\n`;
}

/** Saves a conversation as `markdown` or `json`. */
export async function exportChat(chat, form) {
  const reply = await call(`/api/chats/${encodeURIComponent(chat.id)}/messages`);
  const name = nameFile(chat.title);
  if (form === "json") saveFile(`${name}.json`, "application/json", `${JSON.stringify(reply, null, 2)}\n`);
  else saveFile(`${name}.md`, "text/markdown", renderMarkdown(reply));
}
