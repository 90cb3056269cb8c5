"""A conversation as one Markdown file, for reading. What is there already is never written over."""

from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.changes import speaker_label
from holdfast.cli.output import format_time
from holdfast.errors import BadRequest, HoldfastError
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.fitting.reading import Reading
    from holdfast.store import Conversation, Store


def save_markdown(store: "Store", row: "Conversation", name: str) -> Path:
    from holdfast.fitting.reading import reading_of

    place = Path(name).expanduser()
    text = render_markdown(reading_of(store, row))
    try:
        with place.open("x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError:
        raise BadRequest(
            say(f"{place} is there already.", f"{place} gibt es schon."),
            hint=say("Name another file.", "Eine andere Datei nennen."),
        ) from None
    except OSError as error:
        raise HoldfastError(
            say(f"{place} could not be written: {error.strerror}.", f"{place}: {error.strerror}."),
            hint=say("Name another file.", "Eine andere Datei nennen."),
        ) from None
    return place


def render_markdown(reading: "Reading") -> str:
    """Who said what, and where the older part became a summary."""
    row = reading.conversation
    pieces = [f"# {row.title or row.id}", f"{row.id} · {format_time(row.created_at)}"]
    for stored in reading.path:
        message = stored.message
        cut = say(" (cut off)", " (abgebrochen)") if stored.finish == "cut" else ""
        pieces.append(f"## {speaker_label(message.role)}{cut}")
        if message.text:
            pieces.append(message.text)
        pieces += [f"`{call.name}({call.arguments})`" for call in message.tool_calls]
        pieces += [f"*{banner.text}*" for banner in reading.banners.get(stored.id, ())]
    return "\n\n".join(pieces) + "\n"
