// The five questions of the profile, with suggestions beside each. What is answered is kept when one goes on.
import { api, language } from "./core.js";

const DRAFT = "holdfast-setup-profile";
const TEXTS = ["companyName", "industry", "teamSize", "products", "style"];
// The names that the inner fields have in the file, by language.
const INNER = language === "de"
  ? { answerLength: "antwortlaenge", formality: "formalitaet", style: "style" }
  : { answerLength: "answer_length", formality: "formality", style: "style" };
const byId = (id) => document.getElementById(id);

export function profileStep() {
  const place = byId("questions");
  // The answers that stand in the profile, and those chosen by a button here.
  let kept = {};
  let chosen = {};
  let begun = false;

  const parts = (text) => text.split(",").map((part) => part.trim()).filter(Boolean);
  const value = (name) => byId(name).value.trim();

  function look() {
    for (const button of place.querySelectorAll(".chips button")) button.setAttribute("aria-pressed", String(isOn(button)));
    sessionStorage.setItem(DRAFT, JSON.stringify({ texts: TEXTS.map((name) => byId(name).value), chosen }));
  }

  function isOn({ dataset, parentElement }) {
    const text = value(parentElement.dataset.for);
    if (dataset.preference) return [dataset.value, dataset.also].includes(chosen[dataset.preference]);
    if (dataset.ending) return text.endsWith(` ${dataset.ending}`);
    if (dataset.among) return parts(text).includes(dataset.among);
    return text === dataset.value;
  }

  function press(button) {
    const { dataset } = button, input = byId(button.parentElement.dataset.for), on = isOn(button);
    if (dataset.preference) chosen = { ...chosen, [dataset.preference]: on ? "" : dataset.value };
    else if (dataset.ending) {
      const endings = [...button.parentElement.children].map((other) => ` ${other.dataset.ending}`);
      const bare = endings.reduce((text, ending) => (text.endsWith(ending) ? text.slice(0, -ending.length) : text), input.value.trim());
      input.value = on ? bare : `${bare} ${dataset.ending}`.trimStart();
      if (!bare) {
        input.focus();
        input.setSelectionRange(0, 0);
      }
    } else if (dataset.among) {
      const all = parts(input.value);
      input.value = (on ? all.filter((one) => one !== dataset.among) : [...all, dataset.among]).join(", ");
    } else input.value = on ? "" : dataset.value;
    look();
  }

  place.addEventListener("click", (event) => {
    const button = event.target.closest(".chips button");
    if (button) press(button);
  });
  place.addEventListener("input", look);

  function fill(answers) {
    byId("companyName").value = answers.companyName ?? "";
    byId("industry").value = answers.industry ?? "";
    byId("teamSize").value = answers.teamSize ?? "";
    byId("products").value = [answers.products ?? []].flat().join(", ");
    byId("style").value = answers.preferences?.style ?? "";
    chosen = { answerLength: answers.preferences?.answerLength ?? "", formality: answers.preferences?.formality ?? "" };
  }

  /** What was typed here before a reload comes back, above what the profile says. */
  function draft() {
    const found = JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");
    if (!found) return;
    TEXTS.forEach((name, at) => (byId(name).value = found.texts[at] ?? ""));
    chosen = found.chosen;
  }

  async function read() {
    const { aiProfile, trouble } = await api("/api/system/setup-status");
    byId("profile-trouble").hidden = !trouble;
    byId("profile-trouble").textContent = trouble ?? "";
    kept = aiProfile ?? {};
  }

  const filled = (answers) => Object.fromEntries(Object.entries(answers).filter(([, answer]) => answer !== "" && answer?.length !== 0));

  return {
    async show() {
      if (begun) return;
      await read();
      begun = true;
      fill(kept);
      draft();
      look();
    },
    async leave() {
      const answers = filled({ companyName: value("companyName"), industry: value("industry"), teamSize: value("teamSize"), products: parts(value("products")) });
      const preferences = filled({ ...chosen, style: value("style") });
      const named = Object.fromEntries(Object.entries(preferences).map(([name, answer]) => [INNER[name], String(answer)]));
      if (Object.keys(answers).length || Object.keys(named).length) {
        await api(`/api/memory/profile?language=${language}`, { method: "POST", body: { ...answers, ...(Object.keys(named).length ? { preferences: named } : {}) } });
      }
      await takeAway(answers, preferences);
      sessionStorage.removeItem(DRAFT);
      await read();
      return true;
    },
  };

  /** What stood in the profile and was emptied here leaves it. */
  async function takeAway(answers, preferences) {
    const fields = { companyName: "company", industry: "industry", teamSize: "team_size", products: "products" };
    const gone = Object.entries(fields).filter(([name]) => [kept[name] ?? []].flat().length && !(name in answers)).map(([, field]) => field);
    const inner = { answerLength: "answer_length", formality: "formality", style: "style" };
    for (const [name, field] of Object.entries(inner)) {
      if (kept.preferences?.[name] && !(name in preferences)) gone.push(`preferences.${field}`);
    }
    if (gone.length) await api("/api/memory/profile", { method: "PATCH", body: Object.fromEntries(gone.map((field) => [field, null])) });
  }
}
