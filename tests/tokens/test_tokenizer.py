"""Texts are cut as the server cuts them: by hand for small vocabularies, by the real server for SmolLM2."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens.tokenizer import Tokenizer, list_split_rules
from holdfast.tokens.vocabulary import Vocabulary, VocabularyError
from holdfast.upstreams.embedded import EmbeddedProcess
from holdfast.upstreams.http import Connection
from holdfast.upstreams.openai import LlamaCpp
from tests.tokens.small import byte_level, score_vocabulary, vocabulary

WORDS = Tokenizer(vocabulary(byte_level()))
SCORED = Tokenizer(vocabulary(score_vocabulary()))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def spell(tokenizer, text):
    return [tokenizer.decode([token]) for token in tokenizer.encode(text)]


def test_merges_are_applied_in_their_order():
    assert spell(WORDS, "hello world") == ["hello", " world"]
    assert spell(WORDS, "help") == ["he", "l", "p"]
    assert WORDS.count("ä") == 1
    assert WORDS.count("ö") == 2


def test_scores_decide_and_bytes_stand_for_what_is_unknown():
    assert SCORED.count("hello") == 1, "the text begins with the space that this kind puts there"
    assert SCORED.decode(SCORED.encode("hello")) == "hello"
    assert SCORED.count("hé") == len([" ", "h", b"\xc3", b"\xa9"])


def test_control_tokens_are_text_unless_asked_for():
    assert WORDS.count("<|end|>") == 7
    assert WORDS.count("<|end|>", special=True) == 1
    assert WORDS.count("a<tool>b") == 3, "user-defined tokens are always recognised"


@pytest.mark.parametrize("tokenizer", [WORDS, SCORED])
@given(text=texts)
def test_counting_is_encoding_without_the_tokens(tokenizer, text):
    for special in (False, True):
        assert tokenizer.count(text, special=special) == len(tokenizer.encode(text, special=special))


@given(texts)
def test_decoding_gives_the_text_back(text):
    assert WORDS.decode(WORDS.encode(text)) == text


@given(texts, texts)
def test_token_count_of_joined_texts_is_bounded_by_its_halves(one, other):
    assert WORDS.count(one + other) <= WORDS.count(one) + WORDS.count(other) + 2
    assert WORDS.count(one + other) >= max(WORDS.count(one), WORDS.count(other)) // 4


def test_half_a_character_does_no_harm():
    assert WORDS.count("a\ud800b") == WORDS.count("a\ufffdb")


def test_a_token_that_does_not_exist_is_an_index_error():
    for bad in (-1, 10**6):
        with pytest.raises(IndexError):
            WORDS.decode([bad])


def test_an_unknown_rule_is_not_guessed():
    with pytest.raises(VocabularyError, match="'brand-new'"):
        Tokenizer(vocabulary(byte_level(pre="brand-new")))


@pytest.mark.parametrize("pre", sorted(list_split_rules()))
def test_every_known_rule_builds_and_loses_nothing(pre):
    tokenizer = Tokenizer(vocabulary(byte_level(pre=pre)))
    text = "Don't  stop: 12345 Größe\r\n\t你好 🚀 __init__ ~x"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert 0 < tokenizer.count(text) <= len(text.encode())


def test_a_vocabulary_without_bytes_would_lose_text_and_is_refused():
    metadata = score_vocabulary()
    metadata["tokenizer.ggml.tokens"][3] = "<nothing>"
    with pytest.raises(VocabularyError, match="0x00"):
        Tokenizer(vocabulary(metadata))


def test_a_million_blanks_are_survived():
    assert Tokenizer(vocabulary(byte_level(pre="llama-bpe"))).count(" " * 1_100_000 + "x") > 0


ODD = [
    "",
    "\n",
    " ",
    "  \n \n",
    "\r\n\r\n",
    "é",
    "e\u0301",
    "don't DON'T I'LL we'Re",
    "1234567890 12 1,234.5 ½ ² Ⅷ",
    "x" * 3000,
    "  " * 300 + "x",
    "🙂👍🏽👨‍👩‍👧‍👦🇩🇪✈️❤️‍🔥",
    "".join(map(chr, range(256))),
    "汉字 かな 한국어 ไทย हिन्दी العربية русский",
    "\u200b\u200c\ufeff\u00ad",
    "camelCaseStringÜberÄnderung HTTPServer",
    "<|im_start|>user\nhi<|im_end|>",
    "\x00\x01\x7f\x85\xa0",
    "\u2028\u2029",
    "\ufffd\uffff\U0010ffff",
    "    def f(x):\n\t\treturn x**2\n\n\n",
]


@pytest.mark.real
@pytest.mark.xdist_group("embedded")
def test_smollm_is_cut_exactly_as_the_real_server_cuts_it(weights, tmp_path):
    tokenizer = Tokenizer(Vocabulary.from_gguf(weights))

    async def compare():
        child = await EmbeddedProcess.start(weights, ctx=256, threads=1, log=tmp_path / "log", seconds=120)
        server = LlamaCpp(Connection(child.url, key=child.key))
        try:
            for text in ODD:
                assert await server.tokenize("embedded", text) == tokenizer.encode(text), repr(text)
        finally:
            await server.aclose()
            await child.stop()

    asyncio.run(compare())
