// A chat without memory: nothing is recalled in it, and nothing is remembered of it. One click, before or during it.
import { _, attempt, byId, toast } from "./core.js";
import { call, chatPath, state } from "./chat-state.js";

const button = byId("forgetful");
let usesMemory = true;

/** What a new chat is begun with. */
export const memoryWish = () => (usesMemory ? undefined : false);

export function startForgetful() {
  button.addEventListener("click", () =>
    attempt(async () => {
      if (state.conversation) await call(chatPath(), { method: "PATCH", body: { memory: !usesMemory } });
      useMemory(!usesMemory);
      toast(
        usesMemory
          ? _("This chat uses memory again.")
          : _("From now on nothing is recalled in this chat, and nothing is remembered of it."),
      );
    }));
}

/** Shows whether the open chat uses memory. */
export function useMemory(on) {
  usesMemory = on;
  button.setAttribute("aria-pressed", String(!on));
  byId("forgetful-mark").hidden = on;
}
