"""Words that stand beside every plot."""

from holdfast.i18n import lazy

WORDS: dict[str, str] = {
    "plot_table": lazy("As a table"),
    "plot_empty": lazy("Nothing to show yet."),
}
