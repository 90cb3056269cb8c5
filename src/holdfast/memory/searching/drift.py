"""What became of memories whose files were read again: other words, gone, or merely somewhere else.

Compares what the index has of files with what they say now. Knows no files, and not who wants to hear of it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping

from holdfast.memory.base import News
from holdfast.memory.workspace.items import id_is_of_words
from holdfast.store import NotesOf, Store

# The words of notes by their names, for each file.
_FileTexts = Mapping[str, Mapping[str, str]]


def find_news(
    store: Store, places: Mapping[NotesOf, _FileTexts], unread: Callable[[], Collection[str]]
) -> dict[NotesOf, list[News]]:
    """What there is to tell of the notes in these places, whose files say this now.

    `unread` are the memories in files that have changed too and wait to be read: those only moved.
    """
    now = {file: notes for files in places.values() for file, notes in files.items()}
    before = store.passages.notes_in(now.keys())
    told: dict[NotesOf, list[News]] = {}
    lost: dict[tuple[NotesOf, str], str] = {}
    for place, files in places.items():
        for file, notes in files.items():
            for name, old in before.get(file, {}).items():
                if name not in notes:
                    lost[place, name] = old
                elif notes[name] != old:
                    told.setdefault(place, []).append(News(name, place.folder, notes[name]))
    others = store.passages.files_of({name for _, name in lost}) if lost else {}
    for (place, name), old in lost.items():
        there = {file: words for file, words in others.get(name, {}).items() if file not in now}
        there |= {file: notes[name] for file, notes in now.items() if name in notes}
        words = next(_current_texts(name, place, there), "")
        waits = not words and name in unread()
        if words != old and not waits:
            told.setdefault(place, []).append(News(name, place.folder, words))
    return told


def _current_texts(name: str, place: NotesOf, there: Mapping[str, str]) -> Iterator[str]:
    """What is said under this name now. An id made of words is another's own in another place."""
    for file, words in there.items():
        if not id_is_of_words(name) or file.startswith(f"{place.key}:"):
            yield words
