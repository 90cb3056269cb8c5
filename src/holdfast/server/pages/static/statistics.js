// The statistics page: sums and plots of the last days, what runs now, and how the model servers are.
import {
  api,
  attempt,
  byId,
  debounce,
  el,
  formatMoment,
  formatNumber,
  queryAll,
  subscribe,
  toast,
  word,
} from "./core.js";
import { renderBars, renderLines } from "./plots.js";

const models = byId("plots").firstElementChild;
// Levels of compaction, each in the colour of what becomes of the text.
const levels = { 1: "history", 2: "files", 3: "summary", 9: "danger" };
const tenth = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
const hundredth = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 2 });
const shortFormat = new Intl.NumberFormat(document.documentElement.lang, {
  notation: "compact",
  maximumFractionDigits: 1,
});

async function showDays() {
  const query = new URLSearchParams({
    days: byId("days").value,
    utc_offset: String(-new Date().getTimezoneOffset()),
  });
  const reply = await attempt(() => api(`/api/statistics?${query}`));
  if (!reply) return;
  byId("sums").replaceChildren(...renderSums(reply.days));
  byId("plots").replaceChildren(
    ...renderPlots(reply.days).map((plot) => el("section", { class: "card" }, plot)),
    models,
  );

  byId("models").replaceChildren(
    ...(reply.models.length
      ? reply.models.map(renderModel)
      : [el("tr", {}, el("td", { colspan: 4, class: "empty" }, word("no_models")))]),
  );
}

function renderSums(days) {
  const addUp = (pick) => days.reduce((sum, day) => sum + (pick(day) ?? 0), 0);
  const freed = addUp((day) => Object.values(day.freed).reduce((sum, tokens) => sum + tokens, 0));
  const prompt = addUp((day) => day.tokens.prompt);
  const findNewest = (pick) => pick(days.findLast((day) => pick(day) !== null) ?? days.at(-1));
  const first = findNewest((day) => day.first_token_seconds.median),
    speed = findNewest((day) => day.tokens_per_second);
  const rows = [
    [word("sum_tokens"), shortFormat.format(prompt + addUp((day) => day.tokens.completion))],
    [word("sum_jobs"), formatNumber(addUp((day) => day.jobs))],
    [word("sum_cached"), `${prompt ? Math.round((100 * addUp((day) => day.tokens.cached)) / prompt) : 0} %`],
    [word("sum_freed"), shortFormat.format(freed)],
    [word("sum_first"), first === null ? "–" : word("seconds", { n: hundredth.format(first) })],
    [word("sum_speed"), speed === null ? "–" : tenth.format(speed)],
  ];
  return rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
}

function renderPlots(days) {
  const labels = days.map((day) => formatDay(day.day));
  const createSeries = (name, colour, pick) => ({ name, colour, values: days.map(pick) });
  const seriesByLevel = (what) =>
    Object.entries(levels)
      .filter(([level]) => level !== "9" || days.some((day) => day[what][level]))
      .map(([level, colour]) => createSeries(word(`freed_${level}`), colour, (day) => day[what][level] ?? 0));
  return [
    renderBars({
      title: word("tokens_by_day"),
      labels,
      series: [
        createSeries(
          word("anew"),
          "system",
          (day) => day.tokens.prompt - Math.min(day.tokens.prompt, day.tokens.cached),
        ),
        createSeries(word("cached"), "recalled", (day) => Math.min(day.tokens.prompt, day.tokens.cached)),
        createSeries(word("written"), "question", (day) => day.tokens.completion),
      ],
    }),
    renderBars({ title: word("freed_by_day"), labels, series: seriesByLevel("freed") }),
    renderBars({ title: word("compactions_by_day"), labels, series: seriesByLevel("compactions") }),
    renderLines({
      title: word("first_by_day"),
      labels,
      spell: (value) => hundredth.format(value),
      series: [
        createSeries(word("median"), "system", (day) => day.first_token_seconds.median),
        createSeries(word("slow"), "files", (day) => day.first_token_seconds.slow),
      ],
    }),
    renderLines({
      title: word("speed_by_day"),
      labels,
      spell: (value) => tenth.format(value),
      series: [
        createSeries(word("speed"), "history", (day) => day.tokens_per_second),
      ],
    }),
  ];
}

const dayShort = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short" });
const formatDay = (day) => dayShort.format(new Date(`${day}T12:00:00`));

function renderModel(row) {
  return el(
    "tr",
    {},
    el("td", { dir: "auto" }, row.model),
    [row.jobs, row.prompt, row.completion].map((value) => el("td", {}, formatNumber(value))),
  );
}

