"""Estimates: bounds that hold, families by name, and agreement with the real vocabulary."""

import base64
import inspect
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens import estimate as estimate_module
from holdfast.tokens.estimate import FAMILIES, UNKNOWN, estimate, family_of
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary

FAMILY = st.sampled_from(sorted(FAMILIES)).map(FAMILIES.__getitem__)
# Halves of characters included: JSON can carry them.
TEXT = st.text(st.characters(exclude_categories=()), max_size=3_000)


@given(TEXT, FAMILY)
def test_the_estimate_is_within_its_bounds_and_they_are_possible(text, family):
    guess = estimate(text, family)
    assert 0 <= guess.low <= guess.tokens <= guess.high
    assert guess.high <= len(text.encode("utf-8", "replace")) + 1
    assert (guess.tokens > 0) == bool(text)


@given(TEXT, TEXT, FAMILY)
def test_two_texts_together_cost_about_what_they_cost_alone(one, other, family):
    together = estimate(one + other, family)
    alone = estimate(one, family), estimate(other, family)
    assert together.low <= sum(guess.high for guess in alone)
    assert together.high >= sum(guess.low for guess in alone) * 0.5


@pytest.mark.parametrize("name", sorted(FAMILIES))
@pytest.mark.parametrize("byte", ["z", "Z", "7", "ü", "漢", "😀", "\x00"])
def test_long_texts_are_added_up_without_losing_a_piece(name, byte):
    # The sum behind the estimate wraps around at 65,521; a text far beyond that must cost ten times a tenth.
    whole, tenth = estimate(byte * 50_000, FAMILIES[name]), estimate(byte * 5_000, FAMILIES[name])
    assert whole.tokens == pytest.approx(10 * tenth.tokens, rel=0.01)


def test_nothing_costs_nothing():
    assert estimate("", UNKNOWN) == (0, 0, 0)


def test_blanks_are_cheap_and_the_words_between_them_are_not():
    table = "\n".join(" " * 60 + "word" for _ in range(100))
    words = "\n".join("word" for _ in range(100))
    assert estimate(" " * 10_000, UNKNOWN).tokens < 1_000
    assert estimate(words, UNKNOWN).low < estimate(table, UNKNOWN).tokens < 1_000


def test_the_unknown_has_the_widest_interval():
    text = "What is the window of a model that nobody has heard of? " * 20
    widths = {
        name: (guess.high - guess.low) / guess.tokens
        for name, family in FAMILIES.items()
        for guess in [estimate(text, family)]
    }
    assert max(widths, key=widths.__getitem__) == "unknown"


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("llama3.1:8b", "llama3"),
        ("Meta-Llama-3-8B-Instruct", "llama3"),
        ("llama4:scout", "llama4"),
        ("deepseek-r1-distill-llama-3.1:8b", "llama3"),
        ("deepseek-v3", "deepseek"),
        ("qwen2.5-coder:1.5b", "qwen"),
        ("qwen3:8b", "qwen"),
        ("qwen3.5:9b", "qwen35"),
        ("mistral-nemo", "tekken"),
        ("mistral:7b", "llama2"),
        ("gemma3:4b", "gemma"),
        ("gpt-oss:20b", "gpt-oss"),
        ("SmolLM2-135M", "smollm"),
        ("somebody/novel-model", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_name_of_a_model_tells_its_family(name, family):
    assert family_of(name).name == family


def test_the_surest_name_comes_first():
    assert family_of("my-own-model", "qwen2").name == "qwen"
    assert family_of("gemma", "qwen2").name == "gemma"


@pytest.fixture(scope="module")
def tokenizer(weights):
    return Tokenizer(Vocabulary.from_gguf(weights))


def prose():
    return (inspect.getdoc(random) or "") + (inspect.getdoc(json) or "")


KINDS = {
    "code": inspect.getsource(random)[2_000:10_000],
    "prose": " ".join(prose().split()) * 2,
    "base64": base64.b64encode(random.Random(1).randbytes(6_000)).decode(),
    "JSON": json.dumps([{"id": n, "name": f"item {n}", "ok": n % 2 == 0} for n in range(200)]),
    "digits": ", ".join(str(n * 7919) for n in range(1_000)),
    "our own source": inspect.getsource(estimate_module),
    "German": (
        "Der Hafen war leer, als das Schiff am Morgen einlief. Niemand wartete auf der Mole, und auch im "
        "Büro der Verwaltung brannte noch kein Licht. Der Kapitän ließ die Papiere bereitlegen, prüfte die "
        "Ladung und schrieb in sein Buch, dass die Überfahrt ohne besondere Vorkommnisse verlaufen sei. "
        "Gegen neun Uhr kamen die ersten Arbeiter und begannen mit dem Löschen der Container. "
    )
    * 8,
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_true_number_of_tokens_is_within_the_bounds(kind, tokenizer):
    guess, true = estimate(KINDS[kind], FAMILIES["smollm"]), tokenizer.count(KINDS[kind])
    assert guess.low <= true <= guess.high
    assert guess.tokens == pytest.approx(true, rel=0.25)
