// One memory as people see it: its words and where they come from; corrected in place, pinned, forgotten, its history.
import {
  _,
  attempt,
  byId,
  el,
  formatDate,
  formatMoment,
  formatNumber,
  ngettext,
  pgettext,
  toast,
} from "./core.js";
import { markWords } from "./mark-words.js";
import { ask, nameOwner, scopeHeaders } from "./memory-scope.js";
import { renderReasons } from "./memory-hit.js";

/** The kinds of memories that people choose from: one of it, and several. */
export const KINDS = {
  fact: [_("Fact"), _("Facts")],
  decision: [_("Decision"), _("Decisions")],
  preference: [_("Preference"), _("Preferences")],
  note: [_("Note"), _("Notes")],
};
const UNDO = 12_000;
const lastSeen = (memory) => Math.max(memory.valid_from, memory.seen);

/** An article for an item {id, memory, chats}; `tools` hears of what becomes of it. */
export function renderMemory(item, tools) {
  const { memory } = item;
  const element = el("article", {
    class: `memory ${memory.superseded_by ? "former" : ""}`,
    tabindex: "-1",
    "aria-label": memory.text.slice(0, 80),
  });
  const createButton = (name, label, work, extra = {}) =>
    el("button", { type: "button", class: "quiet", data: { do: name }, onclick: work, ...extra }, label);
  const startEdit = () => editMemory(element, item, tools);
  element.append(
    el(
      "p",
      { class: "text", dir: "auto" },
      ...(item.words ? markWords(memory.text, item.words) : [memory.text]),
    ),
    item.why ? renderReasons(item.why) : "",
    el(
      "div",
      { class: "foot" },
      renderFacts(item),
      el(
        "div",
        { class: "actions" },
        createButton("edit", _("Edit"), startEdit),
        byId("state").value === "archived"
          ? createButton("restore", _("Take out of the archive"), () => restoreMemory(item, tools))
          : createButton("pin", memory.pinned ? _("Unpin") : _("Pin"), () => togglePin(item, tools), {
            title: _("What is pinned is never moved to the archive."),
          }),
        createButton(
          "history",
          _("History"),
          (event) => toggleHistory(event.currentTarget, element, item),
          { "aria-expanded": "false" },
        ),
        createButton("forget", _("Forget"), () => forgetMemory(item, tools)),
      ),
    ),
  );
  return element;
}

function renderFacts(item) {
  const { memory, chats } = item;
  const share = Math.round(memory.importance * 100);
  const bar = el("i", { "aria-hidden": "true" });
  bar.style.width = `${share}%`;
  const at = lastSeen(memory);
  return el(
    "p",
    { class: "about small faint" },
    el(
      "span",
      { class: `tag kind ${memory.kind}` },
      KINDS[memory.kind]?.[0] ?? pgettext("kind of memory", "Summary"),
    ),
    memory.pinned && el("span", { class: "tag" }, _("Pinned")),
    at
      ? el("time", { datetime: new Date(at * 1000).toISOString(), title: formatMoment(at) }, formatDate(at))
      : null,
    el("span", {
      class: "importance",
      role: "img",
      "aria-label": _("Importance {n} %", { n: share }),
      title: _("Importance {n} %", { n: share }),
    }, bar),
    renderSource(memory, chats),
    nameOwner(memory.scope) && el("span", { class: "tag", dir: "auto" }, nameOwner(memory.scope)),
    memory.superseded_by &&
      el(
        "span",
        {},
        memory.valid_until ? _("until {date}", { date: formatDate(memory.valid_until) }) : _("Replaced"),
      ),
  );
}

/** Shows where it was learned, as a link if the conversation can be opened. */
function renderSource(memory, chats) {
  if (!memory.conversation) return el("span", {}, _("Written down by you"));
  const chat = chats?.[memory.conversation];
  if (!chat) return el("span", {}, _("From a chat that was deleted"));
  const title = chat.title || _("Untitled chat");
  const more = memory.also.length ? ` +${formatNumber(memory.also.length)}` : "";
  // The address of a group's conversation alone does not open it.
  if (chat.kind === "group") {
    return el("span", { dir: "auto" }, _("From “{title}”", { title }) + more);
  }
  return el(
    "a",
    { href: `/c/${encodeURIComponent(memory.conversation)}`, dir: "auto" },
    _("From “{title}”", { title }) + more,
  );
}

