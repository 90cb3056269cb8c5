"""Puts what a question brings along into the window: files it points at and texts the client gives."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.context.findings import READABLE, room_for_sources
from holdfast.context.loading import Attachments
from holdfast.files.roots import Roots
from holdfast.i18n import in_all_languages
from holdfast.messages import OURS, ChatRequest, JsonObject, Message, Text, canonical
from holdfast.store import Store, new_id
from holdfast.store.values import LaneRecord
from holdfast.text.excerpts import bearing, excerpts
from holdfast.window.additions import (
    SOURCE_TOKENS,
    covers,
    file_of,
    format_sources,
    is_mentioned,
    propose_addition,
    replace_outdated_files,
)
from holdfast.window.decisions import Addition, Proposal, Section
from holdfast.window.items import Item
from holdfast.window.shorten import marker
from holdfast.window.view import View

if TYPE_CHECKING:
    from holdfast.files.attach import AttachedFile

RULE: Section = "files"

_CHANGED = "[changed since it was last shown]"
_GONE = "[no longer to be read; this is how it was]"


async def read_named_files(request: ChatRequest, roots: Roots) -> tuple["AttachedFile", ...]:
    """The files of a request's question, read."""
    newest = request.messages[-1] if request.messages else None
    if newest is None or newest.role != "user" or "@" not in newest.text:
        return ()
    # Late: few questions point at files.
    from holdfast.files.attach import attach_files_async

    return tuple(await attach_files_async(_typed_text(newest), roots))


def _typed_text(message: Message) -> str:
    """What was attached is not what the person says."""
    return "".join(part.text for part in message.parts if isinstance(part, Text) and OURS not in part.extra)


def files_for(
    store: Store, view: View, question: Item, conversation: str, attachments: Attachments
) -> list[Proposal]:
    """The decisions that bring files in; none where that is done already, or nothing is pointed at."""
    text, roots, named = _typed_text(question.message), attachments.files, attachments.brought
    additions = [addition for shown in view.shown for addition in shown.additions if addition.section == RULE]
    of_question = (shown for shown in view.shown if shown.item is question)
    if any(addition.section == RULE for shown in of_question for addition in shown.additions):
        return []
    wanted = [*named, *_files_mentioned(store, text, conversation, named, additions, roots)]
    needed = [addition for addition in wanted if not any(_has(shown, addition) for shown in additions)]
    tags = {file_of(addition.name): addition.hash for addition in needed if addition.hash}
    before = {file_of(addition.name): addition.tag for addition in additions if addition.tag}
    changed = {name for name, tag in before.items() if tags.get(name, tag) != tag}
    return [
        *replace_outdated_files(view, tags),
        *(
            _propose_file(view, question, addition, changed=file_of(addition.name) in changed)
            for addition in needed
        ),
    ]


def files_in(view: View) -> list[JsonObject]:
    """The files of a window, each with the message that brought it, how much of it is there, and trouble."""
    rows: list[JsonObject] = []
    decisions = {decision.id: decision for decision in view.decisions if decision.rule == RULE}
    for shown in view.shown:
        for file in shown.additions:
            if file.section == RULE and file.decision in decisions:
                data = decisions[file.decision].data
                rows.append(
                    {
                        "name": file.name,
                        "message": shown.item.id,
                        "newest": shown.item is view.question,
                        "mode": data["mode"],
                        "shortened": file.text != data["text"],
                        "tokens": view.text_tokens(file.text),
                        "size": data["size"],
                        "changed": data["changed"],
                        "trouble": data["trouble"],
                    }
                )
    return rows


def files_of(store: Store, lane: LaneRecord) -> list[JsonObject]:
    """Which message brought which file into a lane, in which mode and with how many tokens, oldest first.

    `state` is how it stands in the window that was last sent: whole, short, or out of it.
    """
    shown = {
        (row["id"], addition.get("name")): addition["text"]
        for row in lane.report.get("messages", ())
        for addition in row.get("added", ())
    }
    rows: list[JsonObject] = []
    every = store.decisions.by_rule(lane.conversation, RULE)
    for decision in every:
        if decision.lane != lane.id:
            continue
        data, message = decision.data, decision.messages[0]
        text = shown.get((message, data["name"]))
        state = "out" if text is None else "whole" if text == data["text"] else "short"
        row = {name: data[name] for name in ("name", "path", "mode", "size", "reference", "trouble")}
        rows.append(
            {
                **row,
                "message": message,
                "tokens": decision.tokens_after,
                "hash": data["tag"],
                "state": state,
                "at": decision.created_at,
            }
        )
    return rows


