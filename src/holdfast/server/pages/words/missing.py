"""Words for the page `missing`: its scripts say nothing."""

WORDS: dict[str, str] = {}
