"""Passages of notes beside messages, and their vectors: alike on every backend."""

import pytest

from holdfast.errors import Conflict
from holdfast.memory import ranking
from holdfast.memory.passage_table import PassageTableCache
from holdfast.messages import Scope
from holdfast.store import Coverage, FileState, NewPassage, NotesFolder, Store
from holdfast.store.embeddings import REFUSED
from holdfast.store.texts import MAX_PIECES, PIECE_SIZE, piece_digest, split_pieces
from holdfast.text import analyser
from tests.contract.test_store import SCOPE, count, talk, user_messages

MINE, OTHERS = NotesFolder("default"), NotesFolder("eve")


def put(store: Store, notes: NotesFolder, path: str, *texts: str, tag: str = "1") -> str:
    file = FileState(f"{notes.key}:{path}", path, tag, 1, 5.0)
    parts = [
        NewPassage(f"n_{number}", text, number + 1, number + 1, 1.0) for number, text in enumerate(texts)
    ]
    store.passages.replace(notes, {file: parts})
    return file.container


def find_texts(store: Store, places, question: str) -> list[str]:
    store.passages.catch_up(places)
    matches = store.passages.matches(places, analyser.terms(question), analyser.parts(question))
    scores = score_rows(store, places, matches)
    best = sorted(scores, key=lambda row: (-scores[row], row))
    texts = store.passages.texts(best)
    return [texts[row] for row in best]


def score_rows(store: Store, places, matches) -> dict[int, float]:
    rows = PassageTableCache(store).of(places, matches.containers)
    scores = zip(rows.ids.tolist(), ranking.score_words(matches, rows).tolist(), strict=True)
    return {row: score for row, score in scores if score}


def test_notes_and_messages_are_found_together_and_apart(store):
    put(store, MINE, "a.md", "swordfish in a note")
    talk(store, "swordfish in a message")
    assert find_texts(store, [MINE], "swordfish") == ["swordfish in a note"]
    assert find_texts(store, [SCOPE], "swordfish") == ["swordfish in a message"]
    assert sorted(find_texts(store, [MINE, SCOPE], "swordfish")) == [
        "swordfish in a message",
        "swordfish in a note",
    ]


def test_nothing_is_found_across_a_border(store):
    put(store, OTHERS, "a.md", "swordfish of eve")
    talk(store, "swordfish of somebody", scope=Scope(user="other"))
    assert find_texts(store, [MINE, SCOPE], "swordfish") == []
    assert find_texts(store, [OTHERS], "swordfish") == ["swordfish of eve"]


def test_a_file_is_replaced_and_removed_as_a_whole(store):
    name = put(store, MINE, "a.md", "swordfish one", "swordfish two")
    put(store, MINE, "a.md", "swordfish three", tag="2")
    assert find_texts(store, [MINE], "swordfish") == ["swordfish three"]
    assert [(file.path, file.tag) for file in store.passages.files(MINE).values()] == [("a.md", "2")]
    store.passages.remove([name])
    assert find_texts(store, [MINE], "swordfish") == []
    assert store.passages.files(MINE) == {}
    assert [count(store, table) for table in ("text_rows", "text_pieces", "text_containers")] == [0, 0, 0]


def test_recreated_container_is_distinguished_from_its_predecessor(store):
    name = put(store, MINE, "a.md", "swordfish")
    before = store.passages.containers([MINE])
    store.passages.remove([name])
    put(store, MINE, "a.md", "dolphin")
    assert store.passages.containers([MINE]) != before


def test_what_no_database_can_hold_is_no_trouble(store):
    put(store, MINE, "a.md", "swordfish \udcff \x00 end")
    assert find_texts(store, [MINE], "swordfish") == ["swordfish \ufffd \ufffd end"]


