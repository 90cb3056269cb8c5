// The five questions of the profile, with suggestions beside each. What is answered is kept when one goes on.
import { api, byId, language } from "./core.js";

const DRAFT = "holdfast-setup-profile";
const TEXTS = ["companyName", "industry", "teamSize", "products", "style"];
// The names that the inner fields have in the file, by language.
const INNER = language === "de"
  ? { answerLength: "antwortlaenge", formality: "formalitaet", style: "style" }
  : { answerLength: "answer_length", formality: "formality", style: "style" };

export function createProfileStep() {
  const place = byId("questions");
  // The answers that stand in the profile, and those chosen by a button here.
  let saved = {};
  let chosen = {};
  let hasBegun = false;

  const splitParts = (text) => text.split(",").map((part) => part.trim()).filter(Boolean);
  const readValue = (name) => byId(name).value.trim();

  function updateChips() {
    for (const button of place.querySelectorAll(".chips button")) {
      button.setAttribute("aria-pressed", String(isOn(button)));
    }
    sessionStorage.setItem(DRAFT, JSON.stringify({ texts: TEXTS.map((name) => byId(name).value), chosen }));
  }

  function isOn({ dataset, parentElement }) {
    const text = readValue(parentElement.dataset.for);
    if (dataset.preference) return [dataset.value, dataset.also].includes(chosen[dataset.preference]);
    if (dataset.ending) return text.endsWith(` ${dataset.ending}`);
    if (dataset.among) return splitParts(text).includes(dataset.among);
    return text === dataset.value;
  }

  function pressChip(button) {
    const { dataset } = button, input = byId(button.parentElement.dataset.for), on = isOn(button);
    if (dataset.preference) chosen = { ...chosen, [dataset.preference]: on ? "" : dataset.value };
    else if (dataset.ending) {
      const endings = [...button.parentElement.children].map((sibling) => ` ${sibling.dataset.ending}`);
      const bare = endings.reduce(
        (text, ending) => (text.endsWith(ending) ? text.slice(0, -ending.length) : text),
        input.value.trim(),
      );
      input.value = on ? bare : `${bare} ${dataset.ending}`.trimStart();
      if (!bare) {
        input.focus();
        input.setSelectionRange(0, 0);
      }
    } else if (dataset.among) {
      const all = splitParts(input.value);
      input.value = (on ? all.filter((part) => part !== dataset.among) : [...all, dataset.among]).join(", ");
    } else input.value = on ? "" : dataset.value;
    updateChips();
  }

  place.addEventListener("click", (event) => {
    const button = event.target.closest(".chips button");
    if (button) pressChip(button);
  });
  place.addEventListener("input", updateChips);

  function fillFields(answers) {
    byId("companyName").value = answers.companyName ?? "";
    byId("industry").value = answers.industry ?? "";
    byId("teamSize").value = answers.teamSize ?? "";
    byId("products").value = [answers.products ?? []].flat().join(", ");
    byId("style").value = answers.preferences?.style ?? "";
    chosen = {
      answerLength: answers.preferences?.answerLength ?? "",
      formality: answers.preferences?.formality ?? "",
    };
  }

  /** What was typed here before a reload comes back, above what the profile says. */
  function restoreDraft() {
    const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");
    if (!draft) return;
    TEXTS.forEach((name, at) => (byId(name).value = draft.texts[at] ?? ""));
    chosen = draft.chosen;
  }

  async function readProfile() {
    const { aiProfile, trouble } = await api("/api/system/setup-status");
    byId("profile-trouble").hidden = !trouble;
    byId("profile-trouble").textContent = trouble ?? "";
    saved = aiProfile ?? {};
  }

  const dropEmpty = (answers) =>
    Object.fromEntries(Object.entries(answers).filter(([, answer]) => answer !== "" && answer?.length !== 0));

  return {
    async show() {
      if (hasBegun) return;
      await readProfile();
      hasBegun = true;
      fillFields(saved);
      restoreDraft();
      updateChips();
    },
    async leave() {
      const answers = dropEmpty({
        companyName: readValue("companyName"),
        industry: readValue("industry"),
        teamSize: readValue("teamSize"),
        products: splitParts(readValue("products")),
      });
      const preferences = dropEmpty({ ...chosen, style: readValue("style") });
      const fields = Object.fromEntries(
        Object.entries(preferences).map(([name, answer]) => [INNER[name], String(answer)]),
      );
      if (Object.keys(answers).length || Object.keys(fields).length) {
        await api(`/api/memory/profile?language=${language}`, {
          method: "POST",
          body: { ...answers, ...(Object.keys(fields).length ? { preferences: fields } : {}) },
        });
      }
      await takeAway(answers, preferences);
      sessionStorage.removeItem(DRAFT);
      await readProfile();
      return true;
    },
  };

  /** What stood in the profile and was emptied here leaves it. */
  async function takeAway(answers, preferences) {
    const fields = {
      companyName: "company",
      industry: "industry",
      teamSize: "team_size",
      products: "products",
    };
    const gone = Object.entries(fields).filter(([name]) =>
      [saved[name] ?? []].flat().length && !(name in answers)
    ).map(([, field]) => field);
    const inner = { answerLength: "answer_length", formality: "formality", style: "style" };
    for (const [name, field] of Object.entries(inner)) {
      if (saved.preferences?.[name] && !(name in preferences)) gone.push(`preferences.${field}`);
    }
    if (gone.length) {
      await api("/api/memory/profile", {
        method: "PATCH",
        body: Object.fromEntries(gone.map((field) => [field, null])),
      });
    }
  }
}
