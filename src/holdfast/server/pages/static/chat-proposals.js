// What a chat taught about the person, proposed for the profile: a line under the answer, taken, changed or refused.
import { _, attempt, byId, el, queryAll, showDialog } from "./core.js";
import { call, state } from "./chat-state.js";

const path = "/api/memory/profile";

/** Shows the open proposals of this chat, each under the answer to what it was taken from. */
export async function loadProposals() {
  const conversation = state.conversation;
  const reply = await call(`${path}/proposals`).catch(() => null);
  if (!reply || conversation !== state.conversation) return;
  for (const proposal of reply.proposals) {
    if (proposal.conversation !== conversation || byId(`proposal-${proposal.id}`)) continue;
    const answers = queryAll("#messages > .message.assistant[data-message]");
    const answer = answers.find(({ dataset }) =>
      proposal.messages.some((id) =>
        id === dataset.parent || id === dataset.message
      )
    ) ?? answers[answers.length - 1];
    answer?.querySelector(".foot")?.prepend(renderProposal(proposal));
  }
}

function renderProposal(proposal) {
  const text = el("span", { dir: "auto" });
  const deeds = el("span", { class: "deeds" });
  const line = el("p", { class: "proposal-line", id: `proposal-${proposal.id}` }, text, " ", deeds);
  const createButton = (label, work) =>
    el("button", { type: "button", class: "quiet", onclick: () => attempt(work) }, label);
  const decide = (action) => call(`${path}/proposals/${proposal.id}/${action}`, { method: "POST" });
  const patch = (value) => call(path, { method: "PATCH", body: { [proposal.field]: value } });
  const say = (sentence, ...buttons) => {
    text.textContent = sentence;
    deeds.replaceChildren(...buttons);
  };
  const offer = () =>
    say(
      _("For your profile: {field}: {value}?", { field: nameField(proposal), value: proposal.value }),
      createButton(_("Add it"), () => take(proposal.value)),
      createButton(_("Edit"), change),
      createButton(_("No"), async () => {
        await decide("dismiss");
        line.remove();
      }),
    );
  async function take(value) {
    const former = findField((await call(path)).fields, proposal.field);
    await decide(value === proposal.value ? "accept" : "dismiss");
    if (value !== proposal.value) await patch(value);
    const undoButton = createButton(_("Undo"), async () => {
      await patch(former ?? null);
      line.remove();
    });
    say(_("In your profile: {field}: {value}", { field: nameField(proposal), value }), undoButton);
    undoButton.focus();
  }
  async function change() {
    const field = el("input", { class: "wide", dir: "auto", value: proposal.value });
    const choice = await showDialog(
      nameField(proposal),
      el("label", {}, _("What the profile shall say"), field),
      [
        { value: "", label: _("Cancel") },
        { value: "yes", label: _("Save"), kind: "main" },
      ],
    );
    if (choice === "yes" && field.value.trim()) await take(field.value.trim());
  }
  offer();
  return line;
}

/** The last part of a field's name, in words. */
const nameField = ({ label }) => label.split(".").pop().replaceAll("_", " ");

/** The value of a field that may be inside of another: `preferences.language`. */
const findField = (fields, name) => name.split(".").reduce((inner, part) => inner?.[part], fields);
