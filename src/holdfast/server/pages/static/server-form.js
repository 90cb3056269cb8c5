// Fields for the address and the key of a model server: tested first, then used.
import { _, api, el } from "./core.js";

/**
 * `onUse()` is called once the server is used, instead of others or with `isMore` beside them. Stands inside of
 * other forms, so it is none itself.
 */
export function createServerForm(onUse, isMore = false) {
  const address = el("input", {
    type: "url",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "http://127.0.0.1:11434",
  });
  const key = el("input", { type: "password", autocomplete: "new-password" });
  const state = el("p", { role: "status", "aria-live": "polite", dir: "auto" });
  const testButton = el("button", { type: "button" }, _("Test"));
  const useButton = el(
    "button",
    { type: "button", class: "main" },
    isMore ? _("Add this server") : _("Use this server"),
  );
  const buttons = [testButton, useButton];

  /** Runs `work` with the buttons off, and says what came of it. */
  async function report(work) {
    for (const button of buttons) button.disabled = true;
    state.classList.remove("wrong");
    state.textContent = _("Asking the server …");
    try {
      state.textContent = await work();
      return true;
    } catch (error) {
      state.classList.add("wrong");
      state.textContent = error.message;
      return false;
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  const test = () =>
    report(async () => {
      const body = { location: address.value.trim(), key: key.value };
      const { kind, models } = await api("/api/upstreams/test", { method: "POST", body });
      return models.length
        ? _("{kind} answers; models: {models}", { kind, models: models.join(", ") })
        : _("{kind} answers, but it has no models yet.", { kind, models: models.join(", ") });
    });

  const use = async () => {
    const location = address.value.trim();
    const isSaved = await report(async () => {
      if (isMore) {
        await api("/api/upstreams", { method: "POST", body: { location, key: key.value.trim() } });
        return _("This server is added and used at once.");
      }
      const body = { upstream: location, upstream_key: key.value || null };
      await api("/api/settings", { method: "PUT", body });
      return _("This server is used from now on.");
    });
    if (isSaved) onUse();
  };

  testButton.addEventListener("click", test);
  useButton.addEventListener("click", use);
  for (const input of [address, key]) {
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      test();
    });
  }
  return el(
    "div",
    { class: "fields" },
    el("label", {}, _("Address of the model server"), address),
    el("label", {}, _("Its key, if it asks for one"), key),
    el("div", { class: "row" }, testButton, useButton),
    state,
  );
}