def test_what_is_held_of_rows_follows_every_change(store):
    outlines, places = PassageTableCache(store), [MINE, SCOPE]

    def outline_values():
        results = outlines.of(places, store.passages.containers(places))
        anew = PassageTableCache(store).of(places, store.passages.containers(places))
        assert results.ids.tolist() == anew.ids.tolist()
        assert results.length.tolist() == anew.length.tolist()
        return list(
            zip(results.length.tolist(), results.note.tolist(), results.personal.tolist(), strict=True)
        )

    assert outline_values() == []
    name = put(store, MINE, "a.md", "swordfish", "dolphin in the sea")
    assert outline_values() == [(1.0, True, True), (2.0, True, True)]
    talk(store, "swordfish in a message")
    store.texts.catch_up()
    assert outline_values() == [(1.0, True, True), (2.0, True, True), (2.0, False, True)]
    put(store, MINE, "a.md", "eel", tag="2")
    store.passages.forget(["n_7"])
    assert outline_values() == [(1.0, True, True), (2.0, False, True)]
    store.passages.forget(["n_0"])
    assert outline_values() == [(2.0, False, True)]
    store.passages.remove([name])
    assert outline_values() == [(2.0, False, True)]


def test_rows_are_held_once_whatever_readers_saw_before(store):
    outlines, places = PassageTableCache(store), [MINE, SCOPE]
    for name in ("a.md", "b.md", "c.md"):
        put(store, MINE, name, f"swordfish in {name}")
    conversation, (first,) = talk(store, "swordfish in a message")
    store.texts.catch_up()
    older = store.passages.containers(places)
    outlines.of(places, older)
    store.log.append(conversation.id, user_messages("more of it"), parent=first.id, expect=first.id)
    # Two files are new, and the one between them is not.
    put(store, MINE, "a.md", "eel", tag="2")
    put(store, MINE, "c.md", "eel", tag="2")
    store.texts.catch_up()
    newer = store.passages.containers(places)
    expected = PassageTableCache(store).of(places, newer).ids.tolist()
    assert outlines.of(places, newer).ids.tolist() == expected
    # Who reads an older state comes between.
    outlines.of(places, older)
    assert outlines.of(places, newer).ids.tolist() == expected


def test_passage_is_found_by_about_text_without_counting_its_words(store):
    file = FileState("x:a.md", "a.md", "1", 1, 5.0)
    part = NewPassage("n", "Lunch with Ada.", 1, 1, 1.0, about="2026-02-24 24 February 2026")
    store.passages.replace(MINE, {file: [part]})
    assert find_texts(store, [MINE], "February") == ["Lunch with Ada."]
    assert store.texts.find("x:a.md", ["februari"]).hits == ()


def test_every_engine_gives_the_same_scores(store):
    for number in range(30):
        put(store, MINE, f"{number}.md", f"swordfish {'and more ' * (number % 5)} subject{number}", "dolphin")
    matches = store.passages.matches([MINE], analyser.terms("swordfish subject7 dolphin more"), [])
    scores = sorted(round(score, 9) for score in score_rows(store, [MINE], matches).values())
    assert len(scores) == 60
    # The same numbers on SQLite and on PostgreSQL.
    assert (scores[0], scores[-1]) == (pytest.approx(0.78205442), pytest.approx(7.899108015))


def vector(*numbers: int) -> bytes:
    return bytes(numbers)


def test_vectors_belong_to_words_and_go_with_the_last_of_them(store):
    response = put(store, MINE, "a.md", "swordfish")
    two = put(store, OTHERS, "b.md", "swordfish")
    store.embeddings.keep("model", {piece_digest("swordfish"): vector(1, 2)})
    (ids,) = [container.ids for container in store.passages.containers([MINE])]
    assert [stored for _, stored in store.embeddings.load("model", [ids])] == [vector(1, 2)]
    assert [stored for _, stored in store.embeddings.load("other", [ids])] == [None]
    assert store.embeddings.load("model", []) == []
    assert store.embeddings.coverage("model", []).pieces == 0
    store.passages.remove([response])
    assert count(store, "embeddings") == 1
    store.passages.remove([two])
    assert count(store, "embeddings") == 0


def test_a_changed_file_keeps_the_vectors_of_what_stayed(store):
    put(store, MINE, "a.md", "swordfish", "dolphin")
    store.embeddings.keep("model", {piece_digest(text): vector(1) for text in ("swordfish", "dolphin")})
    put(store, MINE, "a.md", "eel", "swordfish", tag="2")
    coverage = store.embeddings.coverage("model")
    assert (coverage.pieces, coverage.missing, count(store, "embeddings")) == (2, 1, 1)
    assert len(store.embeddings.waiting("model", 10)) == 1


