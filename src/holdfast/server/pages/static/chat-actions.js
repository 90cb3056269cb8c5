// What can be done with conversations in the list, one or several: rename, pin, move, archive, export, delete.
import { _, attempt, el, groupBy, ngettext, pgettext, showDialog, toast } from "./core.js";
import { exportChat, exportChats } from "./chat-export.js";
import { call, state } from "./chat-state.js";

// How long, in milliseconds, a deletion can be undone; only then it happens.
const UNDO = 7000;

/**
 * What the list offers: `reload()` loads it anew, `open(id)` shows a conversation, `folders()` are their names,
 * `readFolder(name)` loads one, `follow(name, folder)` opens a folder as another was, `onRename(chat)` and
 * `onDelete(id)` tell the page.
 * @type {any}
 */
let list = {};

/** Deletions that can still be undone, by the id of the conversation. */
const deletions = new Map();

export function startActions(hooks) {
  list = hooks;
  // Who leaves the page cannot undo any more.
  addEventListener("pagehide", () => {
    for (const deletion of new Set(deletions.values())) deletion.send(true);
  });
}

/** What can be done with a conversation, for its menu and for the palette. */
export const actionsOf = (chat) => [
  { label: _("Rename"), icon: "pencil", act: () => renameChat(chat) },
  {
    label: chat.pinned ? _("Unpin") : _("Pin"),
    icon: "pin",
    act: () => arrange([chat], { pinned: !chat.pinned }),
  },
  { label: _("Move to a folder"), icon: "folder", act: () => moveChats([chat]) },
  ...(chat.kind === "group"
    ? []
    : [{ label: _("Move to a project"), icon: "arrow-right", act: () => moveToProject([chat]) }]),
  {
    label: chat.archived ? _("Take out of the archive") : pgettext("what can be done with a chat", "Archive"),
    icon: "archive",
    act: () => arrange([chat], { archived: !chat.archived }),
  },
  { label: _("Fork"), icon: "git-fork", act: () => forkChat(chat) },
  {
    label: _("Save as Markdown"),
    icon: "download",
    act: () => attempt(() => exportChat(chat, "markdown")),
  },
  { label: _("Save as JSON"), icon: "download", act: () => attempt(() => exportChat(chat, "json")) },
  { label: _("Delete"), icon: "trash-2", kind: "danger", act: () => deleteChats([chat]) },
];

const changeSeveral = (chats, changes) =>
  call("/api/chats/batch", { method: "POST", body: { chats: chats.map((chat) => chat.id), ...changes } });

/** What is said of a change, by what it changes. */
function describeChange(changes, n) {
  if (changes.project !== undefined) {
    const isNone = changes.project === "default";
    return isNone
      ? ngettext("It belongs to no project now.", "{n} chats belong to no project now.", { n })
      : ngettext("Moved to the project “{project}”.", "{n} chats moved to the project “{project}”.", {
        n,
        project: changes.project,
      });
  }
  if (changes.folder !== undefined) {
    return changes.folder
      ? ngettext("Moved to “{folder}”.", "{n} chats moved to “{folder}”.", { n, folder: changes.folder })
      : ngettext("It is in no folder now.", "{n} chats are in no folder now.", { n });
  }
  if (changes.archived) {
    return ngettext("Archived: it is at the end of the list, and is still found.", "{n} chats archived.", {
      n,
    });
  }
  if (changes.archived === false) {
    return ngettext("It is in the list again.", "{n} chats are in the list again.", { n });
  }
  return changes.pinned
    ? ngettext("Pinned: it stays at the top.", "{n} chats pinned.", { n })
    : ngettext("Unpinned.", "{n} chats unpinned.", { n });
}

/** Pins, archives or moves conversations, and offers to undo it. */
export async function arrange(chats, changes) {
  const done = await attempt(() => changeSeveral(chats, changes));
  if (!done) return;
  await showChanged(chats.map((chat) => ({ ...chat, ...changes })));
  toast(describeChange(changes, chats.length), "info", {
    label: _("Undo"),
    act: () => undo(chats, changes),
  });
}

/** Gives each conversation back what it had before. */
async function undo(chats, changes) {
  const [name] = Object.keys(changes);
  const groups = groupBy(chats, (chat) => chat[name]);
  await attempt(() =>
    Promise.all([...groups].map(([value, members]) => changeSeveral(members, { [name]: value })))
  );
  await showChanged(chats);
}

/** Loads the list anew, and tells the page if the open conversation is among those that changed. */
async function showChanged(chats) {
  const open = chats.find((chat) => chat.id === state.conversation);
  if (open) list.onRename(open);
  await list.reload();
}

/** Asks for a folder, one that is there or a new one, and moves conversations into it. */
export async function moveChats(chats) {
  const value = chats.length === 1 ? chats[0].folder : "";
  const folder = await askPlace(_("Move to a folder"), _("Folder; empty is none"), list.folders(), value);
  if (folder !== null) await arrange(chats, { folder });
}

