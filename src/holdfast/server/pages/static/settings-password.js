// The password of the page: whether there is one, setting another, taking it away.
import { _, api, attempt, byId, el, showDialog, toast } from "./core.js";

export function startPassword() {
  const form = byId("password-form"), wrong = byId("password-wrong"), buttons = byId("password-buttons");
  let who = {};

  function showError(text, input) {
    wrong.textContent = text;
    wrong.hidden = !text;
    input?.focus();
  }

  async function refresh() {
    who = await api("/api/login");
    byId("password-state").textContent = who.password
      ? _("A password is set. Browsers elsewhere come in with it.")
      : _("There is none. On this machine none is needed; browsers elsewhere cannot come in without.");
    byId("password-change").textContent = who.password ? _("Change it …") : _("Set one …");
    byId("password-remove").hidden = !who.password;
    byId("current-field").hidden = byId("current").disabled = !who.password;
  }

  function closeForm() {
    form.reset();
    showError("");
    form.hidden = true;
    buttons.hidden = false;
    byId("password-change").focus();
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    showError("");
    if (byId("password").value !== byId("again").value) {
      return showError(_("The two are not the same."), byId("again"));
    }
    try {
      await api("/api/password", {
        method: "PUT",
        body: { password: byId("password").value, current: byId("current").value },
      });
    } catch (error) {
      return showError(error.message, who.password ? byId("current") : byId("password"));
    }
    // Whoever set it is signed in from now on, and may set more here.
    if (who.how !== "session") return location.reload();
    toast(_("The password is set."));
    closeForm();
    return attempt(refresh);
  });

  async function removePassword() {
    const current = el("input", { type: "password", autocomplete: "current-password" });
    const choice = await showDialog(_("Remove the password?"), [
      el("p", {}, _("Browsers on other machines cannot come in any more, and all sessions end.")),
      el("label", {}, el("span", {}, _("The password in use")), current),
    ], [
      { value: "", label: _("Cancel") },
      { value: "yes", label: _("Remove it"), kind: "danger" },
    ]);
    if (choice !== "yes") return;
    await api("/api/password", { method: "DELETE", body: { current: current.value } });
    if (who.how === "session") location.reload();
    else await refresh();
  }

  byId("password-change").addEventListener("click", () => {
    form.hidden = false;
    buttons.hidden = true;
    form.querySelector("input:not([hidden]):not(:disabled)").focus();
  });
  byId("password-cancel").addEventListener("click", closeForm);
  byId("password-remove").addEventListener("click", () => attempt(removePassword));
  attempt(refresh);
}
