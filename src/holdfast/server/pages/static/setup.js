// The set-up: which of its six steps is shown, and how one gets from one to the next.
import { _, api, attempt, byId, debounce, queryAll } from "./core.js";
import { createProfileStep } from "./setup-profile.js";
import { createPasswordStep } from "./setup-password.js";
import { createNetworkStep } from "./setup-network.js";
import { createModelsStep } from "./setup-models.js";
import { createSummaryStep } from "./setup-summary.js";

const LAST = 6;
const sections = queryAll("section[data-step]");
const buttons = queryAll(".steps button");
// What a step does when it is shown, and when one goes on from it; one that says false is not left.
const steps = {
  2: createProfileStep(),
  3: createPasswordStep(),
  4: createNetworkStep(),
  5: createModelsStep(),
  6: createSummaryStep(openStep),
};

let current = 0;
let furthest = 1;
let busy = false;

const saveStepSoon = debounce(
  (step) => attempt(() => api("/api/system/setup-step", { method: "PUT", body: { step } })),
  150,
);

/** Shows a step. The person's place is noted, so that a reload or another day finds it again. */
function openStep(step, { focus = true, push = true } = {}) {
  current = Math.min(Math.max(step, 1), LAST);
  furthest = Math.max(furthest, current);
  for (const section of sections) section.hidden = Number(section.dataset.step) !== current;
  for (const button of buttons) {
    const at = Number(button.dataset.step);
    if (at === current) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    button.classList.toggle("done", at < furthest && at !== current);
  }
  byId("at").textContent = _("Step {n} of {all}", { n: current, all: LAST });
  byId("back").hidden = current === 1;
  byId("skip").hidden = current === 1 || current === LAST;
  byId("next").textContent = current === 1
    ? _("Let's begin")
    : current === LAST
    ? _("Start chatting")
    : _("Next");
  // The first step shown takes the place of the bare address: else the way back would lead here again.
  if (location.hash !== `#${current}`) {
    push ? history.pushState(null, "", `#${current}`) : history.replaceState(null, "", `#${current}`);
  }
  if (focus) {
    scrollTo(0, 0);
    sections[current - 1].querySelector("h2").focus({ preventScroll: true });
  }
  saveStepSoon(current);
  attempt(async () => steps[current]?.show());
}

async function goOn() {
  if (busy) return;
  busy = true;
  byId("next").disabled = true;
  try {
    const stay = (await attempt(async () => (await steps[current]?.leave?.()) ?? true)) !== true;
    if (stay) return;
    if (current < LAST) openStep(current + 1);
    else await finishSetup({});
  } finally {
    busy = false;
    byId("next").disabled = false;
  }
}

async function finishSetup(body) {
  await attempt(async () => {
    await api("/api/system/setup-complete", { method: "POST", body });
    location.assign("/");
  });
}

byId("wizard").addEventListener("submit", (event) => {
  event.preventDefault();
  goOn();
});
byId("back").addEventListener("click", () => openStep(current - 1));
byId("skip").addEventListener("click", () => openStep(current + 1));
byId("skip-all").addEventListener("click", () => finishSetup({ skipped: true }));
for (const button of buttons) button.addEventListener("click", () => openStep(Number(button.dataset.step)));
addEventListener("popstate", () => openStep(Number(location.hash.slice(1)) || 1, { push: false }));

attempt(async () => {
  const status = await api("/api/system/setup-status");
  // Whoever was through and comes again begins at the beginning.
  const firstStep = status.completed ? 1 : status.step;
  furthest = status.completed ? LAST : Math.max(1, status.step);
  openStep(Number(location.hash.slice(1)) || firstStep || 1, { focus: false, push: false });
});
