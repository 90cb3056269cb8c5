// A notification when an answer is done and nobody looks. The browser is asked for leave only on a click.
import { _, createIconButton, toast } from "./core.js";
import { readStored, store } from "./chat-state.js";

const isPossible = () => "Notification" in globalThis && Notification.permission !== "denied";
const isOn = () => isPossible() && readStored("notify") === "on" && Notification.permission === "granted";

/** The button that asks for it; null where it is on already or cannot be had. */
export function createBell() {
  if (!isPossible() || isOn()) return null;
  const button = createIconButton("bell", _("Notify me when it is done"), async () => {
    const isGranted = (await Notification.requestPermission()) === "granted";
    if (isGranted) store("notify", "on");
    toast(
      isGranted
        ? _("You are notified when an answer is done and this tab is in the background.")
        : _("Your browser does not allow notifications here."),
    );
    button.remove();
  });
  return button;
}

/** Says that the answer in a chat is there, if the tab is hidden and somebody wants to know. */
export function notifyDone(title) {
  if (!document.hidden || !isOn()) return;
  const notification = new Notification(_("The answer is there"), { body: title, tag: location.pathname });
  notification.onclick = () => {
    globalThis.focus();
    notification.close();
  };
}
