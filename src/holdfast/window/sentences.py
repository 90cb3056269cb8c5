"""The wording of the names in reports and decisions, in English and German.

A name that is not in a table is returned as it is.
"""

from collections.abc import Mapping

from holdfast.i18n import say
from holdfast.window.decisions import LAST
from holdfast.window.levels import ENTRY_SHARE, LONG, RESULT

_Table = Mapping[str, tuple[str, str]]

# Why a message in the window differs from the log.
_RULES: _Table = {
    "clock": ("the time, told anew", "die Uhrzeit, neu genannt"),
    "profile": ("what is known of the person told", "was über die Person bekannt ist, genannt"),
    "forgotten": ("without a memory that was forgotten", "ohne eine vergessene Erinnerung"),
    "recalled": ("quotes from earlier added", "Zitate von früher ergänzt"),
    "context": ("sources for the question added", "Quellen zur Frage ergänzt"),
    "files": ("files that it names added", "genannte Dateien ergänzt"),
    "file_changed": (
        "an earlier state of a file that has changed",
        "früherer Stand einer Datei, die sich geändert hat",
    ),
    "findings": ("what earlier research found added", "Ergebnisse früherer Recherchen ergänzt"),
    "research_new": (
        "sources of an earlier question, summed up as new ones came",
        "Quellen einer früheren Frage, zusammengefasst, als neue kamen",
    ),
    "entry": (
        f"tool result over {ENTRY_SHARE * 100:.0f} % of the window, shortened as it came in",
        f"Werkzeug-Ergebnis über {ENTRY_SHARE * 100:.0f} % des Fensters, beim Eintreffen gekürzt",
    ),
    "repeat": (
        "repeated later: only the newest stays whole",
        "später wiederholt: nur das Neueste bleibt ganz",
    ),
    "tool_result": (
        f"old tool result cut to {RESULT} tokens",
        f"altes Werkzeug-Ergebnis auf {RESULT} Token gekürzt",
    ),
    "file": (
        "file no longer talked about, shown as a digest",
        "nicht mehr erwähnte Datei, als Überblick gezeigt",
    ),
    "long": (
        f"old message over {LONG} tokens cut to its beginning and end",
        f"alte Nachricht über {LONG} Token auf Anfang und Ende gekürzt",
    ),
    "research": (
        "sources of an earlier question, summed up",
        "Quellen einer früheren Frage, zusammengefasst",
    ),
    "recalled_old": ("quotes for earlier questions have left", "Zitate zu früheren Fragen sind gegangen"),
    "recalled_full": ("older quotes made room for newer ones", "ältere Zitate haben neueren Platz gemacht"),
    "relevance": (
        "left out: matters least to what is being talked about",
        "weggelassen: am wenigsten wichtig für das, worum es geht",
    ),
    "summary": ("summarised", "zusammengefasst"),
    "horizon": (
        "left out: too far back to be looked at",
        "weggelassen: zu weit zurück, um angesehen zu werden",
    ),
    "pin": ("brought back when it was pinned", "beim Anheften zurückgeholt"),
    "earlier": ("left out in an earlier turn", "in einem früheren Zug weggelassen"),
    "last": (
        "last resort: it would not have fitted otherwise",
        "letztes Mittel: sonst hätte es nicht gepasst",
    ),
    "thinking": ("without the thoughts of earlier turns", "ohne die Gedanken früherer Züge"),
    "banner": ("without Holdfast's own notices", "ohne Holdfasts eigene Hinweise"),
    "unreadable": (
        "arguments of a tool call were unfinished, and made readable",
        "Argumente eines Werkzeug-Aufrufs waren unfertig und wurden lesbar gemacht",
    ),
    "orphan": (
        "tool call and result do not belong together",
        "Werkzeug-Aufruf und Ergebnis gehören nicht zusammen",
    ),
}

