"""The wording of the names in reports and decisions, in English and German.

A name that is not in a table is returned as it is.
"""

import re
from collections.abc import Mapping

from holdfast.i18n import current_language, lazy, lazy_context, localize_number, translate
from holdfast.i18n import gettext as _
from holdfast.window.decisions import LAST
from holdfast.window.levels import ENTRY_SHARE, LONG, RESULT

_Table = Mapping[str, str]

# Why a message in the window differs from the log.
_RULES: _Table = {
    "clock": lazy("the time, told anew"),
    "profile": lazy("what is known of the person told"),
    "forgotten": lazy("without a memory that was forgotten"),
    "recalled": lazy("quotes from earlier added"),
    "context": lazy("sources for the question added"),
    "files": lazy("files that it names added"),
    "file_changed": lazy("an earlier state of a file that has changed"),
    "findings": lazy("what earlier research found added"),
    "research_new": lazy("sources of an earlier question, summed up as new ones came"),
    "entry": lazy(
        "tool result over {entry_share:.0f} % of the window, shortened as it came in",
        entry_share=ENTRY_SHARE * 100,
    ),
    "repeat": lazy("repeated later: only the newest stays whole"),
    "tool_result": lazy("old tool result cut to {result} tokens", result=RESULT),
    "file": lazy("file no longer talked about, shown as a digest"),
    "long": lazy("old message over {long} tokens cut to its beginning and end", long=LONG),
    "research": lazy("sources of an earlier question, summed up"),
    "recalled_old": lazy("quotes for earlier questions have left"),
    "recalled_full": lazy("older quotes made room for newer ones"),
    "relevance": lazy("left out: matters least to what is being talked about"),
    "summary": lazy("summarised"),
    "horizon": lazy("left out: too far back to be looked at"),
    "pin": lazy("brought back when it was pinned"),
    "earlier": lazy("left out in an earlier turn"),
    "last": lazy("last resort: it would not have fitted otherwise"),
    "thinking": lazy("without the thoughts of earlier turns"),
    "banner": lazy("without Holdfast's own notices"),
    "unreadable": lazy("arguments of a tool call were unfinished, and made readable"),
    "orphan": lazy("tool call and result do not belong together"),
}

# Why a request does not begin with the previous one. "level N" is composed in `cause`.
_CAUSES: _Table = {
    "first": lazy("this is the first request"),
    "tools": lazy("the client's tools changed"),
    "system": lazy("the instructions changed"),
    "profile": lazy("the profile changed"),
    "decisions": lazy("something was undone or decided anew"),
    "history": lazy("the client's history changed"),
    "horizon": lazy("a long history was looked at for the first time"),
    "recall": lazy("older quotes made room for newer ones"),
    "file": lazy("a file that was shown has changed"),
    "research": lazy("new sources took the place of older ones"),
    "thinking": lazy("the thoughts of the last turn left"),
}

_LEVELS: Mapping[int, str] = {
    0: lazy("nothing had to give way"),
    1: lazy("old text is shortened"),
    2: lazy("what matters least is left out"),
    3: lazy("older turns are summarised"),
    LAST: lazy("shortened until it fitted"),
}

# What begins at the threshold of a level.
_MARKS: _Table = {
    "1": lazy("shortening begins"),
    "2": lazy("leaving out begins"),
    "3 ahead": lazy("summarising while idle begins"),
    "3": lazy("summarising at once begins"),
}

_SECTIONS: _Table = {
    "tools": lazy("tools"),
    "system": lazy("instructions"),
    "profile": lazy("profile"),
    "summary": lazy("summary"),
    "history": lazy("history"),
    "question": lazy("question"),
    "files": lazy("files"),
    "recalled": lazy_context("section of a window", "recalled"),
    "research": lazy("sources"),
    "reserve": lazy("reserved for the answer"),
}

_STATES: _Table = {
    "in": lazy("in the window"),
    "shortened": lazy("shortened"),
    "out": lazy("left out"),
    "elsewhere": lazy("on another branch"),
}

