"""Files that a question points at: read, and put behind it as they are now, each in a window once.

What a reference becomes is known in `files`, when a file becomes a digest in `window`. Here it is decided
what the window needs of it: a file that is there whole is not brought again, one that was shortened or has
left comes back when it is spoken of, and one that has changed takes the place of what was shown before.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.files.roots import Roots
from holdfast.fitting.case import Along
from holdfast.messages import OURS, ChatRequest, JsonObject, Message, Text
from holdfast.store import Lane, Store, new_id
from holdfast.window.additions import covers, file_of, is_mentioned, propose_addition, replace_outdated_files
from holdfast.window.decisions import Addition, Proposal, Section
from holdfast.window.items import Item
from holdfast.window.view import View

if TYPE_CHECKING:
    from holdfast.files.attach import AttachedFile

RULE: Section = "files"

_CHANGED = "[changed since it was last shown]"
_GONE = "[no longer to be read; this is how it was]"


async def pointed_at(request: ChatRequest, roots: Roots) -> tuple["AttachedFile", ...]:
    """The files of a request's question, read."""
    newest = request.messages[-1] if request.messages else None
    if newest is None or newest.role != "user" or "@" not in newest.text:
        return ()
    # Late: few questions point at files.
    from holdfast.files.attach import attach_files_async

    return tuple(await attach_files_async(_said(newest), roots))


def _said(message: Message) -> str:
    """What was attached is not what the person says."""
    return "".join(part.text for part in message.parts if isinstance(part, Text) and OURS not in part.extra)


def files_for(store: Store, view: View, question: Item, conversation: str, along: Along) -> list[Proposal]:
    """The decisions that bring files in; none where that is done already, or nothing is pointed at."""
    text, roots, named = _said(question.message), along.files, along.brought
    there = [one for shown in view.shown for one in shown.additions if one.section == RULE]
    of_question = (shown for shown in view.shown if shown.item is question)
    if any(one.section == RULE for shown in of_question for one in shown.additions):
        return []
    wanted = [*named, *_spoken_of(store, text, conversation, named, there, roots)]
    needed = [one for one in wanted if not any(_has(shown, one) for shown in there)]
    tags = {file_of(one.name): one.hash for one in needed if one.hash}
    before = {file_of(one.name): one.tag for one in there if one.tag}
    changed = {name for name, tag in before.items() if tags.get(name, tag) != tag}
    return [
        *replace_outdated_files(view, tags),
        *(_added(view, question, one, changed=file_of(one.name) in changed) for one in needed),
    ]


def files_in(view: View) -> list[JsonObject]:
    """The files of a window, each with the message that brought it, how much of it is there, and trouble."""
    rows: list[JsonObject] = []
    made = {one.id: one for one in view.decisions if one.rule == RULE}
    for shown in view.shown:
        for one in shown.additions:
            if one.section == RULE and one.decision in made:
                data = made[one.decision].data
                rows.append(
                    {
                        "name": one.name,
                        "message": shown.item.id,
                        "newest": shown.item is view.question,
                        "mode": data["mode"],
                        "shortened": one.text != data["text"],
                        "tokens": view.text_tokens(one.text),
                        "size": data["size"],
                        "changed": data["changed"],
                        "trouble": data["trouble"],
                    }
                )
    return rows


def files_of(store: Store, lane: Lane) -> list[JsonObject]:
    """Which message brought which file into a lane, in which mode and with how many tokens, oldest first.

    `state` is how it stands in the window that was last sent: whole, short, or out of it.
    """
    shown = {
        (row["id"], one.get("name")): one["text"]
        for row in lane.report.get("messages", ())
        for one in row.get("added", ())
    }
    rows: list[JsonObject] = []
    every = store.decisions.by_rule(lane.conversation, RULE)
    for made in (one for one in every if one.lane == lane.id):
        data, message = made.data, made.messages[0]
        text = shown.get((message, data["name"]))
        state = "out" if text is None else "whole" if text == data["text"] else "short"
        told = {name: data[name] for name in ("name", "path", "mode", "size", "reference", "trouble")}
        rows.append(
            {
                **told,
                "message": message,
                "tokens": made.tokens_after,
                "hash": data["tag"],
                "state": state,
                "at": made.created_at,
            }
        )
    return rows


def _spoken_of(
    store: Store,
    text: str,
    conversation: str,
    named: Sequence["AttachedFile"],
    there: Sequence[Addition],
    roots: Roots | None,
) -> list["AttachedFile"]:
    """Files that were here before and are called by their name again: as they are now, if they may be read.

    What the window has whole is looked at once more only to see whether it has changed.
    """
    known = store.decisions.by_rule(conversation, RULE)
    newest: dict[str, JsonObject] = {}
    for data in (one.data for one in known if not one.data["trouble"]):
        # What was brought short is no reason to forget that it was there whole.
        if data["short"] or data["name"] not in newest:
            newest[data["name"]] = data
    asked = {file_of(one.name) for one in named}
    spoken = [
        data for name, data in newest.items() if file_of(name) not in asked and is_mentioned(name, text)
    ]
    whole = {one.name for one in there if one.short}
    found = [_again(data, roots) for data in spoken if roots is not None or data["name"] not in whole]
    full = {file_of(one.name) for one in found if one.mode == "full"}
    return [one for one in found if one.mode == "full" or file_of(one.name) not in full]


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
    """Whether the window has it already, as it is now."""
    same = file_of(shown.name) == file_of(file.name)
    return same and shown.tag == file.hash and covers(shown, file.text)


def _added(view: View, question: Item, file: "AttachedFile", *, changed: bool) -> Proposal:
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
        trouble=(file.trouble, file.trouble_de) if file.trouble else (),
    )