# Why a request does not begin with the previous one. "level N" is composed in `cause`.
_CAUSES: _Table = {
    "first": ("this is the first request", "das ist die erste Anfrage"),
    "tools": ("the client's tools changed", "die Werkzeuge des Programms haben sich geändert"),
    "system": ("the instructions changed", "die Anweisungen haben sich geändert"),
    "profile": ("the profile changed", "das Profil hat sich geändert"),
    "decisions": (
        "something was undone or decided anew",
        "etwas wurde rückgängig gemacht oder neu entschieden",
    ),
    "history": ("the client's history changed", "der Verlauf des Programms hat sich geändert"),
    "horizon": (
        "a long history was looked at for the first time",
        "ein langer Verlauf wurde zum ersten Mal angesehen",
    ),
    "recall": ("older quotes made room for newer ones", "ältere Zitate haben neueren Platz gemacht"),
    "file": ("a file that was shown has changed", "eine gezeigte Datei hat sich geändert"),
    "research": ("new sources took the place of older ones", "neue Quellen traten an die Stelle älterer"),
    "thinking": ("the thoughts of the last turn left", "die Gedanken des letzten Zuges sind weggefallen"),
}

_LEVELS: Mapping[int, tuple[str, str]] = {
    0: ("nothing had to give way", "nichts musste weichen"),
    1: ("old text is shortened", "alter Text ist gekürzt"),
    2: ("what matters least is left out", "das Unwichtigste ist weggelassen"),
    3: ("older turns are summarised", "ältere Züge sind zusammengefasst"),
    LAST: ("shortened until it fitted", "gekürzt, bis es passte"),
}

# What begins at the threshold of a level.
_MARKS: _Table = {
    "1": ("shortening begins", "Kürzen beginnt"),
    "2": ("leaving out begins", "Weglassen beginnt"),
    "3 ahead": ("summarising while idle begins", "Zusammenfassen in Ruhe beginnt"),
    "3": ("summarising at once begins", "sofortiges Zusammenfassen beginnt"),
}

_SECTIONS: _Table = {
    "tools": ("tools", "Werkzeuge"),
    "system": ("instructions", "Anweisungen"),
    "profile": ("profile", "Profil"),
    "summary": ("summary", "Zusammenfassung"),
    "history": ("history", "Verlauf"),
    "question": ("question", "Frage"),
    "files": ("files", "Dateien"),
    "recalled": ("recalled", "Erinnertes"),
    "research": ("sources", "Quellen"),
    "reserve": ("reserved for the answer", "für die Antwort"),
}

_STATES: _Table = {
    "in": ("in the window", "im Fenster"),
    "shortened": ("shortened", "gekürzt"),
    "out": ("left out", "weggelassen"),
    "elsewhere": ("on another branch", "auf einem anderen Zweig"),
}

