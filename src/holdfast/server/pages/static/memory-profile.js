// The profile: an editor that says where it goes wrong, what a model would be told of it, and what is proposed for it.
import { _, attempt, byId, debounce, el, formatNumber, queryAll, toast } from "./core.js";
import { ask, scope } from "./memory-scope.js";
import { chooseVersion } from "./memory-conflict.js";

const PATH = "/api/memory/profile";

export function createProfile() {
  const text = byId("profile-text"), lines = byId("profile-lines"), wrong = byId("profile-wrong");
  const save = byId("profile-save"), undo = byId("profile-undo"), size = byId("profile-window");
  let saved = { text: "", tag: "" };
  let hasBegun = false;

  const isDirty = () => text.value !== saved.text;

  function numberLines(bad = 0) {
    const count = text.value.split("\n").length;
    lines.replaceChildren(
      ...Array.from(
        { length: count },
        (_, at) => el("span", { class: at + 1 === bad ? "bad" : "" }, String(at + 1)),
      ),
    );
    lines.scrollTop = text.scrollTop;
  }

  function takeSaved(reply) {
    saved = { text: reply.text, tag: reply.tag };
    showFields(reply.form);
    text.value = reply.text;
    // It cannot be edited before it is loaded: what somebody typed by then would be lost.
    text.readOnly = false;
    updateView();
  }

  // The form: the usual fields of the file. What is in the file besides them stays as it is.
  const fields = /** @type {HTMLInputElement[]} */ (queryAll("#profile-fields input"));
  let values = {};
  // As with the file: what is typed before it is loaded would be lost.
  for (const input of fields) input.disabled = true;

  const readField = (input) => input.value.trim();
  const listChanges = () =>
    fields.filter((input) => readField(input) !== (values[input.dataset.field] ?? ""));

  function showFields(form) {
    values = Object.fromEntries(
      Object.entries(form).filter(([, value]) => value !== null).map((
        [name, value],
      ) => [name, [value].flat().join(", ")]),
    );
    for (const input of fields) input.value = values[input.dataset.field] ?? "";
    updateFields();
  }

  /** Only one of the two is edited at a time: the form waits for what was changed in the file. */
  function updateFields() {
    for (const input of fields) input.disabled = isDirty();
    byId("profile-fields-save").disabled = isDirty() || !listChanges().length;
    text.readOnly = listChanges().length > 0;
  }

  async function saveFields() {
    const body = Object.fromEntries(
      listChanges().map((input) => {
        const value = readField(input);
        const parts = value.split(",").map((part) => part.trim()).filter(Boolean);
        return [
          input.dataset.field,
          value === "" ? null : input.dataset.field === "products" ? parts : value,
        ];
      }),
    );
    takeSaved(await ask(PATH, { method: "PATCH", body }));
    toast(_("Saved."));
  }

  byId("profile-fields").addEventListener("input", updateFields);
  byId("profile-fields").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(saveFields);
  });

  /** Updates the buttons at once, and the preview when typing pauses. */
  function updateView() {
    save.disabled = undo.disabled = !isDirty();
    updateFields();
    numberLines();
    previewSoon();
  }

  const previewSoon = debounce(() =>
    attempt(async () => {
      const draftText = text.value;
      const result = await ask(`${PATH}/preview`, {
        method: "POST",
        body: { text: draftText, window: Number(size.value) },
      });
      if (draftText === text.value) showPreview(result);
    }), 250);

  function showPreview(result) {
    wrong.hidden = !result.trouble;
    text.setAttribute("aria-invalid", String(Boolean(result.trouble)));
    if (result.trouble) {
      wrong.replaceChildren(
        result.line
          ? el("button", {
            type: "button",
            class: "quiet",
            onclick: () => jumpToLine(result.line),
          }, _("Line {n}", { n: result.line }))
          : "",
        el("span", { lang: "en" }, result.trouble),
      );
    }
    numberLines(result.line ?? 0);
    save.disabled = Boolean(result.trouble) || !isDirty();
    byId("profile-size").textContent = _("{n} of {most} bytes", {
      n: formatNumber(result.bytes),
      most: formatNumber(result.largest),
    });
    byId("profile-told").textContent = result.text || (result.trouble ? "" : _("Nothing yet."));
    byId("profile-tokens").textContent = result.trouble ? "" : [
      _("About {n} of at most {most} tokens.", {
        n: formatNumber(result.tokens),
        most: formatNumber(result.cap),
      }),
      result.left_out.length ? _("No room for: {fields}.", { fields: result.left_out.join(", ") }) : "",
    ].filter(Boolean).join(" ");
  }

  function jumpToLine(line) {
    const before = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(before, before + (text.value.split("\n")[line - 1]?.length ?? 0));
  }

  async function saveProfile(tag) {
    const draft = text.value;
    const response = await ask(PATH, {
      method: "PUT",
      body: { text: draft },
      headers: tag ? { "if-match": `"${tag}"` } : {},
    })
      .catch((error) => {
        if (error.status !== 412) throw error;
        return null;
      });
    if (response) {
      takeSaved(response);
      toast(_("Saved."));
      return;
    }
    const theirs = await ask(PATH);
    const choice = await chooseVersion(draft, theirs.text);
    if (choice === null) return;
    text.value = choice;
    saved = { text: theirs.text, tag: theirs.tag };
    updateView();
    if (isDirty()) await saveProfile(theirs.tag);
  }

  byId("profile-form").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(() => saveProfile(saved.tag));
  });
  undo.addEventListener("click", () => {
    text.value = saved.text;
    updateView();
    text.focus();
  });
  text.addEventListener("input", updateView);
  text.addEventListener("scroll", () => (lines.scrollTop = text.scrollTop));
  size.addEventListener("change", updateView);
  for (const option of size.options) {
    option.value = option.textContent;
    option.textContent = formatNumber(option.value);
  }
  addEventListener(
    "beforeunload",
    (event) => (isDirty() || listChanges().length > 0) && event.preventDefault(),
  );

  async function showProposals() {
    const { proposals: open } = await ask(`${PATH}/proposals`);
    byId("count-proposals").textContent = open.length ? formatNumber(open.length) : "";
    byId("proposals").replaceChildren(
      ...(open.length
        ? [
          el(
            "div",
            { class: "card" },
            el("h3", {}, _("Proposed for your profile")),
            el("ul", { class: "list" }, ...open.map(renderProposal)),
          ),
        ]
        : []),
    );
  }

  function renderProposal(proposal) {
    const decide = (action) =>
      attempt(async () => {
        await ask(`${PATH}/proposals/${encodeURIComponent(proposal.id)}/${action}`, { method: "POST" });
        await showProposals();
        if (action === "accept" && hasBegun) {
          if (isDirty()) toast(_("The profile was changed. Your own changes are not saved yet."));
          else takeSaved(await ask(PATH));
        }
        (byId("proposals").querySelector("button") ?? text).focus();
      });
    return el(
      "li",
      { class: "proposal" },
      el(
        "div",
        { class: "grow" },
        el("strong", {}, proposal.label),
        ": ",
        el("span", { dir: "auto" }, proposal.value),
        el(
          "div",
          { class: "faint small", dir: "auto" },
          _("Because you said: “{text}”", { text: proposal.text }),
        ),
      ),
      el(
        "div",
        { class: "row" },
        el("button", { type: "button", onclick: () => decide("accept") }, _("Accept")),
        el("button", { type: "button", class: "quiet", onclick: () => decide("dismiss") }, _("Dismiss")),
      ),
    );
  }

  return {
    count: () => (scope.kind === "group" ? undefined : showProposals()),
    async show() {
      if (scope.kind === "group") {
        byId("panel-profile").replaceChildren(
          el("p", { class: "empty" }, _("A group has no profile: it belongs to one person.")),
        );
        return;
      }
      if (hasBegun) return;
      hasBegun = true;
      takeSaved(await ask(PATH));
    },
  };
}
