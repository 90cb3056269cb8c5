// Signs in with the password and returns to the page that asked for it.
import { _, api, attempt, byId, el } from "./core.js";

const form = byId("login");
const wrong = byId("wrong");
const enter = byId("enter");
// What a refusal means to a person, by its status; anything else is told as the server says it.
const REASONS = {
  400: _("No password is set yet: `holdfast password` on the server sets one."),
  401: _("This is not the password."),
  429: _("Too many wrong tries. Wait a little, then try again."),
};

/** Returns where to go after signing in: only addresses of this server. */
function readTarget() {
  const next = new URLSearchParams(location.search).get("next") ?? "/";
  const place = new URL(next, location.origin);
  return place.origin === location.origin ? place.pathname + place.search + place.hash : "/";
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  wrong.hidden = true;
  enter.disabled = true;
  try {
    await api("/api/login", { method: "POST", body: { password: form.password.value } });
    location.assign(readTarget());
  } catch (error) {
    wrong.textContent = REASONS[error.status] ?? error.message;
    wrong.hidden = false;
    form.password.select();
  } finally {
    enter.disabled = false;
  }
});

byId("show").addEventListener("change", (event) => {
  form.password.type = event.target.checked ? "text" : "password";
});

attempt(async () => {
  const who = await api("/api/login");
  const state = byId("state");
  state.hidden = who.password && who.how === "nobody";
  state.replaceChildren(
    ...(who.how === "nobody"
      ? [_("No password is set yet: `holdfast password` on the server sets one.")]
      : [_("You are signed in already."), " ", el("a", { href: readTarget() }, _("Go on"))]),
  );
});