# What went wrong, or was not complete.
_NOTICES: _Table = {
    "not_searched": (
        "what was left out could not be searched for what the question points at",
        "was weggelassen ist, konnte nicht nach dem durchsucht werden, worauf die Frage zeigt",
    ),
    "not_noted": (
        "notes could not be written yet; they are kept, and tried again",
        "Notizen konnten noch nicht geschrieben werden; sie sind aufgehoben und werden erneut versucht",
    ),
    "not_recalled": (
        "memories could not be looked through in time for this question",
        "Erinnerungen konnten für diese Frage nicht rechtzeitig durchgesehen werden",
    ),
    "recalled_by_words": (
        "memories were looked for by words alone, not by meaning",
        "Erinnerungen wurden nur nach Wörtern gesucht, nicht nach Bedeutung",
    ),
    "held_back": (
        "memories are not sent to this model server; the setting memory_gate allows it",
        "Erinnerungen gehen nicht an diesen Modellserver; die Einstellung memory_gate erlaubt es",
    ),
    "profile_broken": (
        "the profile cannot be read; `holdfast profile show` says why",
        "das Profil ist nicht lesbar; `holdfast profile show` sagt, warum",
    ),
    "files_missing": (
        "a file that the question names could not be brought in as it was meant",
        "eine in der Frage genannte Datei konnte nicht wie gewünscht geholt werden",
    ),
    "sources_cut": (
        "not all of the sources had room in the window",
        "nicht alle Quellen hatten im Fenster Platz",
    ),
    "context_cut": (
        "not all of the context that came with the question had room in the window",
        "nicht der ganze Kontext zur Frage hatte im Fenster Platz",
    ),
    "sources_noted": (
        "of the sources only a summary had room in the window",
        "von den Quellen hatte im Fenster nur eine Zusammenfassung Platz",
    ),
    "sources_missing": (
        "nothing of the sources had room in the window",
        "von den Quellen hatte im Fenster nichts Platz",
    ),
    "not_kept": (
        "what was decided for the window before this one could not be written down",
        "was für das vorige Fenster entschieden wurde, konnte nicht festgehalten werden",
    ),
    "not_smaller": (
        "summarising did not make the window smaller: it is tried again once more has been said",
        "Zusammenfassen hat das Fenster nicht kleiner gemacht: neuer Versuch, wenn mehr gesagt ist",
    ),
}

# How a summary came about.
_WAYS: _Table = {
    "model": ("written by a model", "von einem Modell geschrieben"),
    "repaired": ("written by a model, mended once", "von einem Modell geschrieben, einmal nachgebessert"),
    "smaller": (
        "written by a model, in smaller portions",
        "von einem Modell geschrieben, in kleineren Teilen",
    ),
    "extractive": ("sentences chosen without a model", "Sätze ohne Modell ausgewählt"),
    "in passing": (
        "sentences chosen without a model, for want of time",
        "Sätze ohne Modell ausgewählt, weil keine Zeit war",
    ),
    "reused": ("a summary that was there already", "eine Zusammenfassung, die schon da war"),
}

_METHODS: _Table = {
    "exact": ("counted", "gezählt"),
    "estimate": ("estimated", "geschätzt"),
}


def rule(name: str) -> str:
    return _translate(_RULES, name)


def notice(name: str) -> str:
    return _translate(_NOTICES, name)


def cause(name: str) -> str:
    if name.startswith("level "):
        number = int(name.removeprefix("level "))
        return say(f"{level(number)} stepped in", f"{level(number)} hat eingegriffen")
    return _translate(_CAUSES, name)


def level(number: int) -> str:
    """Return the number of a level and what it does; the last resort has no number."""
    effect = say(*_LEVELS[number]) if number in _LEVELS else ""
    if number == LAST:
        return say(f"last resort ({effect})", f"letztes Mittel ({effect})")
    return say(f"level {number}", f"Stufe {number}") + (f" ({effect})" if effect else "")


def mark(name: str) -> str:
    return _translate(_MARKS, name)


def section(name: str) -> str:
    return _translate(_SECTIONS, name)


def state(name: str) -> str:
    return _translate(_STATES, name)


def method(name: str) -> str:
    return _translate(_METHODS, name)


def way(name: str) -> str:
    return _translate(_WAYS, name)


def number(amount: int) -> str:
    """Return a number with the thousands separator of the language."""
    spelled = f"{amount:,}"
    return say(spelled, spelled.replace(",", "."))


def percent_saved(before: int, after: int) -> int:
    """Return what a summary saves, in per cent rounded down."""
    return max(0, int(100 * (before - after) / before)) if before else 0


def banner(before: int, after: int) -> str:
    """Return the notice that is shown where the older part of a conversation became a summary."""
    tokens, share = f"{number(before)} → {number(after)}", percent_saved(before, after)
    return say(
        f"Context summarised: {tokens} tokens, {share} % saved",
        f"Kontext zusammengefasst: {tokens} Tokens, {share} % gespart",
    )


def _translate(table: _Table, name: str) -> str:
    return say(*table[name]) if name in table else name
