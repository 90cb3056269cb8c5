"""Sources cut to what answers a question."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.excerpts import excerpts

GARDEN = "Roses want sun and a little water in the morning. "


def tokens(text):
    return len(text.split())


def test_sources_that_fit_stay_as_they_are():
    texts = ["Bitcoin stands at 67,000 dollars.", "It rose by 5 % today."]
    assert excerpts("How is bitcoin?", texts, 100, tokens) == texts


def test_a_long_source_is_cut_to_the_passage_that_answers():
    text = GARDEN * 80 + "Bitcoin stands at 67,000 dollars. " + GARDEN * 80
    (cut,) = excerpts("How is bitcoin?", [text], 150, tokens)
    assert "67,000" in cut
    assert "[…]" in cut
    assert tokens(cut) <= 150


def test_a_short_source_leaves_its_room_to_the_long_one():
    long, short = GARDEN * 100, "Bitcoin: 67,000 dollars."
    cut, whole = excerpts("How is bitcoin?", [long, short], 200, tokens)
    assert whole == short
    assert 150 < tokens(cut) <= 200 - tokens(short)


def test_without_any_word_of_the_question_the_beginning_is_told():
    (cut,) = excerpts("Wie geht es?", ["The first words count. " + GARDEN * 100], 100, tokens)
    assert cut.startswith("The first words count.")


def test_a_passage_of_many_tokens_is_cut_until_it_fits():
    text = "word " * 400 + "Bitcoin! " + "a-b-c-d-e-f-g-h " * 40
    (cut,) = excerpts("Bitcoin?", [text], 60, lambda text: len(text.replace("-", " - ").split()))
    assert cut


@given(
    st.text(max_size=60),
    st.lists(st.text("ab .\n?", max_size=3_000), max_size=4),
    st.integers(min_value=0, max_value=400),
)
def test_excerpts_are_never_more_than_there_is_room_for(question, texts, room):
    cut = excerpts(question, texts, room, tokens)
    assert len(cut) == len(texts)
    assert sum(map(tokens, cut)) <= room