/** Creates the form of a memory; returns it with a function that reads its values. */
function createForm(memory, label) {
  const text = el("textarea", {
    rows: 3,
    dir: "auto",
    required: true,
    "aria-label": _("Text"),
    value: memory.text,
  });
  const grow = () => {
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight + 2, 400)}px`;
  };
  text.addEventListener("input", grow);
  const kind = el(
    "select",
    {},
    ...Object.entries(KINDS).map(([name, [label]]) => el("option", { value: name }, label)),
  );
  if (!(memory.kind in KINDS)) kind.append(el("option", { value: memory.kind }, memory.kind));
  kind.value = memory.kind;
  const importance = el("input", {
    type: "range",
    min: 0,
    max: 100,
    step: 5,
    value: Math.round(memory.importance * 100),
  });
  const share = el("output", {}, `${importance.value} %`);
  importance.addEventListener("input", () => (share.textContent = `${importance.value} %`));
  const pinned = el("input", { type: "checkbox", checked: memory.pinned });
  const cancel = el("button", { type: "button" }, _("Cancel"));
  const form = el(
    "form",
    { class: "card memory-form" },
    text,
    el(
      "div",
      { class: "row" },
      el("label", { class: "row" }, el("span", {}, _("Kind")), kind),
      el("label", { class: "row" }, el("span", {}, _("Importance")), importance, share),
      el(
        "label",
        { class: "row", title: _("What is pinned is never moved to the archive.") },
        pinned,
        el("span", {}, _("Pinned")),
      ),
    ),
    el("div", { class: "buttons" }, cancel, el("button", { class: "main" }, label)),
  );
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      cancel.click();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  const readValues = () => ({
    text: text.value,
    kind: kind.value,
    importance: importance.value / 100,
    pinned: pinned.checked,
  });
  return { form, cancel, readValues, focusForm: () => (grow(), text.focus()) };
}

function editMemory(element, item, tools) {
  const { form, cancel, readValues, focusForm } = createForm(item.memory, _("Save"));
  const content = [...element.childNodes];
  const closeForm = () => {
    element.replaceChildren(...content);
    element.querySelector('[data-do="edit"]').focus();
  };
  cancel.addEventListener("click", closeForm);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const changes = Object.entries(readValues()).filter(([name, value]) => value !== item.memory[name]);
    if (!changes.length) return closeForm();
    tools.markOwn(item.id);
    const saved = await attempt(() =>
      ask(`/api/memory/${encodeURIComponent(item.id)}`, { method: "PUT", body: Object.fromEntries(changes) })
    );
    if (!saved) return undefined;
    const next = tools.replace({ ...item, memory: saved });
    next?.querySelector('[data-do="edit"]').focus();
    return toast(_("Saved."));
  });
  element.replaceChildren(form);
  focusForm();
}

async function togglePin(item, tools) {
  tools.markOwn(item.id);
  const saved = await attempt(() =>
    ask(`/api/memory/${encodeURIComponent(item.id)}`, {
      method: "PUT",
      body: { pinned: !item.memory.pinned },
    })
  );
  if (saved) tools.replace({ ...item, memory: saved })?.querySelector('[data-do="pin"]').focus();
}

/** Takes a memory out of the archive. */
async function restoreMemory(item, tools) {
  tools.markOwn(item.id);
  const restored = await attempt(() =>
    ask(`/api/memory/${encodeURIComponent(item.id)}/restore`, { method: "POST" })
  );
  if (!restored) return;
  tools.remove(item);
  toast(_("It is remembered again, and pinned, so that it stays."));
}

async function forgetMemory(item, tools) {
  tools.markOwn(item.id);
  const done = await attempt(
    async () => ((await ask(`/api/memory/${encodeURIComponent(item.id)}`, { method: "DELETE" })), true),
  );
  if (!done) return;
  tools.remove(item);
  showUndo(
    _("Forgotten: {text}", {
      text: item.memory.text.length > 60 ? `${item.memory.text.slice(0, 60)} …` : item.memory.text,
    }),
    () =>
      // Brought in as it was, it is the same one again, with its source and its dates.
      ask("/api/memory/import", {
        method: "POST",
        body: { memories: [item.memory] },
        headers: scopeHeaders(item.memory.scope),
      }),
  );
}

/** Shows a message with an undo button; it stays while the pointer or focus is on it. */
function showUndo(text, undo) {
  const button = el("button", { type: "button", class: "undo" }, _("Undo"));
  const element = el("div", { class: "toast with-undo" }, el("span", { dir: "auto" }, text), button);
  let timer = setTimeout(() => element.remove(), UNDO);
  const pauseTimer = () => clearTimeout(timer);
  const startTimer = () => (timer = setTimeout(() => element.remove(), UNDO));
  element.addEventListener("mouseenter", pauseTimer);
  element.addEventListener("focusin", pauseTimer);
  element.addEventListener("mouseleave", startTimer);
  element.addEventListener("focusout", startTimer);
  button.addEventListener("click", async () => {
    element.remove();
    if (await attempt(undo)) toast(_("It is remembered again."));
  });
  byId("toasts").append(element);
}

/** Shows or hides the earlier values of a memory, newest first, each with its period. */
async function toggleHistory(button, element, item) {
  const history = element.querySelector(".past");
  button.setAttribute("aria-expanded", String(!history));
  if (history) return history.remove();
  const past = await attempt(() => ask(`/api/memory/${encodeURIComponent(item.id)}/history`));
  if (!past) return button.setAttribute("aria-expanded", "false");
  const rows = past.slot.length > 1
    ? past.slot.map((memory) =>
      el(
        "li",
        {
          class: memory.superseded_by ? "former" : "",
          "aria-current": memory.id === item.id ? "true" : undefined,
        },
        el("span", { class: "faint small" }, describePeriod(memory)),
        " ",
        el(memory.superseded_by ? "s" : "span", { dir: "auto" }, memory.text),
      )
    )
    : [];
  return element.append(
    el(
      "div",
      { class: "past", role: "group", "aria-label": _("History") },
      rows.length
        ? el("ol", {}, ...rows)
        : el("p", { class: "faint small" }, _("Nothing else stood in its place.")),
    ),
  );
}

function describePeriod(memory) {
  const from = memory.valid_from ? formatDate(memory.valid_from) : "";
  if (!memory.superseded_by) return from ? _("since {date}", { date: from }) : _("now");
  const until = memory.valid_until ? formatDate(memory.valid_until) : "";
  if (!until) return _("Replaced");
  return from ? _("{from} to {until}", { from, until }) : _("until {date}", { date: until });
}

/** Says how many memories made room for others, and where the limit is set. */
export const renderArchived = (count) =>
  el(
    "p",
    { class: "notice" },
    ngettext(
      "1 memory was moved to the archive to make room.",
      "{n} memories were moved to the archive to make room.",
      { n: formatNumber(count) },
    ),
    " ",
    el("a", { href: "/settings#row-memory_limit" }, _("Raise the limit")),
  );

/** A form for something new, under the button that asked for it. */
export function openAddForm(place, button, callback) {
  if (place.firstChild) return place.querySelector("textarea").focus();
  const { form, cancel, readValues, focusForm } = createForm({
    text: "",
    kind: "fact",
    importance: 0.8,
    pinned: false,
  }, _("Remember"));
  const closeForm = () => {
    place.replaceChildren();
    button.focus();
  };
  cancel.addEventListener("click", closeForm);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const reply = await attempt(() => ask("/api/memory", { method: "POST", body: readValues() }));
    if (!reply) return;
    closeForm();
    callback({ id: reply.memory.id, memory: reply.memory, chats: {} });
    toast(
      reply.replaced.length
        ? _("Remembered. It replaces {n} that no longer hold.", {
          n: reply.replaced.length,
        })
        : reply.action === "added"
        ? _("Remembered.", {
          n: reply.replaced.length,
        })
        : _("It was known already, and is up to date now.", {
          n: reply.replaced.length,
        }),
    );
    if (reply.archived.length) byId("room").replaceChildren(renderArchived(reply.archived.length));
  });
  place.replaceChildren(form);
  return focusForm();
}
