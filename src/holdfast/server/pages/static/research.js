// The research page: what was found for earlier questions, how long that holds, from where, and forgetting it.
import { api, attempt, el, events, language, later, moment, number, sure, toast, word } from "./core.js";

const place = (name) => document.getElementById(name);
const page = 30;
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
const units = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

/** "2 hours ago", "in 3 days". */
function when(seconds, now = Date.now() / 1000) {
  const away = seconds - now;
  const [unit, size] = units.find(([, one]) => Math.abs(away) >= one) ?? ["second", 1];
  return relative.format(Math.trunc(away / size), unit);
}

// Answers may come in another order than they were asked for: only the newest question's count.
let asked = 0, shown = 0;

async function load(first = true) {
  const mine = ++asked;
  const params = new URLSearchParams({ limit: page, offset: first ? 0 : shown });
  if (place("text").value.trim()) params.set("text", place("text").value.trim());
  if (place("which").value) params.set("expired", place("which").value);
  let told;
  try {
    told = await api(`/api/research?${params}`);
  } catch (error) {
    place("count").textContent = error.status === 404 ? word("unavailable") : word("failed", { why: error.message });
    return;
  }
  if (mine !== asked) return;
  const rows = told.findings.map(row);
  if (first) place("findings").replaceChildren(...rows);
  else place("findings").append(...rows);
  shown = place("findings").querySelectorAll("[data-finding]").length;
  place("count").textContent = told.total === 1 ? word("found_1") : told.total ? word("found_n", { n: number(told.total) }) : "";
  if (!told.total) place("findings").append(el("li", { class: "empty" }, word(params.has("text") || params.has("expired") ? "none_found" : "none_yet")));
  place("more").hidden = shown >= told.total;
  place("troubles").hidden = !told.troubles.length;
  place("troubles").textContent = word("troubles", { what: told.troubles.join("; ") });
}

function row(finding) {
  const until = finding.expired ? el("span", { class: "tag old" }, word("expired", { when: when(finding.expires_at) }))
    : el("span", {}, finding.expires_at ? word("holds_until", { when: moment(finding.expires_at) }) : word("holds_for_good"));
  const forget = el("button", { type: "button", class: "quiet", "aria-label": word("forget_it", { question: finding.question }), onclick: () => forgetIt(finding, made) }, word("forget"));
  const made = el("li", { id: finding.id, class: finding.expired ? "expired" : "", data: { finding: finding.id }, tabindex: "-1" },
    el("div", { class: "finding-head" }, el("h2", { class: "grow", dir: "auto" }, finding.question), forget),
    el("div", { class: "facts" },
      el("span", { title: moment(finding.created_at) }, word("found_ago", { when: when(finding.created_at) })), until,
      el("span", {}, word(`volatility_${finding.volatility}`)), el("span", {}, word(`mode_${finding.mode}`)),
      finding.merged.length > 0 && el("span", {}, word("merged_n", { n: number(finding.merged.length + 1) })),
      finding.conversation && el("a", { href: `/c/${encodeURIComponent(finding.conversation)}` }, word("to_chat"))),
    el("p", { class: "said", dir: "auto" }, finding.summary || el("span", { class: "faint" }, word("no_summary"))),
    el("p", { class: "faint small" }, [finding.summary_by && word(`by_${finding.summary_by}`), sources(finding.sources.length)].filter(Boolean).join(" · ")),
    el("ol", { class: "sources" }, finding.sources.map(source)), read(finding));
  return made;
}

const sources = (count) => (count === 1 ? word("sources_1") : word("sources_n", { n: number(count) }));

function source(one) {
  const named = one.title || one.name || one.url;
  // Only what is a web address becomes a link; a file's name is just shown.
  const name = /^https?:\/\//i.test(one.url) ? el("a", { href: one.url, rel: "noopener noreferrer", target: "_blank", dir: "auto" }, named) : el("span", { dir: "auto" }, named);
  const facts = [one.name !== named && one.name, one.trouble ? word("not_read", { why: one.trouble }) : word("read_at", { when: moment(one.at) })];
  return el("li", {}, name, el("span", { class: "faint small" }, ` ${facts.filter(Boolean).join(" · ")}`));
}

/** The texts of the sources and the file it all stands in; they are long, so they are asked for when wanted. */
function read(finding) {
  const made = el("details", {}, el("summary", {}, word("what_was_read")));
  made.addEventListener("toggle", async () => {
    if (!made.open || made.childElementCount > 1) return;
    const whole = await attempt(() => api(`/api/research/${encodeURIComponent(finding.id)}`));
    if (!whole) return;
    made.append(el("p", { class: "small" }, el("code", { dir: "auto" }, word("note", { path: whole.path }))),
      ...whole.sources.filter((one) => one.text).map((one) => el("details", {}, el("summary", { dir: "auto" }, one.title || one.name || one.url), el("pre", { dir: "auto" }, one.text))));
  });
  return made;
}

async function forgetIt(finding, made) {
  if (!(await sure(word("forget_title"), word("forget_text", { question: finding.question }), word("forget")))) return;
  const next = made.nextElementSibling ?? made.previousElementSibling;
  const done = await attempt(() => api(`/api/research/${encodeURIComponent(finding.id)}`, { method: "DELETE" }).then(() => true));
  if (!done) return;
  toast(word("forgotten"));
  await load();
  (document.getElementById(next?.id ?? "") ?? place("text")).focus();
}

const again = later(load, 200);
place("search").addEventListener("submit", (event) => event.preventDefault());
place("text").addEventListener("input", () => again());
place("which").addEventListener("change", () => load());
place("more").addEventListener("click", () => load(false));
new IntersectionObserver(([seen]) => seen.isIntersecting && shown && load(false), { rootMargin: "400px" }).observe(place("more"));
events(["research"], (_, told) => {
  if (told.phase !== "gathering") again();
});
load().then(() => {
  if (!location.hash) return;
  const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  wanted?.scrollIntoView();
  wanted?.focus();
});
