// One message as an element: what was said, thinking and tools folded, pictures and files, what can be done.
// What its buttons do is passed in as `acts`.
import {
  _,
  createCopyButton,
  createIconButton,
  el,
  formatMoment,
  formatNumber,
  formatTime,
  ngettext,
} from "./core.js";
import { call, chatPath, state } from "./chat-state.js";
import { renderAbout } from "./chat-details.js";
import { putHtml, renderThinking } from "./markdown.js";

/** An entry of a conversation; `acts` has `edit`, `regenerate`, `extend`, `fork`, `turn` and `more`. */
export function renderMessage(entry, acts) {
  if (entry.role === "tool") {
    return renderShell(
      entry,
      "tool",
      _("Result: {name}", { name: entry.tool_name ?? _("tool") }),
      renderToolResult(entry),
    );
  }
  const isQuestion = entry.role !== "assistant";
  const label = isQuestion ? _("You") : _("Answer of {model}", { model: entry.model ?? "" });
  const parts = isQuestion ? [...renderQuestion(entry)] : [...renderAnswer(entry)];
  const element = renderShell(entry, isQuestion ? "user" : "assistant", label, parts);
  if (entry.id) element.append(renderFoot(entry, element, acts, isQuestion));
  return element;
}

function renderShell(entry, kind, label, parts) {
  const data = entry.id ? { message: entry.id, parent: entry.parent ?? "" } : {};
  return el(
    "article",
    { class: `message ${kind}`, "aria-label": label, data, tabindex: "-1" },
    el("div", { class: "said" }, parts),
  );
}

function* renderQuestion(entry) {
  const text = entry.text ?? entry.content;
  if (entry.images) yield renderPictures(entry);
  if (entry.files?.length) {
    yield el(
      "ul",
      { class: "attached" },
      entry.files.map((file, at) => el("li", {}, renderFile(entry, file, at))),
    );
  }
  if (text) yield el("div", { class: "words", dir: "auto" }, text);
}

/** A file: once it is stored, a click opens what the model was given of it. */
function renderFile(entry, file, at) {
  const label = ngettext("{name} · 1 character", "{name} · {n} characters", {
    name: file.name,
    n: formatNumber(file.characters),
  });
  if (!entry.id) return el("span", { dir: "auto" }, label);
  const load = async () => (await call(chatPath(`/messages/${entry.id}/files/${at}`), { raw: true })).text();
  const open = async () => (await import("./chat-files.js")).openText(file.name, load);
  return el(
    "button",
    { type: "button", class: "quiet file", dir: "auto", onclick: open },
    label,
  );
}

function renderPictures(entry) {
  const addresses = entry.pictures ??
    Array.from({ length: entry.images }, (_, at) => chatPath(`/messages/${entry.id}/images/${at}`));
  return el(
    "div",
    { class: "pictures" },
    addresses.map((address, at) => {
      const image = el("img", { alt: _("Picture {n}", { n: at + 1 }), loading: "lazy" });
      const link = el("a", { target: "_blank", rel: "noopener" }, image);
      const showFrom = (from) => ([image.src, link.href] = [from, from]);
      // A picture is asked for by its address alone, which does not say that it is a group's.
      if (state.kind === "private" || !address.startsWith("/")) showFrom(address);
      else {call(address, { raw: true }).then((response) => response.blob()).then((blob) =>
          showFrom(URL.createObjectURL(blob))
        ).catch(() => link.remove());}
      return link;
    }),
  );
}

function* renderAnswer(entry) {
  if (entry.thinking) yield renderThinking(entry.thinking);
  const body = el("div", { class: "markdown", dir: "auto" });
  // Without HTML it is too long to be rendered, and shown as it is.
  if (entry.html !== null && entry.html !== undefined) putHtml(body, entry.html);
  else body.append(el("div", { class: "words", dir: "auto" }, entry.content));
  yield body;
  for (const call of entry.tool_calls ?? []) yield renderToolCall(call);
}

