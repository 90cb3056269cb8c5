// What a chat taught about the person, proposed for the profile: a line under the answer, taken, changed or refused.
import { attempt, byId, el, queryAll, showDialog, word } from "./core.js";
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
  const say = (name, value, ...buttons) => {
    text.textContent = word(name, { field: nameField(proposal), value });
    deeds.replaceChildren(...buttons);
  };
  const offer = () =>
    say(
      "proposal",
      proposal.value,
      createButton(word("proposal_take"), () => take(proposal.value)),
      createButton(word("edit"), change),
      createButton(word("proposal_refuse"), async () => {
        await decide("dismiss");
        line.remove();
      }),
    );
  async function take(value) {
    const former = findField((await call(path)).fields, proposal.field);
    await decide(value === proposal.value ? "accept" : "dismiss");
    if (value !== proposal.value) await patch(value);
    const undoButton = createButton(word("undo"), async () => {
      await patch(former ?? null);
      line.remove();
    });
    say("proposal_taken", value, undoButton);
    undoButton.focus();
  }
  async function change() {
    const field = el("input", { class: "wide", dir: "auto", value: proposal.value });
    const choice = await showDialog(nameField(proposal), el("label", {}, word("proposal_value"), field), [
      { value: "", label: word("cancel") },
      { value: "yes", label: word("save"), kind: "main" },
    ]);
    if (choice === "yes" && field.value.trim()) await take(field.value.trim());
  }
  offer();
  return line;
}

/** The last part of a field's name, in words. */
const nameField = ({ label }) => label.split(".").pop().replaceAll("_", " ");

/** The value of a field that may be inside of another: `preferences.language`. */
const findField = (fields, name) => name.split(".").reduce((inner, part) => inner?.[part], fields);
