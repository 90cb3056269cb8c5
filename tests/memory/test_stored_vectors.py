"""What is held in memory of rows and vectors is what somebody would read who looks for the first time."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.passage_table import PassageTableCache
from holdfast.memory.vectors import StoredVectors, build_segment
from holdfast.messages import Message, Scope
from holdfast.store import FileState, NewMessage, NewPassage, NotesFolder, open_store

IDENTITY = EmbedderIdentity("test", "axes", 4)
SCOPE, NOTES = Scope(), NotesFolder("users/default")
PLACES = [NOTES, SCOPE]
AXES = np.eye(4, dtype=np.float32)
# Each is long enough for two pieces, so that one of them may have a vector and the other none.
TEXTS = [f"{word} " * 60 + "and " * 100 for word in ("north", "east", "south", "west")]

steps = st.one_of(
    st.tuples(st.just("say"), st.integers(0, 2), st.integers(0, 3)),
    st.tuples(st.just("delete"), st.integers(0, 2), st.just(0)),
    st.tuples(st.just("write"), st.integers(0, 2), st.integers(0, 3)),
    st.tuples(st.just("remove"), st.integers(0, 2), st.just(0)),
    st.tuples(st.just("keep"), st.integers(0, 15), st.integers(0, 3)),
    st.tuples(st.just("refuse"), st.integers(0, 15), st.just(0)),
    st.tuples(st.just("look"), st.just(0), st.just(0)),
)


class Case:
    def __init__(self, store):
        self.store = store
        self.chats: dict[int, str] = {}
        self.version = 0
        self.outlines = PassageTableCache(store)
        # A clock that stands still: what this process keeps is seen without one.
        self.vectors = StoredVectors(store, IDENTITY, clock=lambda: 0.0)

    def say(self, chat: int, text: int) -> None:
        if chat not in self.chats:
            self.chats[chat] = self.store.log.create(SCOPE).id
        head = self.store.log.get(self.chats[chat]).head
        self.version += 1
        message = NewMessage(Message.of("user", f"{self.version} {TEXTS[text]}"))
        self.store.log.append(self.chats[chat], [message], parent=head, expect=head)
        self.store.texts.catch_up()

    def delete(self, chat: int, _: int) -> None:
        if chat in self.chats:
            self.store.log.delete(self.chats.pop(chat))

    def write(self, file: int, text: int) -> None:
        self.version += 1
        state = FileState(f"{NOTES.key}:{file}.md", f"{file}.md", str(self.version), 1, 5.0)
        parts = [
            NewPassage(f"n_{at}", f"{at} {item}", at, at, 1.0) for at, item in enumerate(TEXTS[: text + 1])
        ]
        self.store.passages.replace(NOTES, {state: parts})

    def remove(self, file: int, _: int) -> None:
        self.store.passages.remove([f"{NOTES.key}:{file}.md"])

    def keep(self, place: int, axis: int) -> None:
        if names := self.without_vectors():
            self.vectors.keep({names[place % len(names)]: AXES[axis]})

    def refuse(self, place: int, _: int) -> None:
        if names := self.without_vectors():
            self.vectors.refuse([names[place % len(names)]])

    def without_vectors(self) -> list[str]:
        spans = [container.ids for container in self.store.passages.containers(PLACES)]
        listed = self.store.embeddings.list_pieces(IDENTITY.key, spans)
        return sorted({name for _, _, name, size in listed if size is None})

    def look(self, *_: int) -> None:
        containers = self.store.passages.containers(PLACES)
        outline = self.outlines.of(PLACES, containers)
        anew = PassageTableCache(self.store).of(PLACES, containers)
        for column in ("ids", "length", "at", "note", "personal", "kind", "side", "traits", "memory"):
            assert getattr(outline, column).tolist() == getattr(anew, column).tolist()
        fresh = StoredVectors(self.store, IDENTITY)
        assert self.vectors.coverage(PLACES) == fresh.coverage(PLACES)
        near, again = (index.compare(PLACES, AXES[1], 10) for index in (self.vectors, fresh))
        for held, read in ((near.rows, again.rows), (near.best, again.best), (near.mean, again.mean)):
            assert held.tolist() == read.tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(steps, max_size=25))
def test_whatever_comes_and_goes(taken):
    with open_store("sqlite://") as store:
        case = Case(store)
        for name, first, second in taken:
            getattr(case, name)(first, second)
        case.look()


def test_vectors_that_another_process_made_are_seen_after_a_while(tmp_path):
    place, now = f"sqlite:///{tmp_path}/store.db", [0.0]
    with open_store(place) as store, open_store(place) as elsewhere:
        case = Case(store)
        vectors = StoredVectors(store, IDENTITY, clock=lambda: now[0])
        case.say(0, 0)
        names = case.without_vectors()
        assert vectors.coverage(PLACES).missing == len(names) == 2
        StoredVectors(elsewhere, IDENTITY).keep(dict.fromkeys(names, AXES[1]))
        assert vectors.coverage(PLACES).missing == 2
        now[0] = 10.0
        assert vectors.coverage(PLACES).missing == 0
        assert vectors.compare(PLACES, AXES[1], 10).best.tolist() == [1.0]


def test_growing_conversation_reads_only_new_rows(monkeypatch):
    with open_store("sqlite://") as store:
        case = Case(store)
        for _ in range(5):
            case.say(0, 1)
        case.look()
        rows, vectors = [], []
        outlines, load = store.passages.outlines, store.embeddings.load
        monkeypatch.setattr(type(store.passages), "outlines", lambda _, spans: _note(rows, outlines(spans)))
        monkeypatch.setattr(type(store.embeddings), "load", lambda _, *asked: _note(vectors, load(*asked)))
        case.say(0, 2)
        containers = store.passages.containers(PLACES)
        case.outlines.of(PLACES, containers)
        case.vectors.coverage(PLACES)
    assert len(rows) == 1
    assert len({row for row, _ in vectors}) == 1


def test_nearness_by_bytes_is_that_by_floats():
    random = np.random.default_rng(5)
    floats = random.standard_normal((40, 512)).astype(np.float32)
    floats /= np.linalg.norm(floats, axis=1, keepdims=True)
    segment = build_segment([(row, vector.tobytes()) for row, vector in enumerate(floats)], 512)
    rows, best, mean = segment.compare(floats[3])
    assert (rows.tolist(), best.tolist()) == ([*range(40)], mean.tolist())
    assert np.abs(best - floats @ floats[3]).max() < 0.003


def _note(seen: list, read: list) -> list:
    seen += read
    return read
