"""Words for the page `login`."""

WORDS: dict[str, tuple[str, str]] = {
    "wrong_password": ("This is not the password.", "Das ist nicht das Passwort."),
    "too_many": (
        "Too many wrong tries. Wait a little, then try again.",
        "Zu viele falsche Versuche. Bitte etwas warten, dann noch einmal versuchen.",
    ),
    "no_password": (
        "No password is set yet: `holdfast password` on the server sets one.",
        "Noch ist kein Passwort gesetzt: `holdfast password` auf dem Server setzt eines.",
    ),
    "go_on": ("Go on", "Weiter"),
    "already_in": ("You are signed in already.", "Sie sind bereits angemeldet."),
}
