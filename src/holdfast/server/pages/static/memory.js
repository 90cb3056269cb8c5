// The memory page: its tabs, whose memory it shows, and who of its parts hears of what happens. Knows no part's inside.
import { attempt, el, events } from "./core.js";
import { ask, here, named, project, settle } from "./memory-scope.js";
import { listing } from "./memory-list.js";
import { profile } from "./memory-profile.js";
import { notes } from "./memory-notes.js";
import { numbers } from "./memory-numbers.js";

const tabs = [...document.querySelectorAll('[role="tab"]')];
const parts = { memories: listing(), profile: profile(), notes: notes(open), statistics: numbers(changed) };

/** Shows a tab; `more` is for the part behind it, as the path of a note. */
function open(name, more = "") {
  const known = name in parts ? name : "memories";
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === known;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(`panel-${tab.dataset.tab}`).hidden = !chosen;
    if (chosen) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  const wanted = `#${known}${more ? `/${encodeURI(more)}` : ""}`;
  if (location.hash !== wanted && !(known === "memories" && !location.hash)) history.replaceState(null, "", location.pathname + location.search + wanted);
  attempt(() => parts[known].show(more));
}

function fromAddress() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  open(name, decodeURI(rest.join("/")));
}

/** Something was changed by one part that others show, too. */
function changed() {
  parts.memories.stale();
}

for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => open(tab.dataset.tab));
  tab.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = tabs[(steps[event.key] + tabs.length) % tabs.length];
    next.focus();
    open(next.dataset.tab);
  });
}
addEventListener("hashchange", fromAddress);

/** One's own memory, and beside it that of projects and groups, where there are any. */
async function offerScopes() {
  const { scopes } = await ask("/api/memory/scopes");
  const known = scopes.some((one) => one.project === here.project && one.kind === here.kind);
  if (!known) scopes.push(here);
  const chooser = document.getElementById("scope");
  chooser.replaceChildren(...scopes.map((one) => el("option", { value: JSON.stringify([one.project, one.kind]) }, named(one))));
  chooser.value = JSON.stringify([here.project, here.kind]);
  document.getElementById("whose").hidden = scopes.length < 2;
  chooser.addEventListener("change", () => settle(...JSON.parse(chooser.value)));
}

fromAddress();
attempt(offerScopes);
attempt(parts.profile.count);
// A group can only be named in a header, which a browser's own follower does not send.
if (here.kind !== "group") {
  events(["memory"], (_, told) => {
    if (told.work === "reindex") parts.statistics.progress(told);
    else parts.memories.heard(told);
  }, project ? `/api/events?project=${encodeURIComponent(project)}` : undefined);
}
