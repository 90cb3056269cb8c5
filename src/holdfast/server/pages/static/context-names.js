// What the parts of the context page are called.
import { _, formatNumber } from "./core.js";

/** Who wrote a message, by its role. */
export const ROLES = {
  user: _("Question"),
  assistant: _("Answer"),
  tool: _("Tool result"),
  system: _("Instructions"),
};

// What a score is made of.
const PARTS = {
  words: _("words"),
  beside: _("beside it"),
  around: _("conversation"),
  meaning: _("meaning"),
  person: _("who said it"),
  recent: _("how new"),
  time: _("the day it is about"),
};

/** The parts of a hit's score, in words. */
export const describeParts = (hit) =>
  Object.entries(hit.parts).map(([name, value]) => `${PARTS[name] ?? name} ${formatNumber(value)}`).join(
    " · ",
  );
