// The keys that programs come in with: a list, making one, taking one back. A secret is shown once and kept nowhere.
import {
  api,
  attempt,
  byId,
  confirmAction,
  createCopyButton,
  el,
  formatMoment,
  formatNumber,
  showDialog,
  toast,
  word,
} from "./core.js";

const SWITCHES = ["admin", "forwarder", "files", "memory", "off"];

export function startKeys() {
  async function listKeys() {
    const { keys: all } = await api("/api/keys");
    byId("keys").replaceChildren(
      ...(all.length ? all.map(renderKey) : [el("li", { class: "faint" }, word("no_keys"))]),
    );
  }

  function renderKey(key) {
    const rights = [
      key.admin && "key_admin",
      key.forwarder && "key_forwarder",
      key.files && "key_files",
      !key.memory && "key_no_memory",
      key.off && "key_off",
    ].filter(Boolean);
    return el(
      "li",
      { class: "key" },
      el(
        "div",
        { class: "grow" },
        el("strong", { dir: "auto" }, key.name || word("key_unnamed")),
        " ",
        el("code", {}, `hf_${key.id}_…`),
        el(
          "div",
          { class: "faint small" },
          [
            word("key_user", { user: key.user }),
            key.project && word("key_project", { project: key.project }),
            key.rate && word("key_rate", { n: formatNumber(key.rate) }),
            key.used_at ? word("key_used", { at: formatMoment(key.used_at) }) : word("key_unused"),
          ].filter(Boolean).join(" · "),
        ),
        rights.map((right) => [el("span", { class: "tag" }, word(right)), " "]),
        key.several_people && el("p", { class: "small wrong" }, word("key_crowded")),
      ),
      el("button", {
        type: "button",
        class: "danger small",
        "aria-label": word("key_revoke_named", { name: key.name || key.id }),
        onclick: () => attempt(() => revokeKey(key)),
      }, word("key_revoke")),
    );
  }

  async function revokeKey(key) {
    if (
      !(await confirmAction(
        word("key_revoke_title"),
        word("key_revoke_text", { name: key.name || key.id }),
        word("key_revoke"),
      ))
    ) return;
    await api(`/api/keys/${encodeURIComponent(key.id)}`, { method: "DELETE" });
    byId("new-secret").replaceChildren();
    await listKeys();
    byId("key-new").focus();
  }

  /** Checks that the person has signed in, which new keys require; otherwise offers it. */
  async function isSignedIn() {
    const who = await api("/api/login");
    if (who.how !== "here") return true;
    const next = who.password
      ? { value: "in", label: word("sign_in"), kind: "main" }
      : { value: "set", label: word("password_choose"), kind: "main" };
    const chosen = await showDialog(word("key_new"), [
      el("p", {}, word(who.password ? "key_sign_in" : "key_needs_password")),
    ], [{ value: "", label: word("cancel") }, next]);
    if (chosen === "in") location.assign("/login?next=%2Fsettings");
    if (chosen === "set") byId("password-change").click();
    return false;
  }

  async function createKey() {
    if (!(await isSignedIn())) return;
    const createInput = (name, value = "") =>
      el("input", { name, value, maxlength: 99, autocomplete: "off", dir: "auto" });
    const fields = {
      name: createInput("name"),
      user: createInput("user", "default"),
      project: createInput("project"),
      rate: el("input", { type: "number", min: 0, value: 0 }),
    };
    const switches = Object.fromEntries(
      SWITCHES.map((name) => [name, el("input", { type: "checkbox", checked: name === "memory" })]),
    );
    const chosen = await showDialog(word("key_new"), [
      el(
        "div",
        { class: "key-fields" },
        Object.entries(fields).map(([name, input]) =>
          el("label", {}, el("span", {}, word(`key_field_${name}`)), input)
        ),
      ),
      ...SWITCHES.map((name) => el("label", { class: "check" }, switches[name], word(`key_switch_${name}`))),
    ], [{ value: "", label: word("cancel") }, { value: "make", label: word("key_make"), kind: "main" }]);
    if (chosen !== "make") return;
    const body = {
      name: fields.name.value,
      user: fields.user.value.trim() || "default",
      project: fields.project.value,
      rate: Number(fields.rate.value) || 0,
    };
    for (const name of SWITCHES) body[name] = switches[name].checked;
    const { secret } = await api("/api/keys", { method: "POST", body });
    byId("new-secret").replaceChildren(
      el(
        "div",
        { class: "secret" },
        el("p", {}, word("key_once")),
        el(
          "div",
          { class: "row" },
          el("code", { class: "grow", tabindex: 0 }, secret),
          createCopyButton(secret),
          el("button", {
            type: "button",
            class: "quiet",
            onclick: () => byId("new-secret").replaceChildren(),
          }, word("key_hide")),
        ),
      ),
    );
    toast(word("key_made"));
    await listKeys();
    byId("new-secret").querySelector(".copy").focus();
  }

  byId("key-new").addEventListener("click", () => attempt(createKey));
  attempt(listKeys);
}
