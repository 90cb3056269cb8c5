"""A vocabulary is read from GGUF and from JSON alike, and a broken one is named for what is wrong with it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens.vocabulary import (
    Vocabulary,
    VocabularyError,
    encode_metadata,
    parse_metadata,
    read_metadata,
)
from tests.tokens.small import byte_level, score_vocabulary, vocabulary

KINDS = [byte_level, score_vocabulary]


@pytest.mark.parametrize("kind", KINDS)
def test_gguf_and_json_say_the_same(kind, tmp_path):
    known = vocabulary(kind())
    known.save(tmp_path / "v.gguf")
    assert Vocabulary.from_gguf(tmp_path / "v.gguf") == known
    assert vocabulary(json.loads(json.dumps(kind()))) == known
    assert vocabulary(known.to_metadata()).digest == known.digest


def test_two_vocabularies_have_two_digests():
    assert vocabulary(byte_level()).digest != vocabulary(byte_level(pre="qwen2")).digest


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({}, "no vocabulary"),
        (byte_level(model="t5"), "t5"),
        (byte_level(model=7), "not text"),
        (byte_level(tokens=None), "missing"),
        (byte_level(tokens=[]), "missing"),
        (byte_level(tokens="many"), "missing"),
        (byte_level(tokens=["a", 7]), "token 1"),
        (byte_level(tokens=["a", "a"], merges=["a a"]), "twice"),
        (byte_level(tokens=["x" * 5000]), "characters long"),
        (byte_level(merges=None), "merges"),
        (byte_level(merges=[7]), "merge 0"),
        (byte_level(token_type=[1]), "entries for"),
        (byte_level(token_type=["1"] * 268), "not a number"),
        (byte_level(add_bos_token="yes"), "not true or false"),
        (byte_level(bos_token_id="1"), "not a number"),
        (score_vocabulary(scores=None), "scores"),
        (score_vocabulary(scores=[0.0] * 269), "all the same"),
        (score_vocabulary(scores=[float("nan")] * 269), "not a number"),
    ],
)
def test_a_broken_vocabulary_is_named_for_what_is_wrong(metadata, says):
    with pytest.raises(VocabularyError, match=says):
        vocabulary(metadata)


@pytest.mark.parametrize("merge", ["h x", "hx", "h", " h", "h ", "he ll o"])
def test_a_merge_that_joins_no_tokens_to_a_token_is_refused(merge):
    metadata = byte_level()
    metadata["tokenizer.ggml.merges"] = [*metadata["tokenizer.ggml.merges"], merge]
    with pytest.raises(VocabularyError, match="merge"):
        vocabulary(metadata)


def test_an_id_out_of_range_is_ignored_as_servers_do():
    assert vocabulary(byte_level(bos_token_id=10**6)).bos is None


@given(st.integers(0, 10_000))
def test_a_file_that_ends_early_is_refused_wherever_it_ends(length):
    whole = encode_metadata(byte_level())
    if length < len(whole):
        with pytest.raises(VocabularyError):
            parse_metadata(whole[:length])


@given(st.binary(max_size=200))
def test_what_is_no_gguf_is_refused(data):
    with pytest.raises(VocabularyError):
        parse_metadata(data)


@given(st.integers(24, 400), st.integers(0, 255))
def test_a_damaged_byte_never_does_worse_than_an_error(place, byte):
    data = bytearray(encode_metadata(score_vocabulary()))
    data[place] = byte
    try:
        vocabulary(parse_metadata(bytes(data)))
    except VocabularyError:
        return


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "empty.gguf").touch()
    for path in (tmp_path / "nothing.gguf", tmp_path, tmp_path / "empty.gguf"):
        with pytest.raises(VocabularyError, match="cannot read"):
            read_metadata(path)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
        st.one_of(
            st.booleans(),
            st.integers(-(2**63), 2**63 - 1),
            st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
            st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=1, max_size=3),
            st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=3),
        ),
        max_size=4,
    )
)
def test_metadata_survives_being_written(metadata):
    assert parse_metadata(encode_metadata(metadata)) == metadata
