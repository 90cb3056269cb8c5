// Options of the open chat: instructions, temperature and the like. One quiet button shows and changes them.
import { _, attempt, byId, toast } from "./core.js";
import { call, chatPath, state } from "./chat-state.js";

const button = byId("options");

// What the open chat is asked with; those of a new chat go along with its first question.
let current = {};

export const currentOptions = () => current;

export function startOptions() {
  button.addEventListener("click", () => attempt(changeOptions));
}

/** Shows that a chat with these options is open. */
export function useOptions(options) {
  current = options ?? {};
  const isSet = Object.keys(current).length > 0;
  button.classList.toggle("set", isSet);
  const label = isSet ? _("Options of this chat (some are set)") : _("Options of this chat");
  button.setAttribute("aria-label", label);
  button.title = label;
}

async function changeOptions() {
  const { askOptions } = await import("./chat-options-form.js");
  const options = await askOptions(current);
  if (!options) return;
  useOptions(
    state.conversation ? await call(chatPath("/options"), { method: "PUT", body: options }) : options,
  );
  toast(_("The next question is asked with these options."));
}
