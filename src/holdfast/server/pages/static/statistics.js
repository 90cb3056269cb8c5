// The statistics page: sums and plots of the last days, what runs now, and how the model servers are.
import { api, attempt, el, events, later, moment, number, toast, word } from "./core.js";
import { bars, lines } from "./plots.js";

const place = (name) => document.getElementById(name);
const models = place("plots").firstElementChild;
// Levels of compaction, each in the colour of what becomes of the text.
const levels = { 1: "history", 2: "files", 3: "summary", 9: "danger" };
const tenth = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
const hundredth = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 2 });
const short = new Intl.NumberFormat(document.documentElement.lang, { notation: "compact", maximumFractionDigits: 1 });

async function showDays() {
  const asked = new URLSearchParams({ days: place("days").value, utc_offset: -new Date().getTimezoneOffset() });
  const told = await attempt(() => api(`/api/statistics?${asked}`));
  if (!told) return;
  place("sums").replaceChildren(...sums(told.days));
  place("plots").replaceChildren(...plots(told.days).map((one) => el("section", { class: "card" }, one)), models);

  place("models").replaceChildren(...(told.models.length ? told.models.map(modelRow) : [el("tr", {}, el("td", { colspan: 4, class: "empty" }, word("no_models")))]));
}

function sums(days) {
  const add = (pick) => days.reduce((sum, day) => sum + (pick(day) ?? 0), 0);
  const freed = add((day) => Object.values(day.freed).reduce((one, more) => one + more, 0));
  const prompt = add((day) => day.tokens.prompt);
  const newest = (pick) => pick(days.findLast((day) => pick(day) !== null) ?? days.at(-1));
  const first = newest((day) => day.first_token_seconds.median), speed = newest((day) => day.tokens_per_second);
  const told = [
    [word("sum_tokens"), short.format(prompt + add((day) => day.tokens.completion))],
    [word("sum_jobs"), number(add((day) => day.jobs))],
    [word("sum_cached"), `${prompt ? Math.round((100 * add((day) => day.tokens.cached)) / prompt) : 0} %`],
    [word("sum_freed"), short.format(freed)],
    [word("sum_first"), first === null ? "–" : word("seconds", { n: hundredth.format(first) })],
    [word("sum_speed"), speed === null ? "–" : tenth.format(speed)],
  ];
  return told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
}

function plots(days) {
  const labels = days.map((day) => dayName(day.day));
  const series = (name, colour, pick) => ({ name, colour, values: days.map(pick) });
  const byLevel = (what) => Object.entries(levels)
    .filter(([level]) => level !== "9" || days.some((day) => day[what][level]))
    .map(([level, colour]) => series(word(`freed_${level}`), colour, (day) => day[what][level] ?? 0));
  return [
    bars({ title: word("tokens_by_day"), labels, series: [
      series(word("anew"), "system", (day) => day.tokens.prompt - Math.min(day.tokens.prompt, day.tokens.cached)),
      series(word("cached"), "recalled", (day) => Math.min(day.tokens.prompt, day.tokens.cached)),
      series(word("written"), "question", (day) => day.tokens.completion),
    ] }),
    bars({ title: word("freed_by_day"), labels, series: byLevel("freed") }),
    bars({ title: word("compactions_by_day"), labels, series: byLevel("compactions") }),
    lines({ title: word("first_by_day"), labels, spell: (value) => hundredth.format(value), series: [
      series(word("median"), "system", (day) => day.first_token_seconds.median),
      series(word("slow"), "files", (day) => day.first_token_seconds.slow),
    ] }),
    lines({ title: word("speed_by_day"), labels, spell: (value) => tenth.format(value), series: [
      series(word("speed"), "history", (day) => day.tokens_per_second),
    ] }),
  ];
}

const dayShort = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short" });
const dayName = (day) => dayShort.format(new Date(`${day}T12:00:00`));

function modelRow(row) {
  return el("tr", {}, el("td", { dir: "auto" }, row.model), [row.jobs, row.prompt, row.completion].map((value) => el("td", {}, number(value))));
}

