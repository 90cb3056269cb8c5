// Signs in with the password and returns to the page that asked for it.
import { api, attempt, byId, el, word } from "./core.js";

const form = byId("login");
const wrong = byId("wrong");
const enter = byId("enter");
// What a refusal means to a person, by its status; anything else is told as the server says it.
const REASONS = { 401: "wrong_password", 429: "too_many", 400: "no_password" };

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
    wrong.textContent = error.status in REASONS ? word(REASONS[error.status]) : error.message;
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
      ? [word("no_password")]
      : [word("already_in"), " ", el("a", { href: readTarget() }, word("go_on"))]),
  );
});