/** Asks for a project, and moves conversations there; an empty name stands for none. */
export async function moveToProject(chats) {
  const { projects } = await attempt(() => call("/api/chats/projects")) ?? { projects: [] };
  const [{ project }] = chats, isNone = chats.length > 1 || project === "default";
  const name = await askPlace(
    _("Move to a project"),
    _("Name of the project"),
    projects.filter((entry) => entry !== "default"),
    isNone ? "" : project,
    _(
      "Its forks move with it. What was remembered stays where it was learned; an empty name: no project.",
    ),
  );
  if (name !== null) await arrange(chats, { project: name || "default" });
}

/** Asks for the name of a place, one that is there or a new one; null if nobody wants any. */
async function askPlace(title, label, names, value, help = "") {
  const input = el("input", {
    type: "text",
    class: "wide",
    maxlength: "100",
    list: "place-names",
    autocomplete: "off",
    dir: "auto",
    value,
  });
  const choice = await showDialog(
    title,
    [
      el("label", {}, el("span", {}, label), input),
      el("datalist", { id: "place-names" }, names.map((name) => el("option", { value: name }))),
      names.length && el(
        "div",
        { class: "folder-choices" },
        names.map((name) =>
          el("button", { type: "button", class: "quiet", onclick: () => (input.value = name) }, name)
        ),
      ),
      help && el("p", { class: "small faint" }, help),
    ].filter(Boolean),
    [
      { value: "", label: _("Cancel") },
      { value: "yes", label: _("Move"), kind: "main" },
    ],
  );
  return choice === "yes" ? input.value.trim() : null;
}

export async function renameChat(chat) {
  const input = el("input", {
    type: "text",
    value: chat.title,
    maxlength: "300",
    dir: "auto",
    class: "wide",
  });
  const choice = await showDialog(_("Rename"), el("label", {}, _("Title"), input), [
    { value: "", label: _("Cancel") },
    { value: "yes", label: _("Save"), kind: "main" },
  ]);
  if (choice !== "yes" || !input.value.trim()) return;
  const renamed = await attempt(() =>
    call(`/api/chats/${chat.id}`, { method: "PATCH", body: { title: input.value } })
  );
  if (!renamed) return;
  list.update(renamed);
  list.onRename(renamed);
}

/** What can be done with a folder. */
export const actionsOfFolder = (name) => [
  { label: _("Rename"), act: () => renameFolder(name) },
  { label: _("Dissolve the folder"), act: () => changeFolder(name, "") },
];

async function changeFolder(name, folder) {
  const reply = await attempt(() => list.readFolder(name));
  if (!reply?.chats.length) return;
  list.follow(name, folder);
  await arrange(reply.chats, { folder });
}

async function renameFolder(name) {
  const input = el("input", { type: "text", value: name, maxlength: "100", dir: "auto", class: "wide" });
  const choice = await showDialog(
    _("Rename"),
    el("label", {}, el("span", {}, _("Folder; empty is none")), input),
    [{ value: "", label: _("Cancel") }, { value: "yes", label: _("Save"), kind: "main" }],
  );
  const folder = input.value.trim();
  if (choice === "yes" && folder && folder !== name) await changeFolder(name, folder);
}

async function forkChat(chat) {
  const copy = await attempt(() => call(`/api/chats/${chat.id}/fork`, { method: "POST", body: {} }));
  if (!copy) return;
  list.update(copy, true);
  await list.open(copy.id);
  toast(_("This is the fork; the original stays as it is."));
}

/** Saves several conversations: one file each as Markdown, all in one as JSON. */
export const exportSeveral = (chats, form) => attempt(() => exportChats(chats, form));

/** Deletes conversations after a moment in which it can be undone. Returns whether it was wished. */
export async function deleteChats(chats) {
  const [chat] = chats, n = chats.length;
  const choice = await showDialog(
    n === 1 ? _("Delete this conversation?", { n }) : _("Delete {n} conversations?", { n }),
    el(
      "p",
      { dir: "auto" },
      n === 1
        ? _("“{title}” and all its messages go for good. What was learned in it can stay.", {
          title: chat.title || _("Untitled"),
        })
        : _("They and all their messages go for good. What was learned in them can stay."),
    ),
    [
      { value: "", label: _("Cancel") },
      { value: "forget", label: _("Delete and forget"), kind: "danger" },
      { value: "keep", label: _("Delete, keep memories"), kind: "danger" },
    ],
  );
  if (!choice) return false;
  const deletion = scheduleDeletion(chats, choice);
  list.show();
  for (const { id } of chats) list.onDelete(id);
  toast(n === 1 ? _("Deleted.", { n }) : _("{n} conversations deleted.", { n }), "info", {
    label: _("Undo"),
    act: deletion.undo,
    wait: UNDO,
  });
  return true;
}

function scheduleDeletion(chats, choice) {
  const settle = () => {
    clearTimeout(timer);
    for (const { id } of chats) {
      deletions.delete(id);
      state.deleted.delete(id);
    }
  };
  const send = async (keepalive = false) => {
    clearTimeout(timer);
    await attempt(() =>
      call("/api/chats/batch", {
        method: "POST",
        body: { chats: chats.map((chat) => chat.id), delete: choice },
        keepalive,
      })
    );
    settle();
    await list.reload();
  };
  const undo = () => {
    settle();
    list.show();
  };
  const timer = setTimeout(send, UNDO);
  const deletion = { send, undo };
  for (const { id } of chats) {
    deletions.set(id, deletion);
    state.deleted.add(id);
  }
  return deletion;
}