def _files_mentioned(
    store: Store,
    text: str,
    conversation: str,
    named: Sequence["AttachedFile"],
    additions: Sequence[Addition],
    roots: Roots | None,
) -> list["AttachedFile"]:
    """Files that were here before and are called by their name again: as they are now, if they may be read.

    What the window covers whole is looked at once more only to see whether it covers changed.
    """
    known = store.decisions.by_rule(conversation, RULE)
    newest: dict[str, JsonObject] = {}
    for data in (decision.data for decision in known if not decision.data["trouble"]):
        # What was brought short is no reason to forget that it was there whole.
        if data["short"] or data["name"] not in newest:
            newest[data["name"]] = data
    asked = {file_of(addition.name) for addition in named}
    spoken = [
        data for name, data in newest.items() if file_of(name) not in asked and is_mentioned(name, text)
    ]
    whole = {addition.name for addition in additions if addition.short}
    files = [_again(data, roots) for data in spoken if roots is not None or data["name"] not in whole]
    full = {file_of(addition.name) for addition in files if addition.mode == "full"}
    return [addition for addition in files if addition.mode == "full" or file_of(addition.name) not in full]


def _again(data: JsonObject, roots: Roots | None) -> "AttachedFile":
    """The file as it is now where it may be read, else as it was."""
    from holdfast.files.attach import AttachedFile, attach_files

    text = data["text"]
    if roots is not None and data["reference"]:
        now = attach_files(f"@{data['reference']}", replace(roots, pasted=""))
        if now and not now[0].trouble:
            return replace(now[0], name=data["name"])
        text = f"{_GONE}\n{text}"
    return AttachedFile(
        data["path"],
        data["mode"],
        text,
        data["short"],
        data["tag"],
        data["size"],
        name=data["name"],
        reference=data["reference"],
    )


def _has(shown: Addition, file: "AttachedFile") -> bool:
    """Whether the window covers it already, as it is now."""
    same = file_of(shown.name) == file_of(file.name)
    return same and shown.tag == file.hash and covers(shown, file.text)


def _propose_file(view: View, question: Item, file: "AttachedFile", *, changed: bool) -> Proposal:
    return propose_addition(
        view,
        question,
        RULE,
        f"{_CHANGED}\n{file.text}" if changed else file.text,
        new_id("d"),
        name=file.name,
        tag=file.hash,
        short=file.digest,
        path=file.path,
        mode=file.mode,
        reference=file.reference,
        size=file.size,
        changed=changed,
        trouble=tuple(in_all_languages(file.trouble)) if file.trouble else (),
    )


# A text with this share of what the best one covers to say bears on the question, too.
_BEARS = 0.35


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is shown of each text, by its place; what is not there is left out."""

    shown: dict[int, str]
    left_out: int


def context_for(view: View, question: Item, texts: Sequence[str]) -> list[Proposal]:
    """The decision that puts these texts behind a question; none where that was done before."""
    tag = hashlib.sha256(canonical(list(texts)).encode()).hexdigest()[:16]
    additions = (addition for shown in view.shown if shown.item is question for addition in shown.additions)
    if not texts or any(addition.section == "research" and addition.tag == tag for addition in additions):
        return []
    text, cut = _text(view, question, texts, room_for_sources(view))
    # When the talk covers gone on, a few lines of it are enough.
    short, _ = _text(view, question, texts, SOURCE_TOKENS)
    more = {"cut": "context_cut"} if cut else {}
    return [propose_addition(view, question, "research", text, new_id("d"), tag=tag, short=short, **more)]


def _text(view: View, question: Item, texts: Sequence[str], room: int) -> tuple[str, bool]:
    """The texts within so many tokens, and whether anything of them is missing."""
    whole = format_sources(question.message, texts)
    if (tokens := view.text_tokens(whole)) <= room:
        return whole, False
    frame = view.text_tokens(format_sources(question.message, [marker(tokens)]))
    choice = _choose_texts(view, question.message.text, texts, room - frame)
    shown = [text for _, text in sorted(choice.shown.items())]
    return format_sources(question.message, [*shown, marker(choice.left_out)]), True


def _choose_texts(view: View, asked: str, texts: Sequence[str], room: int) -> _Choice:
    """Whole texts first, those that bear on the question most; passages of what is too long for that."""
    count = view.text_tokens
    # Each is parted from the next by an empty line.
    costs = [count(f"{text}\n\n") for text in texts]
    worth = bearing(asked, texts)
    ranked = sorted(range(len(texts)), key=lambda at: (-worth[at], at))
    about = [at for at in ranked if worth[at] and worth[at] >= _BEARS * worth[ranked[0]]]
    shown: dict[int, str] = {}
    left = room

    def quote(at: int, most: int) -> None:
        nonlocal left
        (text,) = excerpts(asked, [texts[at]], most, count)
        if text:
            shown[at] = text
            left -= count(f"{text}\n\n")

    def show_whole(places: Sequence[int]) -> None:
        nonlocal left
        for at in places:
            if at not in shown and costs[at] <= left:
                shown[at] = texts[at]
                left -= costs[at]

    if costs[ranked[0]] > room:
        # The best of them is not left out because it is long; where it is all there is, it may have all.
        quote(ranked[0], room // 2 if len(about) > 1 else room)
    show_whole(about)
    for at in about:
        if at not in shown and left >= READABLE:
            quote(at, left)
    show_whole(ranked)
    return _Choice(shown, max(1, sum(costs) - (room - left)))
