"""What a page says is quoted, not obeyed: no line of it may pass for one of ours, or give a model orders.

Few patterns, German and English; who writes a page can get around them, so they are not the only guard. Knows
texts, no window.
"""

import re

from holdfast.patterns import late

_BLANK = r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*"
_BRACKET = r"[\[［【]"
# How the headings begin that are written between messages; all but the last two stand in brackets.
_HEADINGS = (
    r"(?:earlier research|frühere recherche|(?:context|sources) for this|(?:kontext|quellen) zu dieser"
    r"|from earlier in|von weiter oben|out of date|veraltet|expired|abgelaufen)"
)
_LISTS = (
    r"(?:relevant memories from earlier|relevante erinnerungen aus|rules given earlier|regeln von weiter oben"
    r"|decided earlier in|weiter oben im gespräch)"
)
_LINE = late(rf"{_BLANK}(?:{_BRACKET}{_BLANK}\w|{_LISTS})", re.IGNORECASE)
_HEADING = late(rf"{_BRACKET}{_BLANK}{_HEADINGS}\b|{_LISTS}\b", re.IGNORECASE)

_BEFORE = r"(?:previous|prior|above|earlier|preceding|all|any|your|these)"
_ORDER = late(
    rf"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{{0,30}}\b{_BEFORE}\b[^.!?\n]{{0,30}}"
    r"\b(?:instructions?|prompts?|rules|guidelines|directions|messages)\b"
    r"|\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|überschreib\w*)\b[^.!?\n]{0,50}"
    r"\b(?:anweisung\w*|instruktion\w*|vorgaben|befehle?n?|regeln|prompts?|nachrichten)\b"
    r"|\b(?:you are now|from now on,? you|you must now|du bist (?:jetzt|nun)|ab (?:jetzt|sofort) bist du)\b"
    r"|\b(?:as an? (?:ai|language model)|you are an? (?:ai|assistant|language model|chatbot))\b"
    r"|\b(?:als (?:ki|sprachmodell) (?:musst|sollst) du|du bist ein\w* (?:ki|assistent|sprachmodell))\b"
    r"|\b(?:system[ -]?prompts?|(?:new|updated) instructions:|neue anweisung(?:en)?:)"
    r"|\b(?:do not|don't|never) (?:tell|inform) the user\b|\bsage? (?:dem|der) (?:nutzer|user)(?:in)? nicht"
    r"|\A\W{0,4}(?:system|assistant|developer|user|assistent|nutzer)(?:\s*:|\s*[\])>】］])",
    re.IGNORECASE,
)


def defuse(text: str) -> str:
    """A text in which every line that begins as ours do is marked as none of them."""
    lines = text.splitlines(keepends=True)
    return "".join(f"| {line}" if _LINE.match(line) else line for line in lines)


def is_instruction(sentence: str) -> bool:
    """Whether a sentence speaks to a model, or passes for a heading of ours; such a one sums nothing up."""
    return bool(_ORDER.search(sentence) or _HEADING.search(sentence))
