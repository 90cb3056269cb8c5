// What can be done with a single message beside asking: deleted and brought back, reworded, compared with another.
// `page` has `show()` to load the conversation anew, `find(id)` and `ask(wish)`.
import { _, attempt, byId, el, showDialog, toast } from "./core.js";
import { openMenu } from "./chat-menu.js";
import { openEditor } from "./chat-editor.js";
import { followTurn, Live } from "./chat-live.js";
import * as messages from "./chat-messages.js";
import { currentModel, describeModel, listInstalled } from "./chat-models.js";
import { call, chatPath, stream } from "./chat-state.js";
import { putHtml } from "./markdown.js";
import { canSpeak, speak } from "./chat-speech.js";

/** Opens the menu of a message at its button. */
export function openMessageMenu(entry, element, button, page) {
  const isAnswer = entry.role === "assistant";
  openMenu(
    button,
    [
      isAnswer && { label: _("Edit"), act: () => rewrite(entry, element, page) },
      isAnswer && { label: _("Another model …"), act: () => askAnother(entry, element, page) },
      isAnswer && entry.versions &&
      { label: _("Versions side by side"), act: () => attempt(() => showVersions(entry, element, page)) },
      isAnswer && canSpeak() && { label: _("Read aloud"), act: () => speak(entry.text ?? entry.content) },
      { label: _("Delete"), kind: "danger", act: () => remove(entry, element, page) },
    ].filter(Boolean),
  );
}

/** Puts an answer into other words. */
async function rewrite(entry, element, page) {
  const edit = await openEditor(entry, element);
  if (edit) await saveText(entry, edit.text, page);
}

/** Saves another text of a message; nothing is asked. */
export function saveText(entry, text, page) {
  return attempt(async () => {
    const { message } = await call(chatPath(`/messages/${entry.id}`), { method: "PUT", body: { text } });
    await page.show();
    await messages.scrollToMessage(message);
  });
}

/** Deletes a message; a line in its place undoes it. */
function remove(entry, element, page) {
  return attempt(async () => {
    const before = findBefore(element);
    await call(chatPath(`/messages/${entry.id}`), { method: "DELETE" });
    await page.show();
    if (before && !page.find(before)) await messages.scrollToMessage(before);
    const undoButton = el("button", { type: "button", onclick: () => bringBack(entry, page) }, _("Undo"));
    const line = el(
      "p",
      { class: "removed", role: "status" },
      _("Message deleted: the model does not see it any more."),
      " ",
      undoButton,
    );
    if (before) page.find(before)?.after(line);
    else byId("messages").prepend(line);
    line.scrollIntoView({ block: "nearest" });
    undoButton.focus({ preventScroll: true });
  });
}

function findBefore(element) {
  let before = element.previousElementSibling;
  while (before && !before.dataset.message) before = before.previousElementSibling;
  return before?.dataset.message ?? "";
}

function bringBack(entry, page) {
  return attempt(async () => {
    await call(chatPath(`/messages/${entry.id}/restore`), { method: "POST" });
    await page.show();
    await messages.scrollToMessage(entry.id);
  });
}

/** Has another model answer the same question: instead of this answer, or beside it. */
async function askAnother(entry, element, page) {
  const others = listInstalled().filter((model) => model.name !== entry.model);
  const models = others.length ? others : listInstalled();
  const chooser = el(
    "select",
    { class: "wide" },
    models.map((model) => el("option", { value: model.name }, describeModel(model))),
  );
  if (models.some((model) => model.name === currentModel())) chooser.value = currentModel();
  const choice = await showDialog(
    _("Another model …"),
    el("label", {}, _("Who answers the question once more"), chooser),
    [
      { value: "", label: _("Cancel") },
      { value: "instead", label: _("As another version") },
      { value: "beside", label: _("Side by side"), kind: "main" },
    ],
  );
  if (!choice) return;
  const beside = choice === "beside" && {
    render: (shown, live) => renderPair(entry, shown, live),
    end: (answer, place) => showVersions(answer, place, page),
  };
  page.ask({ regenerate: entry.id, from: element, model: chooser.value, beside });
}

/** Two columns: an answer, and beside it the one that is being written. */
function renderPair(entry, element, live) {
  const body = element.querySelector(".markdown").cloneNode(true);
  return renderColumns([renderColumn(entry.model, body), live]);
}

/** Has a second model answer a question while the first one does, beside it. */
export function askSecond(model, second, page) {
  const live = new Live();
  let last = null, isLeft = () => false;
  return {
    render: (_, first) => renderColumns([renderColumn(model, first), renderColumn(second, live.element)]),
    start: ({ conversation, question }, signal) => {
      isLeft = () => signal.aborted;
      const body = { model: second, conversation, regenerate: question, beside: true };
      const open = () => stream("/api/chats/turns", { method: "POST", body, signal });
      last = followTurn(live, open, { start: () => {}, signal })
        .catch((error) => ({ kind: "error", data: { message: error.message } }))
        .finally(() => live.close());
    },
    stop: () => live.job && call(`/api/jobs/${live.job}`, { method: "DELETE" }),
    end: async (first, place) => {
      const { kind, data } = (await last) ?? { kind: "lost", data: {} };
      if (isLeft()) return;
      // Either may have been there first.
      const versions = [...new Set([first.id, data.message].filter(Boolean))];
      if (versions.length === 2) return showVersions({ versions }, place, page);
      await page.show();
      if (kind === "error") {
        toast(_("{model} did not answer: {why}", { model: second, why: data.message }), "error");
      } else if (data.repeated) toast(_("The same answer again, word for word."));
    },
  };
}

const renderColumns = (columns) =>
  el("section", { class: "pair", "aria-label": _("Versions side by side") }, columns);

const renderColumn = (model, body, extra = null) =>
  el("div", { class: "version" }, el("h2", {}, model ?? ""), body, extra);

/** Shows all versions of an answer beside each other; one of them is chosen to go on with. */
async function showVersions(entry, element, page) {
  const versions = await Promise.all(
    entry.versions.map((id) => call(chatPath(`/messages/${id}?html=true`))),
  );
  const choose = (id) =>
    attempt(async () => {
      await call(chatPath("/head"), { method: "PUT", body: { message: id } });
      await page.show();
      page.find(id)?.focus({ preventScroll: true });
    });
  const pair = renderColumns(versions.map((version) => {
    const body = el("div", { class: "markdown", dir: "auto" });
    if (version.html === null) body.append(el("div", { class: "words" }, version.content));
    else putHtml(body, version.html);
    const label = _("Go on with this answer");
    return renderColumn(
      version.model,
      body,
      el("button", { type: "button", onclick: () => choose(version.id) }, label),
    );
  }));
  element.replaceWith(pair);
  messages.scrollToEnd();
  pair.querySelector("button").focus({ preventScroll: true });
}
