"""Byte-level vocabularies: words cut by a rule, bytes joined by merges, by whichever library does it right.

tiktoken is several times faster than `tokenizers`, but it joins any two neighbours whose union is a token, in
the order of the tokens; a vocabulary joins only what its list of merges says, in the list's order. `derive_ranks`
proves for one vocabulary that both come to the same, or gives up. Nothing here knows special tokens.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import tiktoken
from tokenizers import AddedToken, Regex
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel as ByteLevelCharacters
from tokenizers.pre_tokenizers import Sequence as Steps
from tokenizers.pre_tokenizers import Split

from holdfast.tokens.gguf import VocabularyError
from holdfast.tokens.pretokenizers import SplitRule, find_split_rule
from holdfast.tokens.vocabulary import TokenType, Vocabulary


def list_byte_characters() -> str:
    """A byte is written as one printable character: itself where it is one, else the next from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return "".join(chr(byte if byte in printable else next(others)) for byte in range(256))


CHARACTERS = list_byte_characters()
BYTES: Mapping[str, int] = {character: byte for byte, character in enumerate(CHARACTERS)}

# tiktoken's regex engine keeps a stack through a run of white space and panics when it is full, at a million.
# Longer runs are cut, which can cost one token for each cut.
_LONGEST_BLANK = 250_000
_BLANK = re.compile(rf"(\s{{{_LONGEST_BLANK}}})")


def choose_byte_encoder(vocabulary: Vocabulary) -> "RankEncoder | MergeEncoder":
    rule = find_split_rule(vocabulary.pre)
    if rule is None:
        raise VocabularyError(f"the rules of the pre-tokenizer '{vocabulary.pre}' are not known")
    ids = {token: index for index, token in enumerate(vocabulary.tokens)}
    pairs = vocabulary.merge_pairs()
    # Bytes without a token: the server drops them, but they do keep their neighbours apart.
    holes = bytes(byte for byte, character in enumerate(CHARACTERS) if character not in ids)
    if rule.joined is not None:
        words = vocabulary.of_type(TokenType.NORMAL) if rule.whole_words else ()
        ranks = derive_ranks(ids, pairs, words)
        if ranks is not None:
            return RankEncoder(ranks, ids, rule.joined, holes)
    defined = vocabulary.of_type(TokenType.USER_DEFINED)
    return MergeEncoder(ids, pairs, rule, holes, list(defined))


class RankEncoder:
    """tiktoken, for vocabularies where joining by rank is the same as joining by merges."""

    name = "tiktoken"
    finds_defined = False

    def __init__(self, ranks: Mapping[str, int], ids: Mapping[str, int], pattern: str, holes: bytes) -> None:
        self._ids = [ids.get(token, -1) for token in sorted(ranks, key=ranks.__getitem__)]
        self._holes = holes
        self._encoding = tiktoken.Encoding(
            "vocabulary",
            pat_str=pattern,
            mergeable_ranks={bytes(map(BYTES.__getitem__, token)): rank for token, rank in ranks.items()},
            special_tokens={},
        )

    def count(self, text: str) -> int:
        return len(self._encode_ranks(text)) - count_holes(self._holes, text)

    def encode(self, text: str) -> list[int]:
        ids = [self._ids[rank] for rank in self._encode_ranks(text)]
        return [index for index in ids if index >= 0] if self._holes else ids

    def _encode_ranks(self, text: str) -> list[int]:
        # So long a run covers one of these places.
        if not any(map(str.isspace, text[::_LONGEST_BLANK])) or not _BLANK.search(text):
            return self._encoding.encode_ordinary(text)
        return [rank for piece in _BLANK.split(text) for rank in self._encoding.encode_ordinary(piece)]


class MergeEncoder:
    """The `tokenizers` library, which does what the list of merges says, word for word."""

    name = "tokenizers"
    finds_defined = True

    def __init__(
        self,
        ids: Mapping[str, int],
        pairs: Sequence[tuple[str, str]],
        rule: SplitRule,
        holes: bytes,
        defined: Sequence[str],
    ) -> None:
        self._size = len(ids)
        self._holes = holes
        placeholders = {CHARACTERS[byte]: self._size + number for number, byte in enumerate(holes)}
        model = BPE(vocab={**ids, **placeholders}, merges=list(pairs), ignore_merges=rule.whole_words)
        self._library = LibraryTokenizer(model)
        self._library.pre_tokenizer = Steps(
            [Split(Regex(pattern), "isolated") for pattern in rule.patterns]
            + [ByteLevelCharacters(add_prefix_space=False, use_regex=False)]
        )
        self._library.add_tokens([AddedToken(text, normalized=False) for text in defined])

    def count(self, text: str) -> int:
        return len(self._library.encode_batch_fast([text], add_special_tokens=False)[0]) - count_holes(
            self._holes, text
        )

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._library.encode_batch_fast([text], add_special_tokens=False)[0].ids
        return [index for index in ids if index < self._size] if self._holes else ids


def count_holes(holes: bytes, text: str) -> int:
    """How many tokens of the library's are none of the vocabulary's."""
    if not holes:
        return 0
    raw = text.encode()
    return len(raw) - len(raw.translate(None, holes))


def derive_ranks(
    ids: Mapping[str, int], pairs: Sequence[tuple[str, str]], words: Iterable[str]
) -> dict[str, int] | None:
    """Ranks with which joining any neighbours equals applying the merges; None if that cannot be shown.

    The argument: let both methods agree on all merges before the first one that makes token T. Wherever two
    neighbours A and B form T, no earlier merge crossed T's borders, so T's bytes went through the same merges
    as they do alone. If T alone comes out as T, its last pair is the one in the list, so A and B are that
    pair, and joining them is what the list says, provided all merges that make T stand together. A token that
    does not come out alone is never made, and has no rank. Only `words` taken as they are need one: the last
    ranks, which is safe if their bytes end as three pieces or more, so that no two neighbours form them.
    """
    order: dict[str, None] = {}
    last = ""
    for left, right in pairs:
        product = left + right
        if product != last and product in order:
            return None
        order[product] = None
        last = product
    model = BPE(vocab=dict(ids), merges=list(pairs))
    made = [token for token in order if len(model.tokenize(token)) == 1]
    ranks = {token: rank for rank, token in enumerate([*CHARACTERS, *made])}
    for word in words:
        if word not in ranks and BYTES.keys() >= set(word):
            if len(model.tokenize(word)) < 3:
                return None
            ranks[word] = len(ranks)
    return ranks
