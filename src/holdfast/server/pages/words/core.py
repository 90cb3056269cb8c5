"""Words that every page may need."""

from holdfast.i18n import lazy

WORDS = {
    "offline": lazy("The server does not answer. Trying again …"),
    "online": lazy("The server is back."),
    "updated": lazy("Holdfast was updated. Reload the page to go on."),
    "reload": lazy("Reload"),
    "failed": lazy("That did not work: {why}"),
    "cancel": lazy("Cancel"),
    "ok": lazy("OK"),
    "close": lazy("Close"),
    "delete": lazy("Delete"),
    "save": lazy("Save"),
    "saved": lazy("Saved."),
    "edit": lazy("Edit"),
    "copy": lazy("Copy"),
    "copied": lazy("Copied"),
    "more": lazy("Load more"),
    "nothing": lazy("There is nothing here yet."),
    "loading": lazy("Loading …"),
    "today": lazy("Today"),
    "yesterday": lazy("Yesterday"),
    "week": lazy("Last 7 days"),
    "month": lazy("Last 30 days"),
    "older": lazy("Older"),
    "tokens": lazy("{n} tokens"),
}
