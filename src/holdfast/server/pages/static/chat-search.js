// Searching in conversations: titles and messages with the words that were typed, marked.
import { _, el, formatDate } from "./core.js";
import { markWords } from "./mark-words.js";
import { call, projectQuery } from "./chat-state.js";

const findTitles = (text) =>
  call(`/api/chats?archived=any&limit=10&title=${encodeURIComponent(text)}${projectQuery()}`);

/** What is found for a text, as elements; `list` has `renderRows`, `renderSection` and `renderLink`. */
export async function renderResults(text, list) {
  const [reply, titles] = await Promise.all([
    call(`/api/chats/search?limit=30&q=${encodeURIComponent(text)}${projectQuery()}`),
    findTitles(text),
  ]);
  const { chats } = reply.corrected ? await findTitles(reply.corrected) : titles;
  const words = reply.corrected ?? text;
  const sections = [
    list.renderSection(_("Titles"), list.renderRows(chats), "in-titles"),
    list.renderSection(
      _("In messages"),
      reply.hits.map((hit) => renderHit(hit, words, list.renderLink)),
      "in-messages",
    ),
  ].filter(Boolean);
  if (!sections.length) return [el("p", { class: "empty" }, _("Nothing found for “{text}”.", { text }))];
  const hint = reply.corrected && el("p", { class: "empty" }, _("Found for “{text}”:", { text: words }));
  return [hint, ...sections].filter(Boolean);
}

function renderHit(hit, words, renderLink) {
  return el(
    "li",
    { class: "hit" },
    renderLink(
      hit.conversation,
      hit.current ? hit.message : "",
      el("span", { dir: "auto" }, hit.title || _("Untitled")),
      el("span", { class: "snippet", dir: "auto" }, ...markWords(hit.snippet, words)),
      el("span", { class: "when" }, formatDate(hit.created_at)),
    ),
  );
}
