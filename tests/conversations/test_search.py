"""Searching in conversations finds what a person means, and shows where it was said."""

import pytest

from holdfast.conversations.search import search
from holdfast.messages import Scope
from holdfast.store import NewMessage
from tests.conversations.builders import user


def tell(talk, *texts: str) -> str:
    """A conversation in which these were said and answered."""
    history = []
    conversation = ""
    for text in texts:
        history.append(user(text))
        _, conversation = talk.say(*history, answered=f"Noted, number {len(history)}.")
        history.append(talk.store.log.path(talk.store.log.get(conversation).head)[-1].message)
    return conversation


def new(text: str) -> NewMessage:
    return NewMessage(user(text))


def found(talk, query: str, **options) -> list[str]:
    hits = search(talk.store, talk.scope, query, **options).hits
    return [talk.store.log.message(hit.message).message.text for hit in hits]


def test_a_hit_says_where_it_is_from_and_shows_the_words(talk):
    conversation = tell(talk, "Our landlord keeps the deposit until May. The weather is fine. " * 3)
    talk.store.log.rename(conversation, "Flat")
    (hit,) = search(talk.store, talk.scope, "deposits of landlords").hits
    assert (hit.conversation, hit.title, hit.role, hit.current) == (conversation, "Flat", "user", True)
    assert "landlord keeps the deposit" in hit.snippet
    assert len(hit.snippet) <= 300
    assert set(hit.matched) == {"deposits", "landlords"}
    assert hit.score > 0
    assert hit.at == talk.store.log.message(hit.message).created_at


def test_hit_with_partial_name_does_not_claim_full_match(talk):
    tell(talk, "The label is MARK-alice-7.")
    (hit,) = search(talk.store, talk.scope, "MARK-bob-7").hits
    assert set(hit.matched) == {"mark", "7"}
    (hit,) = search(talk.store, talk.scope, "MARK-alice-7").hits
    assert hit.matched == ("MARK-alice-7",)


def test_the_snippet_of_a_long_message_is_cut_around_the_words(talk):
    tell(talk, "blah " * 5_000 + "the swordfish swims " + "blah " * 5_000)
    (hit,) = search(talk.store, talk.scope, "swordfish").hits
    assert "swordfish" in hit.snippet
    assert len(hit.snippet) <= 300


def test_a_phrase_in_quotes_comes_first(talk):
    tell(talk, "The pipe is broken, so broken is the pipe", "a pipe, broken")
    tell(talk, "He said with very many other words around it that there was a Broken  Pipe in the old house")
    assert "Broken  Pipe" in found(talk, '"broken pipe"')[0]
    assert "Broken  Pipe" in found(talk, "„broken pipe“")[0]


def test_an_exact_id_comes_first(talk):
    tell(talk, "commit commit commit", "which commit broke the build of the commit")
    tell(talk, "after a long evening and a lot of tea I found that it came with a828e60 and nothing else")
    assert "a828e60" in found(talk, "commit a828e60 broke the build")[0]


def test_german_is_found_in_its_forms_and_compounds(talk):
    tell(talk, "Die Datenbankwahl steht an.", "Wir wohnen in der Hauptstraße.")
    assert found(talk, "Wahl der Datenbank") == ["Die Datenbankwahl steht an."]
    assert found(talk, "hauptstrasse") == ["Wir wohnen in der Hauptstraße."]


def test_one_long_conversation_does_not_hide_the_others(talk):
    tell(talk, *(f"swordfish {number}" for number in range(12)))
    other = tell(talk, "I once had a dream in which among many other things a swordfish appeared")
    hits = search(talk.store, talk.scope, "swordfish").hits
    assert len(hits) == 4
    assert hits[-1].conversation == other


def test_the_limit_holds(talk):
    for number in range(5):
        tell(talk, f"swordfish {number}")
    assert len(search(talk.store, talk.scope, "swordfish", limit=2).hits) == 2


def test_what_was_edited_away_is_found_and_marked(talk):
    conversation = tell(talk, "apples")
    head = talk.store.log.get(conversation).head
    (first,) = talk.store.log.append(conversation, [new("swordfish")], parent=head, expect=head)
    talk.store.log.append(conversation, [new("salmon")], parent=head, expect=first.id)
    (hit,) = search(talk.store, talk.scope, "swordfish").hits
    assert (hit.conversation, hit.current) == (conversation, False)
    (hit,) = search(talk.store, talk.scope, "salmon").hits
    assert hit.current


def test_a_message_of_a_fork_names_the_fork(talk):
    conversation = tell(talk, "apples")
    head = talk.store.log.get(conversation).head
    fork = talk.store.log.fork(conversation, head)
    talk.store.log.append(fork.id, [new("swordfish")], parent=head, expect=head)
    assert [hit.conversation for hit in search(talk.store, talk.scope, "swordfish").hits] == [fork.id]


def test_other_scopes_are_not_searched(talk):
    tell(talk, "swordfish")
    for other in (Scope(user="eve"), Scope(talk.scope.user, "else"), Scope(talk.scope.user, kind="group")):
        assert search(talk.store, other, "swordfish").hits == ()


@pytest.mark.parametrize("query", ["", "?!… --", "the of and", "\ud800", "und oder aber"])
def test_a_question_without_words_says_so(talk, query):
    tell(talk, "swordfish")
    assert search(talk.store, talk.scope, query).empty == "nothing to search for"


def test_combined_word_and_meaning_score_orders_hits_within_scope(talk):
    words, meant = tell(talk, "The swordfish is old."), tell(talk, "Our boat needs paint.")
    first, second = (talk.store.log.path(talk.store.log.get(item).head)[0].id for item in (words, meant))
    assert found(talk, "swordfish", near={second: 0.9, first: 0.8}) == [
        "Our boat needs paint.",
        "The swordfish is old.",
    ]
    assert found(talk, "and of the", near={second: 0.9}) == ["Our boat needs paint."]
    assert search(talk.store, Scope(user="eve"), "boat", near={second: 0.9}).hits == ()
    assert found(talk, "swordfish", near={"m_gone": 0.9}) == ["The swordfish is old."]


def test_nothing_found_says_so(talk):
    assert search(talk.store, talk.scope, "swordfish").empty == "nothing found"
    tell(talk, "swordfish")
    results = search(talk.store, talk.scope, "swordfish")
    assert (results.empty, results.engine) == ("", "fts5")


def test_a_question_of_a_hundred_thousand_characters_is_answered(talk):
    tell(talk, "swordfish")
    assert found(talk, "swordfish " + "lorem ipsum dolor " * 6_000) == ["swordfish"]
    assert found(talk, "x" * 100_000) == []


def test_typo_is_corrected_and_message_without_words_is_no_hit(talk):
    tell(talk, "Our landlord keeps the deposit until May.")
    results = search(talk.store, talk.scope, "landlrod")
    assert (len(results.hits), results.corrected) == (1, "landlord")
    assert search(talk.store, talk.scope, "zzzz").corrected == ""
    _, (silent,) = talk.store.log.begin(talk.scope, [new("")])
    assert search(talk.store, talk.scope, "zzzz", near={silent.id: 0.9}).hits == ()
