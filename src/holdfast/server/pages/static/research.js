// The research page: what was found for earlier questions, how long that holds, from where, and forgetting it.
import {
  _,
  api,
  attempt,
  byId,
  confirmAction,
  debounce,
  el,
  formatMoment,
  formatNumber,
  language,
  ngettext,
  subscribe,
  toast,
} from "./core.js";

const page = 30;
const VOLATILITIES = {
  hourly: _("changes by the hour"),
  daily: _("changes daily"),
  weekly: _("changes weekly"),
  monthly: _("changes monthly"),
  permanent: _("does not change"),
};
// Who wrote a summary.
const AUTHORS = {
  model: _("summarised by a model"),
  text: _("sentences from the sources"),
  person: _("written by a person"),
};
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const units = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], [
  "minute",
  60,
], ["second", 1]];

/** "2 hours ago", "in 3 days". */
function formatRelative(seconds, now = Date.now() / 1000) {
  const distance = seconds - now;
  const [unit, size] = units.find(([, length]) => Math.abs(distance) >= length) ?? units[units.length - 1];
  return relative.format(Math.trunc(distance / size), unit);
}

// Answers may come in another order than they were asked for: only the newest question's count.
let requests = 0, shownCount = 0;

async function loadFindings(first = true) {
  const request = ++requests;
  const params = new URLSearchParams({ limit: String(page), offset: String(first ? 0 : shownCount) });
  if (byId("text").value.trim()) params.set("text", byId("text").value.trim());
  if (byId("which").value) params.set("expired", byId("which").value);
  let reply;
  try {
    reply = await api(`/api/research?${params}`);
  } catch (error) {
    byId("count").textContent = error.status === 404
      ? _("Research is not available here.")
      : _("That did not work: {why}", { why: error.message });
    return;
  }
  if (request !== requests) return;
  const rows = reply.findings.map(renderFinding);
  if (first) byId("findings").replaceChildren(...rows);
  else byId("findings").append(...rows);
  shownCount = byId("findings").querySelectorAll("[data-finding]").length;
  byId("count").textContent = reply.total === 1
    ? _("1 finding")
    : reply.total
    ? ngettext("1 finding", "{n} findings", { n: formatNumber(reply.total) })
    : "";
  if (!reply.total) {
    byId("findings").append(
      el(
        "li",
        { class: "empty" },
        params.has("text") || params.has("expired")
          ? _("Nothing matches.")
          : _("Nothing was looked up yet. Turn on research for a question, and what was found stands here."),
      ),
    );
  }
  byId("more").hidden = shownCount >= reply.total;
  byId("troubles").hidden = !reply.troubles.length;
  byId("troubles").textContent = _("Some notes could not be read: {what}", {
    what: reply.troubles.join("; "),
  });
}

function renderFinding(finding) {
  const until = finding.expired
    ? el("span", { class: "tag old" }, _("expired {when}", { when: formatRelative(finding.expires_at) }))
    : el(
      "span",
      {},
      finding.expires_at
        ? _("holds until {when}", { when: formatMoment(finding.expires_at) })
        : _("holds for good"),
    );
  const forget = el("button", {
    type: "button",
    class: "quiet",
    "aria-label": _("Forget: {question}", { question: finding.question }),
    onclick: () => forgetFinding(finding, item),
  }, _("Forget"));
  const item = el(
    "li",
    {
      id: finding.id,
      class: finding.expired ? "expired" : "",
      data: { finding: finding.id },
      tabindex: "-1",
    },
    el("div", { class: "finding-head" }, el("h2", { class: "grow", dir: "auto" }, finding.question), forget),
    el(
      "div",
      { class: "facts" },
      el(
        "span",
        { title: formatMoment(finding.created_at) },
        _("found {when}", { when: formatRelative(finding.created_at) }),
      ),
      until,
      el("span", {}, VOLATILITIES[finding.volatility]),
      el("span", {}, finding.mode === "deep" ? _("deep") : _("quick")),
      finding.merged.length > 0 &&
        el("span", {}, _("joined from {n} findings", { n: formatNumber(finding.merged.length + 1) })),
      finding.conversation &&
        el("a", { href: `/c/${encodeURIComponent(finding.conversation)}` }, _("To the conversation")),
    ),
    el(
      "p",
      { class: "said", dir: "auto" },
      finding.summary || el("span", { class: "faint" }, _("Not summarised yet.")),
    ),
    el(
      "p",
      { class: "faint small" },
      [AUTHORS[finding.summary_by], countSources(finding.sources.length)].filter(
        Boolean,
      ).join(" · "),
    ),
    el("ol", { class: "sources" }, finding.sources.map(renderSource)),
    renderTexts(finding),
  );
  return item;
}

const countSources = (
  count,
) => (count === 1 ? _("1 source") : ngettext("1 source", "{n} sources", { n: formatNumber(count) }));

function renderSource(source) {
  const label = source.title || source.name || source.url;
  // Only what is a web address becomes a link; a file's name is just shown.
  const name = /^https?:\/\//i.test(source.url)
    ? el("a", { href: source.url, rel: "noopener noreferrer", target: "_blank", dir: "auto" }, label)
    : el("span", { dir: "auto" }, label);
  const facts = [
    source.name !== label && source.name,
    source.trouble
      ? _("could not be read: {why}", { why: source.trouble })
      : _("read {when}", { when: formatMoment(source.at) }),
  ];
  return el("li", {}, name, el("span", { class: "faint small" }, ` ${facts.filter(Boolean).join(" · ")}`));
}

/** The texts of the sources and the file it all stands in; they are long, so they are asked for when wanted. */
function renderTexts(finding) {
  const details = el("details", {}, el("summary", {}, _("What was read")));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const full = await attempt(() => api(`/api/research/${encodeURIComponent(finding.id)}`));
    if (!full) return;
    details.append(
      el("p", { class: "small" }, el("code", { dir: "auto" }, _("Note: {path}", { path: full.path }))),
      ...full.sources.filter((source) => source.text).map((source) =>
        el(
          "details",
          {},
          el("summary", { dir: "auto" }, source.title || source.name || source.url),
          el("pre", { dir: "auto" }, source.text),
        )
      ),
    );
  });
  return details;
}

async function forgetFinding(finding, item) {
  if (
    !(await confirmAction(
      _("Forget this finding?"),
      _("“{question}” goes for good, with its summary and the texts of its sources.", {
        question: finding.question,
      }),
      _("Forget"),
    ))
  ) return;
  const next = item.nextElementSibling ?? item.previousElementSibling;
  const done = await attempt(() =>
    api(`/api/research/${encodeURIComponent(finding.id)}`, { method: "DELETE" }).then(() => true)
  );
  if (!done) return;
  toast(_("Forgotten."));
  await loadFindings();
  (byId(next?.id ?? "") ?? byId("text")).focus();
}

const reloadSoon = debounce(loadFindings, 200);
byId("search").addEventListener("submit", (event) => event.preventDefault());
byId("text").addEventListener("input", () => reloadSoon());
byId("which").addEventListener("change", () => loadFindings());
byId("more").addEventListener("click", () => loadFindings(false));
new IntersectionObserver(([entry]) => entry.isIntersecting && shownCount && loadFindings(false), {
  rootMargin: "400px",
}).observe(byId("more"));
subscribe(["research"], (_, event) => {
  if (event.phase !== "gathering") reloadSoon();
});
loadFindings().then(() => {
  if (!location.hash) return;
  const target = byId(decodeURIComponent(location.hash.slice(1)));
  target?.scrollIntoView();
  target?.focus();
});
