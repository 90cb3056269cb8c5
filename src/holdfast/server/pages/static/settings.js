// The settings page: all settings by group, what was changed, saving, and starting the server anew. Knows no single one.
import { api, attempt, el, later, number, sure, toast, word } from "./core.js";
import { discard, drafted, known, load, news, save } from "./settings-state.js";
import { row } from "./settings-row.js";
import { presets } from "./settings-window.js";
import { servers } from "./settings-servers.js";
import { keys } from "./settings-keys.js";
import { password } from "./settings-password.js";

const byId = (id) => document.getElementById(id);
// How long a server may take to start anew, in milliseconds, and how often we look.
const PATIENCE = 60_000, LOOK = 700;

function draw() {
  for (const place of document.querySelectorAll(".rows")) {
    const rows = [...known.rows.values()].filter((setting) => setting.group === place.dataset.group && setting.name !== "preset");
    place.replaceChildren(...rows.map(row));
  }
  filter();
}

function filter() {
  const wanted = byId("find").value.trim().toLowerCase();
  let count = 0;
  for (const one of document.querySelectorAll(".setting")) {
    one.hidden = Boolean(wanted) && !one.querySelector(".what").textContent.toLowerCase().includes(wanted);
    count += one.hidden ? 0 : 1;
  }
  document.body.classList.toggle("finding", Boolean(wanted));
  for (const group of document.querySelectorAll(".group")) group.hidden = Boolean(wanted) && !group.querySelector(".setting:not([hidden])");
  byId("found").textContent = wanted ? word("found", { n: number(count) }) : "";
}

function bar() {
  const count = Object.keys(drafted()).length;
  byId("savebar").hidden = !count;
  document.body.classList.toggle("with-savebar", count > 0);
  byId("changed").textContent = count ? word(count === 1 ? "one_change" : "changes", { n: number(count) }) : "";
}

async function keep() {
  const { retention_days: days } = drafted(), [first] = Object.keys(drafted());
  if (Number(days) > 0 && !(await sure(word("retention_title"), word("retention_text", { n: number(days) }), word("retention_yes")))) return;
  byId("save").disabled = true;
  const kept = await attempt(save);
  byId("save").disabled = false;
  if (kept) {
    toast(word("saved"));
    (byId(`set-${first}`) ?? document.querySelector("#presets :checked")).focus({ preventScroll: true });
  } else if (kept === false) {
    const wrong = byId(`set-${Object.keys(known.wrong)[0]}`) ?? document.querySelector("#presets :checked");
    wrong.scrollIntoView({ block: "center" });
    wrong.focus();
  }
}

function notice() {
  const { needed, possible } = known.restart, place = byId("restart");
  place.hidden = !needed;
  if (!needed) return place.replaceChildren();
  place.replaceChildren(el("span", { class: "grow" }, word(possible ? "restart_needed" : "restart_by_hand")),
    ...(possible ? [el("button", { type: "button", onclick: () => attempt(again) }, word("restart_now"))] : []));
}

async function again() {
  const moved = ["host", "port"].some((name) => known.rows.get(name).pending);
  if (!(await sure(word("restart_title"), word(moved ? "restart_moved" : "restart_text"), word("restart_now")))) return;
  const { started } = known.restart;
  await api("/api/system/restart", { method: "POST" });
  byId("restart").replaceChildren(el("span", {}, word("restarting")));
  const until = Date.now() + PATIENCE;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    const answer = await api("/api/settings").catch(() => null);
    if (answer && answer.restart.started !== started) break;
    if (Date.now() > until) throw new Error(word("restart_failed"));
  }
  await load();
  toast(word(known.restart.needed ? "restart_refused" : "restarted"), known.restart.needed ? "error" : "info");
}

/** The menu at the side says which section one is in. */
function follow() {
  const links = new Map([...document.querySelectorAll('.side a[href^="#"]')].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target.id);
    const first = [...links.keys()].find((id) => seen.has(id));
    for (const [id, link] of links) id === first ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
  }, { rootMargin: "-10% 0px -60% 0px" });
  for (const id of links.keys()) watch.observe(byId(id));
}

news.addEventListener("taken", draw);
news.addEventListener("taken", notice);
news.addEventListener("change", bar);
byId("find").addEventListener("input", later(filter, 80));
byId("save").addEventListener("click", () => attempt(keep));
byId("discard").addEventListener("click", () => {
  discard();
  byId("find").focus({ preventScroll: true });
});
addEventListener("beforeunload", (event) => Object.keys(drafted()).length && event.preventDefault());

// These wait for nothing, so that no button is there before it does something.
keys();
password();
attempt(async () => {
  await load();
  presets();
  servers();
  follow();
  // The rows have moved what an address may point at.
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
});