async function showJobs() {
  const asked = ["running", "queued"].map((status) => api(`/api/jobs?status=${status}`));
  const told = await attempt(() => Promise.all(asked));
  if (!told) return;
  const open = told.flatMap((one) => one.jobs);
  place("jobs").replaceChildren(...(open.length ? open.map(jobRow) : [el("li", { class: "faint" }, word("jobs_none"))]));
  if (place("ended").open) await showEnded();
}

function jobRow(job) {
  const where = [word(`kind_${job.kind}`), job.upstream].filter(Boolean).join(" · ");
  const stop = el("button", { type: "button", class: "danger", "aria-label": word("stop_job", { model: job.model }), onclick: () => cancel(job, stop) }, word("stop"));
  return el("li", {},
    el("span", { class: `state ${job.status === "running" ? "busy" : ""}` }, word(`job_${job.status}`)),
    job.position && el("span", { class: "tag" }, word("position", { n: job.position })),
    el("strong", { dir: "auto" }, job.model), el("span", { class: "faint small grow", dir: "auto" }, where),
    el("span", { class: "faint small", "aria-hidden": "true", data: { since: job.started_at ?? job.queued_at } }, elapsed(job.started_at ?? job.queued_at)),
    job.conversation && el("a", { href: `/c/${encodeURIComponent(job.conversation)}` }, word("open_chat")),
    // Background work gives way by itself when somebody asks something.
    job.kind !== "background" && stop);
}

async function cancel(job, button) {
  button.disabled = true;
  const done = await attempt(() => api(`/api/jobs/${encodeURIComponent(job.id)}`, { method: "DELETE" }));
  if (done) toast(word("stopped"));
  await showJobs();
  place("now-title").focus();
}

async function showEnded() {
  const told = await attempt(() => api("/api/jobs?limit=30"));
  if (!told) return;
  const ended = told.jobs.filter((job) => job.finished_at !== null);
  place("ended-rows").replaceChildren(...ended.map((job) => el("tr", {},
    el("td", {}, moment(job.finished_at)), el("td", { dir: "auto" }, job.model),
    el("td", {}, word(`job_${job.status}`), job.error && el("div", { class: "faint", dir: "auto" }, job.error)),
    el("td", {}, `${count(job.tokens.prompt)} / ${count(job.tokens.completion)}`),
    el("td", {}, word("seconds", { n: tenth.format(job.finished_at - job.queued_at) })))));
}

const count = (tokens) => (tokens === null ? "–" : number(tokens));
const elapsed = (since) => word("seconds", { n: number(Math.max(0, Math.round(Date.now() / 1000 - since))) });

async function showServers() {
  const told = await attempt(() => api("/api/upstreams"));
  // The demonstration model is no server that anybody could look after.
  const found = told?.upstreams.filter((server) => server.kind || server.location);
  if (found) place("servers").replaceChildren(...(found.length ? found.map(serverRow) : [el("li", {}, word("own_model"))]));
}

function serverRow(server) {
  const [state, kind] = server.well ? ["well", "good"] : server.well === false ? ["unwell", "bad"] : ["not_asked", ""];
  return el("li", {},
    el("span", { class: `state ${kind}` }, word(state)),
    el("strong", { dir: "auto" }, server.name || server.kind || "–"),
    el("span", { class: "faint small grow", dir: "auto" }, [server.kind, server.location].filter(Boolean).join(" · ")),
    server.models !== null && el("span", { class: "tag" }, word("models_n", { n: number(server.models) })),
    server.last_seen && el("span", { class: "faint small" }, word("seen", { when: moment(server.last_seen) })),
    server.error && el("span", { class: "small", dir: "auto" }, server.error));
}

place("days").addEventListener("change", showDays);
place("ended").addEventListener("toggle", () => place("ended").open && showEnded());
place("now-title").tabIndex = -1;
setInterval(() => {
  for (const one of document.querySelectorAll("[data-since]")) one.textContent = elapsed(Number(one.dataset.since));
}, 1000);
// Jobs come and go in bursts; the list is asked for once they pause.
const jobsLater = later(showJobs, 250), daysLater = later(showDays, 4000);
events(["job"], (_, job) => {
  jobsLater();
  if (job.status === "done") daysLater();
});
showDays();
showJobs();
showServers();
