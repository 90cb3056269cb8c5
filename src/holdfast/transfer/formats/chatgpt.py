"""ChatGPT's export: conversations.json alone, in a folder, or in the zip as it came; with the pictures in it.

Each conversation is a table of nodes that name their parents, so edited questions and repeated answers are
branches. What a node says is read in `chatgpt_nodes`. Knows no store.
"""

import base64
import mimetypes
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from holdfast.errors import BadRequest
from holdfast.language import say
from holdfast.messages import Image
from holdfast.transfer.formats.chatgpt_nodes import Nodes, Picture
from holdfast.transfer.reading import (
    LARGEST_PICTURE,
    Files,
    Unreadable,
    elements,
    parsed,
    plain,
    seconds,
    tail,
    text_of,
)
from holdfast.transfer.sources import Item, Saying, Skipped, Source, Talk, Trouble

KIND = "chatgpt"

# Large exports come in several files.
_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")
_MEMORIES = re.compile(r"(?:saved_)?memor(?:y|ies)\.json")
_BEGINNING = 4_096


def looks_like(path: Path) -> bool:
    if path.suffix.lower() == ".json" and path.is_file():
        with path.open("rb") as opened:
            return b'"mapping"' in opened.read(_BEGINNING)
    if not path.is_dir() and path.suffix.lower() != ".zip":
        return False
    with closing(Files(path)) as files:
        return any(_CONVERSATIONS.fullmatch(tail(name)) for name in files.names())


def read(paths: Sequence[Path]) -> Source:
    path = paths[0]
    files = Files(path)
    names = files.names()
    found = [name for name in names if _CONVERSATIONS.fullmatch(tail(name))]
    if not found and path.suffix.lower() == ".json" and path.is_file():
        found = names
    if not found:
        files.close()
        raise BadRequest(
            say(f"There is no conversations.json in {path}.", f"In {path} ist keine conversations.json."),
            hint=say(
                "Name the zip that OpenAI sent, the folder it was unpacked to, or that file.",
                "Das Zip von OpenAI nennen, den entpackten Ordner, oder diese Datei.",
            ),
        )
    return Source(KIND, _items(files, names, found), sum(_roughly(files, name) for name in found))


def _roughly(files: Files, name: str) -> int:
    """How many conversations there are, seen without reading them: each has one such table."""
    try:
        return files.read(name).count(b'"mapping"')
    except Unreadable:
        return 0


def _items(files: Files, names: Sequence[str], found: Sequence[str]) -> Iterator[Item]:
    with closing(files):
        pictures = _Pictures(files, names)
        for name in found:
            try:
                for number, value in enumerate(elements(text_of(files.read(name))), 1):
                    yield from conversation(f"{name}, {number}", value, pictures.of)
            except Unreadable as error:
                yield Trouble(name, str(error))
        for name in names:
            if _MEMORIES.fullmatch(tail(name)):
                yield from _memories(files, name)


def conversation(place: str, value: Any, picture: Picture) -> Iterator[Item]:
    """What one entry of the export comes to, whatever is in it."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        yield Trouble(place, say("it has no table of messages", "ohne Tabelle der Nachrichten"))
        return
    key = plain(value.get("conversation_id") or value.get("id"))
    title = " ".join(plain(value.get("title")).split())
    place = f"{place} ({title})" if title else place
    if not key:
        yield Trouble(place, say("it has no id", "ohne Id"))
        return
    began = seconds(value.get("create_time"))
    nodes = Nodes(value["mapping"], began, picture)
    for one in nodes.broken:
        yield Trouble(
            f"{place}, {one}",
            say(
                "what it follows is not there, or follows it: it begins a branch of its own",
                "worauf es folgt, fehlt oder folgt ihm: beginnt einen eigenen Zweig",
            ),
        )
    for trouble in nodes.troubles:
        yield Trouble(place, trouble)
    turns = nodes.turns
    if turns:
        head = nodes.nearest(plain(value.get("current_node"))) or turns[-1].key
        last = seconds(value.get("update_time"), turns[-1].at)
        yield Talk(key, title, turns, head, began or turns[0].at, max(last, began))
    else:
        yield Skipped(place, say("there are no words in it", "ohne Worte"))
    for text, at in nodes.remembered:
        yield Saying(text, "fact", at, key if turns else "")


def _memories(files: Files, name: str) -> Iterator[Item]:
    try:
        value = parsed(text_of(files.read(name)))
    except Unreadable as error:
        yield Trouble(name, str(error))
        return
    listed = value.get("memories") if isinstance(value, dict) else value
    for number, one in enumerate(listed if isinstance(listed, list) else (), 1):
        entry: Mapping[str, Any] = one if isinstance(one, dict) else {"content": one}
        text = plain(entry.get("content") or entry.get("text") or entry.get("memory"))
        if text.strip():
            at = seconds(entry.get("updated_at"), seconds(entry.get("created_at")))
            yield Saying(text.strip(), "fact", at)
        else:
            yield Trouble(f"{name}, {number}", say("there are no words in it", "ohne Worte"))


class _Pictures:
    """The pictures that came with an export, by the ids that messages call them."""

    def __init__(self, files: Files, names: Sequence[str]) -> None:
        self._files = files
        self._names = [name for name in names if (mimetypes.guess_type(name)[0] or "").startswith("image/")]

    def of(self, pointer: str) -> Image | None:
        name = pointer.rpartition("/")[2]
        found = next((one for one in self._names if name and tail(one).startswith(name)), None)
        if found is None:
            return None
        content = self._files.read(found, LARGEST_PICTURE)
        kind = mimetypes.guess_type(found)[0] or "image/png"
        return Image(data=base64.b64encode(content).decode(), media_type=kind)
