// One memory as people see it: its words and where they come from; corrected in place, pinned, forgotten, its history.
import { attempt, byId, el, formatDate, formatMoment, formatNumber, toast, word } from "./core.js";
import { markWords } from "./mark-words.js";
import { ask, nameOwner, scopeHeaders } from "./memory-scope.js";
import { renderReasons } from "./memory-hit.js";

const KINDS = ["fact", "decision", "preference", "note"];
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
        createButton("edit", word("edit"), startEdit),
        byId("state").value === "archived"
          ? createButton("restore", word("restore"), () => restoreMemory(item, tools))
          : createButton("pin", word(memory.pinned ? "unpin" : "pin"), () => togglePin(item, tools), {
            title: word("pin_more"),
          }),
        createButton(
          "history",
          word("history"),
          (event) => toggleHistory(event.currentTarget, element, item),
          { "aria-expanded": "false" },
        ),
        createButton("forget", word("forget"), () => forgetMemory(item, tools)),
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
    el("span", { class: `tag kind ${memory.kind}` }, word(memory.kind)),
    memory.pinned && el("span", { class: "tag" }, word("pinned")),
    at
      ? el("time", { datetime: new Date(at * 1000).toISOString(), title: formatMoment(at) }, formatDate(at))
      : null,
    el("span", {
      class: "importance",
      role: "img",
      "aria-label": word("importance_is", { n: share }),
      title: word("importance_is", { n: share }),
    }, bar),
    renderSource(memory, chats),
    nameOwner(memory.scope) && el("span", { class: "tag", dir: "auto" }, nameOwner(memory.scope)),
    memory.superseded_by &&
      el(
        "span",
        {},
        memory.valid_until ? word("until", { date: formatDate(memory.valid_until) }) : word("replaced"),
      ),
  );
}

/** Shows where it was learned, as a link if the conversation can be opened. */
function renderSource(memory, chats) {
  if (!memory.conversation) return el("span", {}, word("by_you"));
  const chat = chats?.[memory.conversation];
  if (!chat) return el("span", {}, word("chat_gone"));
  const title = chat.title || word("untitled");
  const more = memory.also.length ? ` +${formatNumber(memory.also.length)}` : "";
  // The address of a group's conversation alone does not open it.
  if (chat.kind === "group") {
    return el("span", { dir: "auto" }, word("from_chat", { title }) + more);
  }
  return el(
    "a",
    { href: `/c/${encodeURIComponent(memory.conversation)}`, dir: "auto" },
    word("from_chat", { title }) + more,
  );
}

/** Creates the form of a memory; returns it with a function that reads its values. */
function createForm(memory, label) {
  const text = el("textarea", {
    rows: 3,
    dir: "auto",
    required: true,
    "aria-label": word("text"),
    value: memory.text,
  });
  const grow = () => {
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight + 2, 400)}px`;
  };
  text.addEventListener("input", grow);
  const kind = el("select", {}, ...KINDS.map((name) => el("option", { value: name }, word(name))));
  if (!KINDS.includes(memory.kind)) kind.append(el("option", { value: memory.kind }, memory.kind));
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
  const cancel = el("button", { type: "button" }, word("cancel"));
  const form = el(
    "form",
    { class: "card memory-form" },
    text,
    el(
      "div",
      { class: "row" },
      el("label", { class: "row" }, el("span", {}, word("kind")), kind),
      el("label", { class: "row" }, el("span", {}, word("importance")), importance, share),
      el("label", { class: "row", title: word("pin_more") }, pinned, el("span", {}, word("pinned"))),
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
  const { form, cancel, readValues, focusForm } = createForm(item.memory, word("save"));
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
    return toast(word("saved"));
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
  toast(word("restored"));
}

async function forgetMemory(item, tools) {
  tools.markOwn(item.id);
  const done = await attempt(
    async () => ((await ask(`/api/memory/${encodeURIComponent(item.id)}`, { method: "DELETE" })), true),
  );
  if (!done) return;
  tools.remove(item);
  showUndo(
    word("forgotten", {
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
  const button = el("button", { type: "button", class: "undo" }, word("undo"));
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
    if (await attempt(undo)) toast(word("undone"));
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
      { class: "past", role: "group", "aria-label": word("history") },
      rows.length ? el("ol", {}, ...rows) : el("p", { class: "faint small" }, word("no_history")),
    ),
  );
}

function describePeriod(memory) {
  const from = memory.valid_from ? formatDate(memory.valid_from) : "";
  if (!memory.superseded_by) return from ? word("since", { date: from }) : word("holds_now");
  const until = memory.valid_until ? formatDate(memory.valid_until) : "";
  if (!until) return word("replaced");
  return from ? word("from_until", { from, until }) : word("until", { date: until });
}

/** Says how many memories made room for others, and where the limit is set. */
export const renderArchived = (count) =>
  el(
    "p",
    { class: "notice" },
    word("archived_more", { n: formatNumber(count) }),
    " ",
    el("a", { href: "/settings#row-memory_limit" }, word("raise_limit")),
  );

/** A form for something new, under the button that asked for it. */
export function openAddForm(place, button, callback) {
  if (place.firstChild) return place.querySelector("textarea").focus();
  const { form, cancel, readValues, focusForm } = createForm({
    text: "",
    kind: "fact",
    importance: 0.8,
    pinned: false,
  }, word("remember"));
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
      word(reply.replaced.length ? "added_replaced" : reply.action === "added" ? "added" : "known_already", {
        n: reply.replaced.length,
      }),
    );
    if (reply.archived.length) byId("room").replaceChildren(renderArchived(reply.archived.length));
  });
  place.replaceChildren(form);
  return focusForm();
}
