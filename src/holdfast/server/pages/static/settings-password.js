// The password of the page: whether there is one, setting another, taking it away.
import { api, attempt, byId, el, showDialog, toast, word } from "./core.js";

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
    byId("password-state").textContent = word(who.password ? "password_there" : "password_none");
    byId("password-change").textContent = word(who.password ? "password_change" : "password_choose");
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
      return showError(word("password_differs"), byId("again"));
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
    toast(word("password_set"));
    closeForm();
    return attempt(refresh);
  });

  async function removePassword() {
    const current = el("input", { type: "password", autocomplete: "current-password" });
    const choice = await showDialog(word("password_remove_title"), [
      el("p", {}, word("password_remove_text")),
      el("label", {}, el("span", {}, word("password_current")), current),
    ], [
      { value: "", label: word("cancel") },
      { value: "yes", label: word("password_remove"), kind: "danger" },
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