# What went wrong, or was not complete.
_NOTICES: _Table = {
    "not_searched": lazy("earlier messages could not be searched for the question"),
    "not_noted": lazy("notes could not be written yet; they are kept, and tried again"),
    "not_recalled": lazy("memories could not be looked through in time for this question"),
    "recalled_in_part": lazy(
        "earlier conversations are still being indexed: only a part of them was searched"
    ),
    "recalled_by_words": lazy(
        "memories were looked for by words alone, not by meaning; `holdfast doctor` says why"
    ),
    "held_back": lazy("memories are not sent to this model server; the setting memory_gate allows it"),
    "profile_broken": lazy("the profile cannot be read; `holdfast profile show` says why"),
    "files_missing": lazy("a file that the question names could not be brought in as it was meant"),
    "sources_cut": lazy("not all of the sources had room in the window"),
    "context_cut": lazy("not all of the context that came with the question had room in the window"),
    "sources_noted": lazy("of the sources only a summary had room in the window"),
    "sources_missing": lazy("nothing of the sources had room in the window"),
    "not_kept": lazy("the decisions for the previous window could not be saved"),
    "not_smaller": lazy(
        "summarising did not make the window smaller: it is tried again once more has been said"
    ),
}

# How a summary came about.
_WAYS: _Table = {
    "model": lazy("written by a model"),
    "repaired": lazy("written by a model, mended once"),
    "smaller": lazy("written by a model, in smaller portions"),
    "extractive": lazy("sentences chosen without a model"),
    "in passing": lazy("sentences chosen without a model, for want of time"),
    "reused": lazy("a summary that was there already"),
}

# Why a decision was made, and what tokens were counted by. They are stored in English.
_REASONS = (
    lazy("history had {used} of {full} tokens"),
    lazy("the request had {used} of {full} tokens"),
    lazy("only {number} messages further on is there room"),
    lazy("ahead of need"),
    lazy("somebody asked for it"),
    lazy("history was nearly full"),
    lazy("it stood in another window"),
    lazy("a memory was forgotten or corrected"),
    lazy("it bears on the question"),
    lazy("the profile changed"),
    lazy("there is a profile"),
    lazy("the usual prices of text"),
    lazy("the prices of {family}"),
)

_METHODS: _Table = {
    "exact": lazy("counted"),
    "estimate": lazy("estimated"),
}


def rule(name: str) -> str:
    return _translate(_RULES, name)


def notice(name: str) -> str:
    return _translate(_NOTICES, name)


def cause(name: str) -> str:
    if name.startswith("level "):
        number = int(name.removeprefix("level "))
        return _("{level} stepped in").format(level=level(number))
    return _translate(_CAUSES, name)


def level(number: int) -> str:
    """Return the number of a level and what it does; the last resort has no number."""
    effect = translate(_LEVELS[number]) if number in _LEVELS else ""
    if number == LAST:
        return _("last resort ({effect})").format(effect=effect)
    return _("level {number}").format(number=number) + (f" ({effect})" if effect else "")


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


def reason(text: str) -> str:
    """Translate the reason of a decision, or by whom tokens were counted; one that is not known stays."""
    if current_language() == "en":
        return text
    for message in _REASONS:
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(message))
        if match := re.fullmatch(pattern, text):
            values = {name: localize_number(value) for name, value in match.groupdict().items()}
            return translate(message).format(**values)
    return text


def number(amount: int) -> str:
    """Return a number with the thousands separator of the language."""
    spelled = f"{amount:,}"
    return localize_number(spelled)


def percent_saved(before: int, after: int) -> int:
    """Return what a summary saves, in per cent rounded down."""
    return max(0, int(100 * (before - after) / before)) if before else 0


def banner(before: int, after: int) -> str:
    """Return the notice that is shown where the older part of a conversation became a summary."""
    if before <= after:
        return _("Context summarised: {after} tokens stand for what left the window earlier").format(
            after=number(after)
        )
    tokens, share = f"{number(before)} → {number(after)}", percent_saved(before, after)
    return _("Context summarised: {tokens} tokens, {share} % saved").format(tokens=tokens, share=share)


def _translate(table: _Table, name: str) -> str:
    return translate(table[name]) if name in table else name
