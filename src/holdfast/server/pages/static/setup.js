// The set-up: which of its six steps is shown, and how one gets from one to the next. Knows no step's inside.
import { api, attempt, later, word } from "./core.js";
import { profileStep } from "./setup-profile.js";
import { passwordStep } from "./setup-password.js";
import { networkStep } from "./setup-network.js";
import { modelsStep } from "./setup-models.js";
import { summaryStep } from "./setup-summary.js";

const LAST = 6;
const byId = (id) => document.getElementById(id);
const sections = [...document.querySelectorAll("section[data-step]")];
const buttons = [...document.querySelectorAll(".steps button")];
// What a step does when it is shown, and when one goes on from it; one that says false is not left.
const steps = { 2: profileStep(), 3: passwordStep(), 4: networkStep(), 5: modelsStep(), 6: summaryStep(open) };

let current = 0;
let furthest = 1;
let busy = false;

const noted = later((step) => attempt(() => api("/api/system/setup-step", { method: "PUT", body: { step } })), 150);

/** Shows a step. The person's place is noted, so that a reload or another day finds it again. */
function open(step, { focus = true } = {}) {
  current = Math.min(Math.max(step, 1), LAST);
  furthest = Math.max(furthest, current);
  for (const section of sections) section.hidden = Number(section.dataset.step) !== current;
  for (const button of buttons) {
    const at = Number(button.dataset.step);
    if (at === current) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    button.classList.toggle("done", at < furthest && at !== current);
  }
  byId("at").textContent = word("step_of", { n: current, all: LAST });
  byId("back").hidden = current === 1;
  byId("skip").hidden = current === 1 || current === LAST;
  byId("next").textContent = word(current === 1 ? "begin" : current === LAST ? "finish" : "next");
  if (location.hash !== `#${current}`) history.pushState(null, "", `#${current}`);
  if (focus) {
    scrollTo(0, 0);
    sections[current - 1].querySelector("h2").focus({ preventScroll: true });
  }
  noted(current);
  attempt(async () => steps[current]?.show());
}

async function onward() {
  if (busy) return;
  busy = true;
  byId("next").disabled = true;
  try {
    const stay = (await attempt(async () => (await steps[current]?.leave?.()) ?? true)) !== true;
    if (stay) return;
    if (current < LAST) open(current + 1);
    else await done({});
  } finally {
    busy = false;
    byId("next").disabled = false;
  }
}

async function done(body) {
  await attempt(async () => {
    await api("/api/system/setup-complete", { method: "POST", body });
    location.assign("/");
  });
}

byId("wizard").addEventListener("submit", (event) => {
  event.preventDefault();
  onward();
});
byId("back").addEventListener("click", () => open(current - 1));
byId("skip").addEventListener("click", () => open(current + 1));
byId("skip-all").addEventListener("click", () => done({ skipped: true }));
for (const button of buttons) button.addEventListener("click", () => open(Number(button.dataset.step)));
addEventListener("popstate", () => open(Number(location.hash.slice(1)) || 1));

attempt(async () => {
  const status = await api("/api/system/setup-status");
  // Whoever was through and comes again begins at the beginning.
  const known = status.completed ? 1 : status.step;
  furthest = status.completed ? LAST : Math.max(1, status.step);
  open(Number(location.hash.slice(1)) || known || 1, { focus: false });
});