def test_the_cache_keeps_what_was_used_last(store):
    put(store, MINE, "a.md", "needed")
    store.embeddings.keep("model", {piece_digest("needed"): vector(0)}, now=0.0)
    for number in range(5):
        store.embeddings.keep("model", {piece_digest(f"text {number}"): vector(number)}, now=float(number))
    assert store.embeddings.get_vectors("model", [piece_digest("text 0")], now=9_000.0) == {
        piece_digest("text 0"): vector(0)
    }
    assert store.embeddings.trim(2) == 3
    vectors = store.embeddings.get_vectors("model", [piece_digest(f"text {number}") for number in range(5)])
    assert sorted(vectors.values()) == [vector(0), vector(4)]
    assert store.embeddings.get_vectors("model", [piece_digest("needed")])


def test_unused_vectors_of_other_embedders_are_dropped_after_a_day(store):
    day = 24 * 3600.0
    for model, used_at in (("old", 0.0), ("another's", day), ("ours", 0.0)):
        store.embeddings.keep(
            model, {piece_digest("a"): vector(1), piece_digest("b"): vector(2)}, now=used_at
        )
    # One of them was looked up since, so all of them are of use.
    store.embeddings.keep("another's", {piece_digest("a"): vector(1)}, now=0.0)
    assert store.embeddings.drop_others("ours", now=1.5 * day) == 2
    assert store.embeddings.get_vectors("old", [piece_digest("a")]) == {}
    assert (
        len(store.embeddings.get_vectors("another's", [piece_digest("a"), piece_digest("b")], now=1.5 * day))
        == 2
    )
    assert store.embeddings.drop_others("ours", now=2.4 * day) == 0
    assert store.embeddings.drop_others("ours", now=2.6 * day) == 2
    assert len(store.embeddings.get_vectors("ours", [piece_digest("a"), piece_digest("b")])) == 2


def test_what_the_embedder_refused_is_not_waited_for_and_is_counted(store):
    put(store, MINE, "a.md", "swordfish", "dolphin")
    store.embeddings.keep("model", {piece_digest("swordfish"): REFUSED})
    assert store.embeddings.coverage("model") == Coverage(2, 1, 1)
    assert len(store.embeddings.waiting("model", 10)) == 1


def test_note_is_forgotten_immediately_and_its_file_marked_changed(store):
    item, two = put(store, MINE, "a.md", "dolphin", "swordfish"), put(store, MINE, "b.md", "eel")
    store.embeddings.keep("model", {piece_digest("swordfish"): vector(1)})
    store.passages.forget(["n_1"])
    assert find_texts(store, [MINE], "swordfish dolphin eel") == ["dolphin", "eel"]
    assert count(store, "embeddings") == 0
    versions = {name: state.version for name, state in store.passages.files(MINE).items()}
    assert versions == {item: -1, two: 1}


def test_notes_are_known_by_file_and_id_and_removed_atomically(store):
    item, two = put(store, MINE, "a.md", "dolphin", "eel"), put(store, OTHERS, "b.md", "squid")
    assert store.passages.notes_in([item, "none"]) == {item: {"n_0": "dolphin", "n_1": "eel"}}
    assert store.passages.files_of(["n_0"]) == {"n_0": {item: "dolphin", two: "squid"}}
    assert store.passages.notes_in([]) == store.passages.files_of(["n_9"]) == {}
    assert sorted(store.passages.paths()) == ["a.md", "b.md"]

    def refuse():
        raise Conflict("not now")

    with pytest.raises(Conflict):
        store.passages.remove([item], refuse)
    with pytest.raises(Conflict):
        store.passages.replace(MINE, {FileState(item, "a.md", "2", 1, 5.0): []}, refuse)
    assert find_texts(store, [MINE], "dolphin eel") == ["dolphin", "eel"]


def test_a_message_is_not_forgotten_as_a_note(store):
    _, (text,) = talk(store, "swordfish")
    store.texts.catch_up()
    store.passages.forget([text.id])
    assert find_texts(store, [SCOPE], "swordfish") == ["swordfish"]


def test_pieces_are_short_and_lose_no_word():
    text = "One sentence here. Another one there!\n\n" * 60 + "x" * 1_000
    cut = split_pieces(text)
    assert all(0 < len(piece) <= PIECE_SIZE for piece in cut)
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert len(split_pieces("word " * 1_000_000)) == MAX_PIECES
    assert split_pieces(" \n ") == []
