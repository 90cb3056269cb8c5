// The keys that programs come in with: a list, making one, taking one back. A secret is shown once and kept nowhere.
import {
  _,
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
} from "./core.js";

const FIELDS = {
  name: _("Name, to tell it apart"),
  user: _("Whose conversations and memories"),
  project: _("Only this project (empty: any)"),
  rate: _("Requests a minute (0: no limit)"),
};
const SWITCHES = {
  admin: _("may manage this server"),
  forwarder: _("says for whom it asks (Open WebUI)"),
  files: _("may point at files on this machine"),
  memory: _("with memory"),
  off: _("pass everything through untouched"),
};

export function startKeys() {
  async function listKeys() {
    const { keys: all } = await api("/api/keys");
    byId("keys").replaceChildren(
      ...(all.length ? all.map(renderKey) : [el("li", { class: "faint" }, _("There are no keys yet."))]),
    );
  }

  function renderKey(key) {
    const rights = [
      key.admin && _("administrator"),
      key.forwarder && _("speaks for others"),
      key.files && _("files"),
      !key.memory && _("without memory"),
      key.off && _("passed through"),
    ].filter(Boolean);
    return el(
      "li",
      { class: "key" },
      el(
        "div",
        { class: "grow" },
        el("strong", { dir: "auto" }, key.name || _("without a name")),
        " ",
        el("code", {}, `hf_${key.id}_…`),
        el(
          "div",
          { class: "faint small" },
          [
            _("user {user}", { user: key.user }),
            key.project && _("project {project}", { project: key.project }),
            key.rate && _("{n} a minute", { n: formatNumber(key.rate) }),
            key.used_at ? _("last used {at}", { at: formatMoment(key.used_at) }) : _("never used"),
          ].filter(Boolean).join(" · "),
        ),
        rights.map((right) => [el("span", { class: "tag" }, right), " "]),
        key.several_people &&
          el(
            "p",
            { class: "small wrong" },
            _("Several people come through this key and share one memory. Make it one that speaks for others."),
          ),
      ),
      el("button", {
        type: "button",
        class: "danger small",
        "aria-label": _("Revoke the key {name}", { name: key.name || key.id }),
        onclick: () => attempt(() => revokeKey(key)),
      }, _("Revoke")),
    );
  }

  async function revokeKey(key) {
    if (
      !(await confirmAction(
        _("Revoke this key?"),
        _("Programs that use {name} lose access at once.", { name: key.name || key.id }),
        _("Revoke"),
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
      ? { value: "in", label: _("Sign in"), kind: "main" }
      : { value: "set", label: _("Set one …"), kind: "main" };
    const chosen = await showDialog(_("A new key"), [
      el(
        "p",
        {},
        who.password
          ? _("Creating keys needs the password. Sign in with it first.")
          : _("Creating keys needs the password, and none is set yet. Set one first."),
      ),
    ], [{ value: "", label: _("Cancel") }, next]);
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
      Object.keys(SWITCHES).map((
        name,
      ) => [name, el("input", { type: "checkbox", checked: name === "memory" })]),
    );
    const chosen = await showDialog(_("A new key"), [
      el(
        "div",
        { class: "key-fields" },
        Object.entries(fields).map(([name, input]) => el("label", {}, el("span", {}, FIELDS[name]), input)),
      ),
      ...Object.entries(SWITCHES).map(([name, label]) =>
        el("label", { class: "check" }, switches[name], label)
      ),
    ], [{ value: "", label: _("Cancel") }, { value: "make", label: _("Make it"), kind: "main" }]);
    if (chosen !== "make") return;
    const body = {
      name: fields.name.value,
      user: fields.user.value.trim() || "default",
      project: fields.project.value,
      rate: Number(fields.rate.value) || 0,
    };
    for (const name of Object.keys(SWITCHES)) body[name] = switches[name].checked;
    const { secret } = await api("/api/keys", { method: "POST", body });
    byId("new-secret").replaceChildren(
      el(
        "div",
        { class: "secret" },
        el("p", {}, _("This is the key. It is shown only now: copy it before you go on.")),
        el(
          "div",
          { class: "row" },
          el("code", { class: "grow", tabindex: 0 }, secret),
          createCopyButton(secret),
          el("button", {
            type: "button",
            class: "quiet",
            onclick: () => byId("new-secret").replaceChildren(),
          }, _("I have it")),
        ),
      ),
    );
    toast(_("The key is made."));
    await listKeys();
    byId("new-secret").querySelector(".copy").focus();
  }

  byId("key-new").addEventListener("click", () => attempt(createKey));
  attempt(listKeys);
}
