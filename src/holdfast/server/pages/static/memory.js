// The memory page: its tabs, whose memory it shows, and which part handles an event.
import { attempt, byId, el, queryAll, subscribe } from "./core.js";
import { ask, nameScope, project, scope, switchScope } from "./memory-scope.js";
import { createList } from "./memory-list.js";
import { createProfile } from "./memory-profile.js";
import { createNotes } from "./memory-notes.js";
import { createStatistics } from "./memory-numbers.js";

const tabs = queryAll('[role="tab"]');
const parts = {
  memories: createList(),
  profile: createProfile(),
  notes: createNotes(openTab),
  statistics: createStatistics(refreshMemories),
};

/** Shows a tab; `rest` is passed to it, as the path of a note. */
function openTab(name, rest = "") {
  const tabName = name in parts ? name : "memories";
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === tabName;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(`panel-${tab.dataset.tab}`).hidden = !chosen;
    if (chosen) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  const hash = `#${tabName}${rest ? `/${encodeURI(rest)}` : ""}`;
  if (location.hash !== hash && !(tabName === "memories" && !location.hash)) {
    history.replaceState(null, "", location.pathname + location.search + hash);
  }
  attempt(() => parts[tabName].show(rest));
}

function openFromAddress() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  openTab(name, decodeURI(rest.join("/")));
}

/** Refreshes the list after another part changed memories. */
function refreshMemories() {
  parts.memories.refreshSoon();
}

for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => openTab(tab.dataset.tab));
  tab.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = tabs[(steps[event.key] + tabs.length) % tabs.length];
    next.focus();
    openTab(next.dataset.tab);
  });
}
addEventListener("hashchange", openFromAddress);

/** One's own memory, and beside it that of projects and groups, where there are any. */
async function offerScopes() {
  const { scopes } = await ask("/api/memory/scopes");
  const isListed = scopes.some((option) => option.project === scope.project && option.kind === scope.kind);
  if (!isListed) scopes.push(scope);
  const chooser = byId("scope");
  chooser.replaceChildren(
    ...scopes.map((option) =>
      el("option", { value: JSON.stringify([option.project, option.kind]) }, nameScope(option))
    ),
  );
  chooser.value = JSON.stringify([scope.project, scope.kind]);
  byId("whose").hidden = scopes.length < 2;
  chooser.addEventListener("change", () => switchScope(...JSON.parse(chooser.value)));
}

openFromAddress();
attempt(offerScopes);
attempt(parts.profile.count);
attempt(parts.statistics.showLimit);
// A group can only be named in a header, which a browser's own follower does not send.
if (scope.kind !== "group") {
  subscribe(["memory"], (_, event) => {
    if (event.work === "reindex") parts.statistics.progress(event);
    else parts.memories.handleEvent(event);
  }, project ? `/api/events?project=${encodeURIComponent(project)}` : undefined);
}
