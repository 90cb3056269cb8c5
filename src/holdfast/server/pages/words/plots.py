"""Words that stand beside every plot."""

WORDS: dict[str, tuple[str, str]] = {
    "plot_table": ("As a table", "Als Tabelle"),
    "plot_empty": ("Nothing to show yet.", "Noch nichts zu zeigen."),
}
