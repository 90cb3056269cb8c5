"""What becomes of texts that were put behind earlier questions: files, sources, quotes.

Each is there whole while it is needed, and shrinks to what a reader would note down. Pure: what a file or a
finding comes to when it is short was made elsewhere, and stands in the decision or comes with the draft.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from holdfast.window.decisions import BEGINNING, Addition, Proposal, Section
from holdfast.window.shorten import shorten
from holdfast.window.view import View

# What is left of sources that nobody summed up.
SOURCE_TOKENS = 100
# What does not shrink by a tenth is left as it is.
WORTH = 0.9
# A file stays whole while one of so many messages, the newest, mentions it.
MENTIONED_IN = 3

# How a part of a file is called: by its name, its lines, a word in it; or a folder by how it is shown.
_PART = re.compile(r":(?=(?:name|lines|search):|(?:list|tree)$)")
# A text behind an earlier question: the name of its message, and what it is.
PlacedAddition = tuple[str, Addition]


def shrink_files(view: View) -> list[Proposal]:
    """Files that nobody talks about any more become digests; of a file that came again, the newest stays."""
    placed = list(earlier_additions(view, "files"))
    talk = " ".join(shown.item.message.text for shown in view.shown[-MENTIONED_IN:])
    every = (one for shown in view.shown for one in shown.additions if one.section == "files")
    newest = {file_of(one.name): one for one in every}
    again = [pair for pair in placed if is_superseded(pair[1], newest[file_of(pair[1].name)])]
    rest = [pair for pair in placed if pair not in again and pair[1].short]
    old = [pair for pair in rest if not is_mentioned(pair[1].name, talk)]
    return [
        *propose_replacement(
            view, again, {one.decision: further_down(one.name) for _, one in again}, "repeat"
        ),
        *propose_replacement(view, old, {one.decision: one.short for _, one in old}, "file"),
    ]


def shrink_research(view: View) -> list[Proposal]:
    """What was found for earlier questions is noted down, not quoted."""
    return _propose_notes(view, list(earlier_additions(view, "research")), "research")


def shrink_findings(view: View) -> list[Proposal]:
    """The same at once for what has a note: new sources came, and two sets of them are seldom needed."""
    return _propose_notes(
        view, [pair for pair in earlier_additions(view, "research") if pair[1].name], "research_new"
    )


def _propose_notes(view: View, placed: Sequence[PlacedAddition], rule: str) -> list[Proposal]:
    def note(one: Addition) -> str:
        known = view.draft.notes.get(one.name) or one.short
        return known or (one.text if one.name else shorten(one.text, SOURCE_TOKENS, view.text_tokens))

    return propose_replacement(view, placed, {one.decision: note(one) for _, one in placed}, rule)


def drop_quotes(view: View) -> list[Proposal]:
    """What was brought back for earlier questions has done its work; in a batch its going costs nothing."""
    placed = [pair for pair in earlier_additions(view, "recalled") if pair[1].name != BEGINNING]
    return propose_replacement(
        view, placed, dict.fromkeys((one.decision for _, one in placed), ""), "recalled_old"
    )


def replace_outdated_files(view: View, tags: Mapping[str, str]) -> list[Proposal]:
    """What was shown of files that have changed since, as their tags say: the question brings them anew."""
    placed = earlier_additions(view, "files")
    old = [pair for pair in placed if tags.get(file_of(pair[1].name), pair[1].tag) != pair[1].tag]
    return propose_replacement(
        view, old, {one.decision: further_down(one.name) for _, one in old}, "file_changed"
    )


def covers(addition: Addition, text: str) -> bool:
    """Whether a file is shown with the same words, or as the whole that these are a part or a digest of."""
    body = _body(text)
    return body in addition.text or (bool(addition.short) and body == _body(addition.short))


def _body(text: str) -> str:
    """Without the heading."""
    return text.partition("\n")[2] or text


def file_of(name: str) -> str:
    """The file of which something is a part."""
    return _PART.split(name, maxsplit=1)[0]


def is_superseded(one: Addition, newest: Addition) -> bool:
    """Whether the newest of a file says all that an older one does, or better."""
    return newest is not one and (one.tag != newest.tag or covers(newest, one.text))


def is_mentioned(file: str, talk: str) -> bool:
    """Whether a file is spoken of, by its path or by its name alone."""
    # One letter may be spelled in two ways, on a disk and by a keyboard.
    name, said = (unicodedata.normalize("NFC", text) for text in (file_of(file), talk))
    alone = re.escape(name.rstrip("/").rpartition("/")[2])
    return bool(alone) and re.search(rf"(?<![\w.-]){alone}(?![\w-]|\.\w)", said) is not None


def further_down(name: str) -> str:
    return f"[{name}: further down]"


def earlier_additions(view: View, section: Section) -> Iterator[PlacedAddition]:
    """What is there of a section, but for what stands behind the question that is to be answered."""
    vetoed = view.vetoed("replace")
    for shown in view.shown:
        if shown.item is not view.question and shown.item.id not in vetoed:
            yield from (
                (shown.item.id, one) for one in shown.additions if one.section == section and one.decision
            )


def propose_replacement(
    view: View, placed: Sequence[PlacedAddition], texts: Mapping[str, str], rule: str
) -> list[Proposal]:
    """One decision for all of these that get smaller by a tenth."""
    names, instead, before, after = [], {}, 0, 0
    for name, one in placed:
        tokens, left = view.text_tokens(one.text), view.text_tokens(texts[one.decision])
        if left < tokens * WORTH:
            instead[one.decision] = texts[one.decision]
            names.append(name)
            before, after = before + tokens, after + left
    if not instead:
        return []
    return [Proposal("replace", rule, tuple(dict.fromkeys(names)), before, after, data={"instead": instead})]
