// The password: set, changed, or left out where nobody else can come. Whether one is needed is the server's to say.
import { _, api, byId, toast } from "./core.js";

export function createPasswordStep() {
  const first = byId("password"),
    repeated = byId("again"),
    current = byId("current"),
    wrong = byId("password-wrong");

  function showError(text, input) {
    wrong.textContent = text;
    wrong.hidden = !text;
    for (const field of [first, repeated]) field.setAttribute("aria-invalid", String(field === input));
    input?.focus();
    return false;
  }

  return {
    async show() {
      const [who, network] = await Promise.all([api("/api/login"), api("/api/system/network")]);
      byId("password-there").hidden = !who.password;
      byId("current-field").hidden = !who.password;
      byId("password-why").textContent = network.only_here
        ? _(
          "It is not needed on this machine. Once other devices or a reverse proxy can reach Holdfast, browsers sign in with it. You can skip this now.",
        )
        : _(
          "Others can reach this server. A browser comes in with this password; programs come in with keys.",
        );
      showError("");
    },
    async leave() {
      showError("");
      if (!first.value && !repeated.value) return true;
      if (first.value.length < 8) return showError(_("A password has at least 8 characters."), first);
      if (first.value !== repeated.value) return showError(_("The two are not the same."), repeated);
      try {
        await api("/api/password", {
          method: "PUT",
          body: { password: first.value, current: current.value },
        });
      } catch (error) {
        return showError(error.message, current.closest("[hidden]") ? first : current);
      }
      for (const input of [first, repeated, current]) input.value = "";
      toast(_("The password is set."));
      return true;
    },
  };
}
