// The settings page: all settings by group, what was changed, saving, and restarting the server.
import {
  _,
  api,
  attempt,
  byId,
  confirmAction,
  debounce,
  el,
  formatNumber,
  ngettext,
  queryAll,
  toast,
} from "./core.js";
import { changes, discardDrafts, getDrafts, loadSettings, saveSettings, settings } from "./settings-state.js";
import { renderSetting } from "./settings-row.js";
import { startPresets } from "./settings-window.js";
import { startServers } from "./settings-servers.js";
import { startKeys } from "./settings-keys.js";
import { startPassword } from "./settings-password.js";

// How long a server may take to start anew, in milliseconds, and how often we look.
const PATIENCE = 60_000, LOOK = 700;

function drawRows() {
  for (const place of queryAll(".rows")) {
    const isAdvanced = "advanced" in place.dataset;
    const rows = [...settings.rows.values()].filter((setting) =>
      setting.group === place.dataset.group && setting.name !== "preset" && setting.everyday !== isAdvanced
    );
    place.replaceChildren(...rows.map(renderSetting));
    const fold = place.closest("details");
    if (!fold) continue;
    fold.hidden = !rows.length;
    fold.querySelector("summary").textContent = ngettext(
      "Advanced: 1 more setting",
      "Advanced: {n} more settings",
      { n: rows.length },
    );
  }
  filterRows();
}

// Whether something is looked for.
let isFinding = false;

function filterRows() {
  const query = byId("find").value.trim().toLowerCase();
  let count = 0;
  for (const row of queryAll(".setting")) {
    row.hidden = Boolean(query) && !row.querySelector(".what").textContent.toLowerCase().includes(query);
    count += row.hidden ? 0 : 1;
  }
  document.body.classList.toggle("finding", Boolean(query));
  // What is folded away is found all the same, and folded again afterwards.
  if (Boolean(query) !== isFinding) {
    for (const fold of queryAll("details.advanced")) fold.toggleAttribute("open", Boolean(query));
  }
  isFinding = Boolean(query);
  for (const group of queryAll(".group")) {
    group.hidden = Boolean(query) && !group.querySelector(".setting:not([hidden])");
  }
  byId("found").textContent = query ? ngettext("1 setting", "{n} settings", { n: formatNumber(count) }) : "";
}

function updateSaveBar() {
  const count = Object.keys(getDrafts()).length;
  byId("savebar").hidden = !count;
  document.body.classList.toggle("with-savebar", count > 0);
  byId("changed").textContent = count
    ? (count === 1
      ? _("One change", { n: formatNumber(count) })
      : _("{n} changes", { n: formatNumber(count) }))
    : "";
}

async function saveChanges() {
  const { retention_days: days } = getDrafts(), [first] = Object.keys(getDrafts());
  if (
    Number(days) > 0 &&
    !(await confirmAction(
      _("Delete old conversations?"),
      _(
        "After the next start, and every day from then on, conversations without a new message for {n} days are deleted. They cannot be restored.",
        { n: formatNumber(days) },
      ),
      _("Yes, delete"),
    ))
  ) return;
  byId("save").disabled = true;
  const isSaved = await attempt(saveSettings);
  byId("save").disabled = false;
  if (isSaved) {
    toast(_("Saved."));
    (byId(`set-${first}`) ?? document.querySelector("#presets :checked")).focus({ preventScroll: true });
  } else if (isSaved === false) {
    const wrong = byId(`set-${Object.keys(settings.wrong)[0]}`) ??
      document.querySelector("#presets :checked");
    wrong.closest("details")?.setAttribute("open", "");
    wrong.scrollIntoView({ block: "center" });
    wrong.focus();
  }
}

function showNotice() {
  const { needed, possible } = settings.restart, place = byId("restart");
  place.hidden = !needed;
  if (!needed) return place.replaceChildren();
  place.replaceChildren(
    el(
      "span",
      { class: "grow" },
      possible
        ? _("Some of what is set holds after a restart of the server.")
        : _("Some of what is set holds after a restart. Restart the program that runs the server."),
    ),
    ...(possible
      ? [el("button", { type: "button", onclick: () => attempt(restart) }, _("Restart now"))]
      : []),
  );
}

async function restart() {
  const hasMoved = ["host", "port"].some((name) => settings.rows.get(name).pending);
  if (
    !(await confirmAction(
      _("Restart the server?"),
      hasMoved
        ? _(
          "The address changes: this page will be found at the new one. Answers that are being written have a moment to end.",
        )
        : _("It takes a few seconds. Answers that are being written have a moment to end."),
      _("Restart now"),
    ))
  ) return;
  const { started } = settings.restart;
  await api("/api/system/restart", { method: "POST" });
  byId("restart").replaceChildren(el("span", {}, _("The server starts anew …")));
  const until = Date.now() + PATIENCE;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    const answer = await api("/api/settings").catch(() => null);
    if (answer && answer.restart.started !== started) break;
    if (Date.now() > until) throw new Error(_("The server is not back yet; look at its log."));
  }
  await loadSettings();
  toast(
    settings.restart.needed
      ? _("The server could not start like this and goes on as before; look at its log.")
      : _("The server runs with the new settings."),
    settings.restart.needed ? "error" : "info",
  );
}

/** Marks the visible section in the menu at the side. */
function markSection() {
  const links = new Map(
    queryAll('.side a[href^="#"]').map((link) => [link.getAttribute("href").slice(1), link]),
  );
  const visible = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) visible[isIntersecting ? "add" : "delete"](target.id);
    const first = [...links.keys()].find((id) => visible.has(id));
    for (const [id, link] of links) {
      id === first ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-10% 0px -60% 0px" });
  for (const id of links.keys()) watch.observe(byId(id));
}

/** Shows what the address points at; a setting gets the focus. */
function showTarget() {
  const target = byId(location.hash.slice(1));
  if (!location.hash || !target) return;
  if (byId("find").value) {
    byId("find").value = "";
    filterRows();
  }
  target.closest("details")?.setAttribute("open", "");
  target.scrollIntoView({ block: target.matches(".setting") ? "center" : "start" });
  if (target.matches(".setting")) {
    target.querySelector("input, select, textarea")?.focus({ preventScroll: true });
  }
}

addEventListener("hashchange", showTarget);
changes.addEventListener("taken", drawRows);
changes.addEventListener("taken", showNotice);
changes.addEventListener("change", updateSaveBar);
byId("find").addEventListener("input", debounce(filterRows, 80));
byId("save").addEventListener("click", () => attempt(saveChanges));
byId("discard").addEventListener("click", () => {
  discardDrafts();
  byId("find").focus({ preventScroll: true });
});
addEventListener("beforeunload", (event) => Object.keys(getDrafts()).length && event.preventDefault());

// These wait for nothing, so that no button is there before it does something.
startKeys();
startPassword();
attempt(async () => {
  await loadSettings();
  startPresets();
  startServers();
  markSection();
  // The rows have moved what an address may point at.
  showTarget();
});
