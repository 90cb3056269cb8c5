"""What became of memories whose files were read again: other words, gone, or merely somewhere else.

Compares what the index has of files with what they say now. Knows no files, and not who wants to hear of it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping

from holdfast.memory.base import MemoryNews
from holdfast.memory.items import has_content_id
from holdfast.store import NotesFolder, Store

# The words of notes by their names, for each file.
Files = Mapping[str, Mapping[str, str]]


def news_of(
    store: Store, places: Mapping[NotesFolder, Files], unread: Callable[[], Collection[str]]
) -> dict[NotesFolder, list[MemoryNews]]:
    """What there is to tell of the notes in these places, whose files say this now.

    `unread` are the memories in files that have changed too and wait to be read: those only moved.
    """
    now = {file: notes for files in places.values() for file, notes in files.items()}
    before = store.passages.notes_in(now.keys())
    told: dict[NotesFolder, list[MemoryNews]] = {}
    lost: dict[tuple[NotesFolder, str], str] = {}
    for place, files in places.items():
        for file, notes in files.items():
            for name, old in before.get(file, {}).items():
                if name not in notes:
                    lost[place, name] = old
                elif notes[name] != old:
                    told.setdefault(place, []).append(MemoryNews(name, place.folder, notes[name]))
    others = store.passages.files_of({name for _, name in lost}) if lost else {}
    for (place, name), old in lost.items():
        there = {file: words for file, words in others.get(name, {}).items() if file not in now}
        there |= {file: notes[name] for file, notes in now.items() if name in notes}
        words = next(_standing(name, place, there), "")
        waits = not words and name in unread()
        if words != old and not waits:
            told.setdefault(place, []).append(MemoryNews(name, place.folder, words))
    return told


def _standing(name: str, place: NotesFolder, there: Mapping[str, str]) -> Iterator[str]:
    """What is said under this name now. An id made of words is another's own in another place."""
    for file, words in there.items():
        if not has_content_id(name) or file.startswith(f"{place.key}:"):
            yield words
