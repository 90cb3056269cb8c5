"""Words that every page may need."""

WORDS = {
    "offline": (
        "The server does not answer. Trying again …",
        "Der Server antwortet nicht. Neuer Versuch …",
    ),
    "online": ("The server is back.", "Der Server ist wieder da."),
    "updated": (
        "Holdfast was updated. Reload the page to go on.",
        "Holdfast wurde aktualisiert. Zum Weitermachen die Seite neu laden.",
    ),
    "reload": ("Reload", "Neu laden"),
    "failed": ("That did not work: {why}", "Das ging nicht: {why}"),
    "cancel": ("Cancel", "Abbrechen"),
    "ok": ("OK", "OK"),
    "close": ("Close", "Schließen"),
    "delete": ("Delete", "Löschen"),
    "save": ("Save", "Speichern"),
    "saved": ("Saved.", "Gespeichert."),
    "edit": ("Edit", "Bearbeiten"),
    "copy": ("Copy", "Kopieren"),
    "copied": ("Copied", "Kopiert"),
    "more": ("Load more", "Mehr laden"),
    "nothing": ("There is nothing here yet.", "Hier ist noch nichts."),
    "loading": ("Loading …", "Lädt …"),
    "today": ("Today", "Heute"),
    "yesterday": ("Yesterday", "Gestern"),
    "week": ("Last 7 days", "Letzte 7 Tage"),
    "month": ("Last 30 days", "Letzte 30 Tage"),
    "older": ("Older", "Älter"),
    "tokens": ("{n} tokens", "{n} Tokens"),
}
