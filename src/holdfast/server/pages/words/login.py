"""Words for the page `login`."""

from holdfast.i18n import lazy

WORDS: dict[str, str] = {
    "wrong_password": lazy("This is not the password."),
    "too_many": lazy("Too many wrong tries. Wait a little, then try again."),
    "no_password": lazy("No password is set yet: `holdfast password` on the server sets one."),
    "go_on": lazy("Go on"),
    "already_in": lazy("You are signed in already."),
}
