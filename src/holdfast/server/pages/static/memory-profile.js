// The profile: an editor that says where it goes wrong, what a model would be told of it, and what is proposed for it.
import { attempt, el, later, number, toast, word } from "./core.js";
import { ask, here } from "./memory-scope.js";
import { bothVersions } from "./memory-conflict.js";

const PATH = "/api/memory/profile";
const byId = (id) => document.getElementById(id);

export function profile() {
  const text = byId("profile-text"), lines = byId("profile-lines"), wrong = byId("profile-wrong");
  const save = byId("profile-save"), undo = byId("profile-undo"), size = byId("profile-window");
  let kept = { text: "", tag: "" };
  let begun = false;

  const dirty = () => text.value !== kept.text;

  function numberLines(bad = 0) {
    const count = text.value.split("\n").length;
    lines.replaceChildren(...Array.from({ length: count }, (_, at) => el("span", { class: at + 1 === bad ? "bad" : "" }, String(at + 1))));
    lines.scrollTop = text.scrollTop;
  }

  function take(shown) {
    kept = { text: shown.text, tag: shown.tag };
    text.value = shown.text;
    look();
  }

  /** Buttons at once; what the model is told a moment later, when nothing is typed any more. */
  function look() {
    save.disabled = undo.disabled = !dirty();
    numberLines();
    preview();
  }

  const preview = later(() => attempt(async () => {
    const asked = text.value;
    const told = await ask(`${PATH}/preview`, { method: "POST", body: { text: asked, window: Number(size.value) } });
    if (asked === text.value) show(told);
  }), 250);

  function show(told) {
    wrong.hidden = !told.trouble;
    text.setAttribute("aria-invalid", String(Boolean(told.trouble)));
    if (told.trouble) {
      wrong.replaceChildren(told.line ? el("button", { type: "button", class: "quiet", onclick: () => jump(told.line) }, word("line", { n: told.line })) : "",
        el("span", { lang: "en" }, told.trouble));
    }
    numberLines(told.line ?? 0);
    save.disabled = Boolean(told.trouble) || !dirty();
    byId("profile-size").textContent = word("bytes_of", { n: number(told.bytes), most: number(told.largest) });
    byId("profile-told").textContent = told.text || (told.trouble ? "" : word("told_nothing"));
    byId("profile-tokens").textContent = told.trouble ? "" : [
      word("tokens_of", { n: number(told.tokens), most: number(told.cap) }),
      told.left_out.length ? word("no_room", { fields: told.left_out.join(", ") }) : "",
    ].filter(Boolean).join(" ");
  }

  function jump(line) {
    const before = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(before, before + (text.value.split("\n")[line - 1]?.length ?? 0));
  }

  async function keep(tag) {
    const wanted = text.value;
    const response = await ask(PATH, { method: "PUT", body: { text: wanted }, headers: tag ? { "if-match": `"${tag}"` } : {} })
      .catch((error) => {
        if (error.status !== 412) throw error;
        return null;
      });
    if (response) {
      take(response);
      toast(word("saved"));
      return;
    }
    const theirs = await ask(PATH);
    const choice = await bothVersions(wanted, theirs.text);
    if (choice === null) return;
    text.value = choice;
    kept = { text: theirs.text, tag: theirs.tag };
    look();
    if (dirty()) await keep(theirs.tag);
  }

  byId("profile-form").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(() => keep(kept.tag));
  });
  undo.addEventListener("click", () => {
    text.value = kept.text;
    look();
    text.focus();
  });
  text.addEventListener("input", look);
  text.addEventListener("scroll", () => (lines.scrollTop = text.scrollTop));
  size.addEventListener("change", look);
  for (const option of size.options) {
    option.value = option.textContent;
    option.textContent = number(option.value);
  }
  addEventListener("beforeunload", (event) => dirty() && event.preventDefault());

  async function proposals() {
    const { proposals: open } = await ask(`${PATH}/proposals`);
    byId("count-proposals").textContent = open.length ? number(open.length) : "";
    byId("proposals").replaceChildren(...(open.length ? [el("div", { class: "card" }, el("h3", {}, word("proposals")),
      el("ul", { class: "list" }, ...open.map(proposed)))] : []));
  }

  function proposed(one) {
    const decide = (how) => attempt(async () => {
      await ask(`${PATH}/proposals/${encodeURIComponent(one.id)}/${how}`, { method: "POST" });
      await proposals();
      if (how === "accept" && begun) {
        if (dirty()) toast(word("changed_below"));
        else take(await ask(PATH));
      }
      (byId("proposals").querySelector("button") ?? text).focus();
    });
    return el("li", { class: "proposal" }, el("div", { class: "grow" }, el("strong", {}, one.label), ": ", el("span", { dir: "auto" }, one.value),
      el("div", { class: "faint small", dir: "auto" }, word("because", { text: one.text }))),
      el("div", { class: "row" }, el("button", { type: "button", onclick: () => decide("accept") }, word("accept")),
        el("button", { type: "button", class: "quiet", onclick: () => decide("dismiss") }, word("dismiss"))));
  }

  return {
    count: () => (here.kind === "group" ? undefined : proposals()),
    async show() {
      if (here.kind === "group") {
        byId("panel-profile").replaceChildren(el("p", { class: "empty" }, word("group_has_none")));
        return;
      }
      if (begun) return;
      begun = true;
      take(await ask(PATH));
    },
  };
}