async function showJobs() {
  const requests = ["running", "queued"].map((status) => api(`/api/jobs?status=${status}`));
  const replies = await attempt(() => Promise.all(requests));
  if (!replies) return;
  const open = replies.flatMap((reply) => reply.jobs);
  byId("jobs").replaceChildren(
    ...(open.length ? open.map(renderJob) : [el("li", { class: "faint" }, word("jobs_none"))]),
  );
  if (byId("ended").open) await showEnded();
}

function renderJob(job) {
  const place = [word(`kind_${job.kind}`), job.upstream].filter(Boolean).join(" · ");
  const stop = el("button", {
    type: "button",
    class: "danger",
    "aria-label": word("stop_job", { model: job.model }),
    onclick: () => cancelJob(job, stop),
  }, word("stop"));
  return el(
    "li",
    {},
    el("span", { class: `state ${job.status === "running" ? "busy" : ""}` }, word(`job_${job.status}`)),
    job.position && el("span", { class: "tag" }, word("position", { n: job.position })),
    el("strong", { dir: "auto" }, job.model),
    el("span", { class: "faint small grow", dir: "auto" }, place),
    el("span", {
      class: "faint small",
      "aria-hidden": "true",
      data: { since: job.started_at ?? job.queued_at },
    }, formatElapsed(job.started_at ?? job.queued_at)),
    job.conversation && el("a", { href: `/c/${encodeURIComponent(job.conversation)}` }, word("open_chat")),
    // Background work gives way by itself when somebody asks something.
    job.kind !== "background" && stop,
  );
}

async function cancelJob(job, button) {
  button.disabled = true;
  const done = await attempt(() => api(`/api/jobs/${encodeURIComponent(job.id)}`, { method: "DELETE" }));
  if (done) toast(word("stopped"));
  await showJobs();
  byId("now-title").focus();
}

async function showEnded() {
  const reply = await attempt(() => api("/api/jobs?limit=30"));
  if (!reply) return;
  const ended = reply.jobs.filter((job) => job.finished_at !== null);
  byId("ended-rows").replaceChildren(
    ...ended.map((job) =>
      el(
        "tr",
        {},
        el("td", {}, formatMoment(job.finished_at)),
        el("td", { dir: "auto" }, job.model),
        el(
          "td",
          {},
          word(`job_${job.status}`),
          job.error && el("div", { class: "faint", dir: "auto" }, job.error),
        ),
        el("td", {}, `${formatCount(job.tokens.prompt)} / ${formatCount(job.tokens.completion)}`),
        el("td", {}, word("seconds", { n: tenth.format(job.finished_at - job.queued_at) })),
      )
    ),
  );
}

const formatCount = (tokens) => (tokens === null ? "–" : formatNumber(tokens));
const formatElapsed = (since) =>
  word("seconds", { n: formatNumber(Math.max(0, Math.round(Date.now() / 1000 - since))) });

async function showServers() {
  const reply = await attempt(() => api("/api/upstreams"));
  // The demonstration model is no server that anybody could look after.
  const servers = reply?.upstreams.filter((server) => server.kind || server.location);
  if (servers) {
    byId("servers").replaceChildren(
      ...(servers.length ? servers.map(renderServer) : [el("li", {}, word("own_model"))]),
    );
  }
}

function renderServer(server) {
  const [state, kind] = server.well
    ? ["well", "good"]
    : server.well === false
    ? ["unwell", "bad"]
    : ["not_asked", ""];
  return el(
    "li",
    {},
    el("span", { class: `state ${kind}` }, word(state)),
    el("strong", { dir: "auto" }, server.name || server.kind || "–"),
    el(
      "span",
      { class: "faint small grow", dir: "auto" },
      [server.kind, server.location].filter(Boolean).join(" · "),
    ),
    server.models !== null &&
      el("span", { class: "tag" }, word("models_n", { n: formatNumber(server.models) })),
    server.last_seen &&
      el("span", { class: "faint small" }, word("seen", { when: formatMoment(server.last_seen) })),
    server.error && el("span", { class: "small", dir: "auto" }, server.error),
  );
}

byId("days").addEventListener("change", showDays);
byId("ended").addEventListener("toggle", () => byId("ended").open && showEnded());
byId("now-title").tabIndex = -1;
setInterval(() => {
  for (const element of queryAll("[data-since]")) {
    element.textContent = formatElapsed(Number(element.dataset.since));
  }
}, 1000);
// Jobs come and go in bursts; the list is asked for once they pause.
const jobsLater = debounce(showJobs, 250), daysLater = debounce(showDays, 4000);
subscribe(["job"], (_, job) => {
  jobsLater();
  if (job.status === "done") daysLater();
});
showDays();
showJobs();
showServers();
