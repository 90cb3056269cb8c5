"""The list of a bucket: what is known of it while several ask, write and are answered in any order."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backends.s3 import OLDEST, REST, ObjectList
from holdfast.errors import StoreError
from holdfast.memory.workspace import ABSENT, NoteEntry, is_below

A = PurePosixPath("a.md")


def entry(path, tag="1"):
    return NoteEntry(PurePosixPath(path), 1, 0.0, tag)


class Server:
    """Entries that can be listed, unless it is away; `meanwhile` happens while it does."""

    def __init__(self, *entries):
        self.entries = list(entries)
        self.now, self.asked, self.away = 0.0, 0, False
        self.meanwhile = lambda: None
        self.told = []
        self.listing = ObjectList(
            self.look, lambda results: self.told.append(list(results)), lambda: self.now
        )

    def look(self):
        self.asked += 1
        if self.away:
            raise StoreError("It is away.")
        entries = list(self.entries)
        self.meanwhile()
        return entries


def tags(listing, place=""):
    return {str(item.path): item.tag for item in listing.list_below(PurePosixPath(place))}


def test_late_response_does_not_override_newer_entry():
    listing = Server(entry("a.md", "old")).listing
    listing.find(A)
    before = listing.tag(A)
    # Somebody writes while somebody else still waits for what there was.
    assert listing.record(A, entry("a.md", "new"), before)
    assert not listing.record(A, entry("a.md", "old"), before)
    assert tags(listing) == {"a.md": "new"}


def test_writes_during_listing_are_included_in_it():
    server = Server(entry("a.md", "old"), entry("b.md"))
    listing = server.listing

    def write():
        listing.record(A, entry("a.md", "new"), listing.tag(A))
        listing.record(PurePosixPath("b.md"), None, listing.tag(PurePosixPath("b.md")))

    listing.find(A)
    server.meanwhile = write
    server.now += OLDEST + 1
    assert tags(listing) == {"a.md": "new"}


def test_unavailable_server_is_retried_only_after_pause():
    server = Server(entry("a.md"))
    server.away = True
    for _ in range(3):
        with pytest.raises(StoreError):
            server.listing.find(A)
    assert server.asked == 1
    server.away = False
    server.now += REST + 1
    assert server.listing.find(A) == entry("a.md")
    server.away = True
    server.now += OLDEST + 1
    assert tags(server.listing, "x").keys() == {"x/*.md"}
    # Whoever is answered knows that it is back, and nobody has to rest any longer.
    server.away, server.entries = False, [entry("a.md", "2")]
    server.listing.record(A, entry("a.md", "2"), "1")
    assert tags(server.listing) == {"a.md": "2"}


def test_who_follows_hears_of_other_lists_only():
    server = Server(entry("a.md"))
    for _ in range(3):
        server.listing.find(A)
        server.now += OLDEST + 1
    server.entries.append(entry("b.md"))
    server.listing.find(A)
    assert [len(results) for results in server.told] == [1, 2]


NAMES = st.text("ab.-", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@given(st.sets(PATHS, max_size=12), PATHS)
def test_listing_below_folder_matches_path_order(names, folder):
    listing = Server(*map(entry, names)).listing
    wanted = sorted(PurePosixPath(name) for name in names)
    assert [item.path for item in listing.list_below(PurePosixPath())] == wanted
    place = PurePosixPath(folder)
    assert [value.path for value in listing.list_below(place)] == [
        path for path in wanted if is_below(path, place)
    ]
    assert listing.tag(PurePosixPath("nowhere")) == ABSENT