export function renderToolCall(call) {
  return el(
    "details",
    { class: "fold" },
    el("summary", {}, _("Tool: {name}", { name: call.name })),
    el("pre", { dir: "auto" }, formatJson(call.arguments)),
  );
}

function renderToolResult(entry) {
  return el(
    "details",
    { class: "fold" },
    el("summary", {}, _("Result: {name}", { name: entry.tool_name ?? _("tool") })),
    el("pre", { dir: "auto" }, entry.content),
  );
}

function formatJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// What shows what was remembered. Of most questions it is nothing, so it is loaded with the first.
let keeper = null;

/** Loads what these messages need to be shown whole: loaded later, it would move what one reads. */
export async function prepareMessages(entries) {
  if (entries.some((entry) => entry.kept?.length)) {
    keeper ??= await import("./chat-memories.js").catch(() => null);
  }
}

/** What was remembered of a question. */
function renderKept(memories) {
  const place = el("span", { hidden: true });
  // Once the message is on the page.
  const prepared = keeper ? Promise.resolve() : prepareMessages([{ kept: memories }]);
  prepared.then(() => keeper?.fillPlace(place, memories));
  return place;
}

/** What stands below a message: what can be done with it and, of an answer, what is known of it. */
export function renderFoot(entry, element, acts, isQuestion) {
  return el(
    "footer",
    { class: "foot" },
    !isQuestion && entry.kept?.length > 0 && renderKept(entry.kept),
    !isQuestion && renderAbout(entry),
    renderActions(entry, element, acts, isQuestion),
  );
}

/** The button by which a question is put into other words; a shortcut presses it, too. */
function createEditButton(work) {
  const button = createIconButton("pencil", _("Edit"), work);
  button.classList.add("edit");
  return button;
}

/** The button that opens the menu of a message. */
function createMoreButton(open) {
  const button = createIconButton("ellipsis", _("More actions"), () => open(button));
  button.setAttribute("aria-haspopup", "menu");
  return button;
}

/** Whether an answer broke off and can be continued. */
const isCut = (entry) => entry.role === "assistant" && ["cut", "length"].includes(entry.finish);

/** The row of buttons below a message. */
export function renderActions(entry, element, acts, isQuestion) {
  const getText = () => entry.text ?? entry.content;
  return el(
    "div",
    { class: "actions" },
    isCut(entry) &&
      el(
        "button",
        { type: "button", class: "continue", onclick: () => acts.extend(entry) },
        _("Continue"),
      ),
    renderVersions(entry, acts),
    createCopyButton(getText, { bare: true }),
    isQuestion
      ? createEditButton(() => acts.edit(entry, element))
      : createIconButton("refresh-cw", _("Regenerate"), () => acts.regenerate(entry)),
    !isQuestion &&
      createIconButton(
        "git-fork",
        _("Fork"),
        () => acts.fork(entry),
        _("Go on from here in a conversation of its own"),
      ),
    createMoreButton((button) => acts.more(entry, element, button)),
    entry.pinned && el("span", { class: "tag" }, _("pinned")),
    entry.created_at &&
      el(
        "time",
        {
          class: "when",
          datetime: new Date(entry.created_at * 1000).toISOString(),
          title: formatMoment(entry.created_at),
        },
        formatTime(entry.created_at),
      ),
  );
}

function renderVersions(entry, acts) {
  if (!entry.versions) return null;
  const at = entry.versions.indexOf(entry.id), of = entry.versions.length;
  const renderStep = (label, sign, to) =>
    el("button", {
      type: "button",
      class: "quiet",
      "aria-label": label,
      disabled: !entry.versions[to],
      onclick: () => acts.turn(entry.versions[to]),
    }, sign);
  return el(
    "span",
    { class: "versions", role: "group", "aria-label": _("Version {n} of {of}", { n: at + 1, of }) },
    renderStep(_("Earlier version"), "‹", at - 1),
    el("span", { "aria-hidden": "true" }, `${at + 1}/${of}`),
    renderStep(_("Later version"), "›", at + 1),
  );
}
