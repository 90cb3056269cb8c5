// The password: set, changed, or left out where nobody else can come. Whether one is needed is the server's to say.
import { api, toast, word } from "./core.js";

const byId = (id) => document.getElementById(id);

export function passwordStep() {
  const first = byId("password"), again = byId("again"), current = byId("current"), wrong = byId("password-wrong");

  function complain(text, input) {
    wrong.textContent = text;
    wrong.hidden = !text;
    for (const one of [first, again]) one.setAttribute("aria-invalid", String(one === input));
    input?.focus();
    return false;
  }

  return {
    async show() {
      const [who, network] = await Promise.all([api("/api/login"), api("/api/system/network")]);
      byId("password-there").hidden = !who.password;
      byId("current-field").hidden = !who.password;
      byId("password-why").textContent = word(network.only_here ? "password_here" : "password_elsewhere");
      complain("");
    },
    async leave() {
      complain("");
      if (!first.value && !again.value) return true;
      if (first.value.length < 8) return complain(word("password_short"), first);
      if (first.value !== again.value) return complain(word("password_differs"), again);
      try {
        await api("/api/password", { method: "PUT", body: { password: first.value, current: current.value } });
      } catch (error) {
        return complain(error.message, current.closest("[hidden]") ? first : current);
      }
      for (const input of [first, again, current]) input.value = "";
      toast(word("password_set"));
      return true;
    },
  };
}
