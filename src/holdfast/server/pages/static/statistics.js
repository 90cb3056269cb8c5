// The statistics page: sums and plots of the last days, what runs now, and how the model servers are.
import {
  _,
  api,
  attempt,
  byId,
  debounce,
  el,
  formatMoment,
  formatNumber,
  ngettext,
  queryAll,
  subscribe,
  toast,
} from "./core.js";
import { renderBars, renderLines } from "./plots.js";

const models = byId("plots").firstElementChild;
// Levels of compaction, each in the colour of what becomes of the text.
// What each level of compaction does, and its colour.
const levels = {
  1: [_("shortened"), "history"],
  2: [_("left out"), "files"],
  3: [_("summarised"), "summary"],
  9: [_("last resort"), "danger"],
};
const KINDS = { main: _("conversation"), side: _("side request"), background: _("background work") };
const STATES = {
  running: _("running"),
  queued: _("waiting"),
  done: _("done"),
  failed: _("failed"),
  cut: _("cut off"),
};
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
      : [el("tr", {}, el("td", { colspan: 4, class: "empty" }, _("No model has been asked yet.")))]),
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
    [_("Tokens"), shortFormat.format(prompt + addUp((day) => day.tokens.completion))],
    [_("Requests"), formatNumber(addUp((day) => day.jobs))],
    [
      _("of prompts from cache"),
      `${prompt ? Math.round((100 * addUp((day) => day.tokens.cached)) / prompt) : 0} %`,
    ],
    [_("Tokens saved"), shortFormat.format(freed)],
    [_("to the first word, lately"), first === null ? "–" : _("{n} s", { n: hundredth.format(first) })],
    [_("tokens per second, lately"), speed === null ? "–" : tenth.format(speed)],
  ];
  return rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
}

function renderPlots(days) {
  const labels = days.map((day) => formatDay(day.day));
  const createSeries = (name, colour, pick) => ({ name, colour, values: days.map(pick) });
  const seriesByLevel = (what) =>
    Object.entries(levels)
      .filter(([level]) => level !== "9" || days.some((day) => day[what][level]))
      .map(([level, [name, colour]]) => createSeries(name, colour, (day) => day[what][level] ?? 0));
  return [
    renderBars({
      title: _("Tokens per day"),
      labels,
      series: [
        createSeries(
          _("read anew"),
          "system",
          (day) => day.tokens.prompt - Math.min(day.tokens.prompt, day.tokens.cached),
        ),
        createSeries(
          _("from the server's cache"),
          "recalled",
          (day) => Math.min(day.tokens.prompt, day.tokens.cached),
        ),
        createSeries(_("written"), "question", (day) => day.tokens.completion),
      ],
    }),
    renderBars({ title: _("Tokens saved per day"), labels, series: seriesByLevel("freed") }),
    renderBars({ title: _("Compactions per day"), labels, series: seriesByLevel("compactions") }),
    renderLines({
      title: _("Seconds to the first word"),
      labels,
      spell: (value) => hundredth.format(value),
      series: [
        createSeries(_("half are faster"), "system", (day) => day.first_token_seconds.median),
        createSeries(_("95 % are faster"), "files", (day) => day.first_token_seconds.slow),
      ],
    }),
    renderLines({
      title: _("Tokens per second"),
      labels,
      spell: (value) => tenth.format(value),
      series: [
        createSeries(_("tokens per second"), "history", (day) => day.tokens_per_second),
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
    ...(open.length
      ? open.map(renderJob)
      : [el("li", { class: "faint" }, _("No request is running or waiting."))]),
  );
  if (byId("ended").open) await showEnded();
}

function renderJob(job) {
  const place = [KINDS[job.kind], job.upstream].filter(Boolean).join(" · ");
  const stop = el("button", {
    type: "button",
    class: "danger",
    "aria-label": _("Cancel the request to {model}", { model: job.model }),
    onclick: () => cancelJob(job, stop),
  }, _("Cancel"));
  return el(
    "li",
    {},
    el("span", { class: `state ${job.status === "running" ? "busy" : ""}` }, STATES[job.status]),
    job.position && el("span", { class: "tag" }, _("place {n} in line", { n: job.position })),
    el("strong", { dir: "auto" }, job.model),
    el("span", { class: "faint small grow", dir: "auto" }, place),
    el("span", {
      class: "faint small",
      "aria-hidden": "true",
      data: { since: job.started_at ?? job.queued_at },
    }, formatElapsed(job.started_at ?? job.queued_at)),
    job.conversation &&
      el("a", { href: `/c/${encodeURIComponent(job.conversation)}` }, _("To the conversation")),
    // Background work gives way by itself when somebody asks something.
    job.kind !== "background" && stop,
  );
}

async function cancelJob(job, button) {
  button.disabled = true;
  const done = await attempt(() => api(`/api/jobs/${encodeURIComponent(job.id)}`, { method: "DELETE" }));
  if (done) toast(_("Cancelled. What was answered so far is kept."));
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
          STATES[job.status],
          job.error && el("div", { class: "faint", dir: "auto" }, job.error),
        ),
        el("td", {}, `${formatCount(job.tokens.prompt)} / ${formatCount(job.tokens.completion)}`),
        el("td", {}, _("{n} s", { n: tenth.format(job.finished_at - job.queued_at) })),
      )
    ),
  );
}

const formatCount = (tokens) => (tokens === null ? "–" : formatNumber(tokens));
const formatElapsed = (since) =>
  _("{n} s", { n: formatNumber(Math.max(0, Math.round(Date.now() / 1000 - since))) });

async function showServers() {
  const reply = await attempt(() => api("/api/upstreams"));
  // The demonstration model is no server that anybody could look after.
  const servers = reply?.upstreams.filter((server) => server.kind || server.location);
  if (servers) {
    byId("servers").replaceChildren(
      ...(servers.length
        ? servers.map(renderServer)
        : [el("li", {}, _("No model server was found; the small demonstration model answers."))]),
    );
  }
}

function renderServer(server) {
  const [state, kind] = server.well
    ? [_("well"), "good"]
    : server.well === false
    ? [_("not reachable"), "bad"]
    : [_("not asked yet"), ""];
  return el(
    "li",
    {},
    el("span", { class: `state ${kind}` }, state),
    el("strong", { dir: "auto" }, server.name || server.kind || "–"),
    el(
      "span",
      { class: "faint small grow", dir: "auto" },
      [server.kind, server.location].filter(Boolean).join(" · "),
    ),
    server.models !== null &&
      el("span", { class: "tag" }, ngettext("1 model", "{n} models", { n: formatNumber(server.models) })),
    server.last_seen &&
      el(
        "span",
        { class: "faint small" },
        _("last heard of {when}", { when: formatMoment(server.last_seen) }),
      ),
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
