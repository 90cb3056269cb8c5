// A second model that answers beside the chosen one: a click chooses it, another gives it up.
import { _, byId } from "./core.js";
import { openMenu } from "./chat-menu.js";
import { currentModel, describeModel, listInstalled } from "./chat-models.js";

const button = byId("second");

export function choose() {
  if (button.dataset.model) return showSecond("");
  const others = listInstalled().filter((model) => model.name !== currentModel());
  return openMenu(
    button,
    others.map((model) => ({ label: describeModel(model), act: () => showSecond(model.name) })),
  );
}

function showSecond(name) {
  button.dataset.model = name;
  button.classList.toggle("set", Boolean(name));
  button.title = name
    ? _("{model} answers, too; a click ends that", { model: name })
    : _("Ask a second model as well");
  button.setAttribute("aria-label", button.title);
  byId("second-name").textContent = name;
}
