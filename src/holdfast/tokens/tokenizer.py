"""Splits texts into the tokens of a vocabulary, exactly as the server that runs the model does.

`Tokenizer` finds special tokens and leaves the text between them to an encoder. Three encoders exist:

- `RankEncoder` (byte-level, tiktoken) is several times faster than `tokenizers`, but it joins any two
  neighbours whose union is a token, in the order of the tokens, while a vocabulary joins only the pairs in
  its list of merges, in the list's order. `derive_ranks` proves for a vocabulary that both are equivalent.
- `MergeEncoder` (byte-level, `tokenizers`) is used where that cannot be proved.
- `SentencePieceEncoder` (Llama 2, Mistral, Gemma) joins characters by score and writes spaces as `▁`.

Byte-level vocabularies split text into words first. One table has the rules by the names GGUF gives as `pre`.
They state what llama.cpp does, since that is what answers: where it departs from a model's published pattern
(combining marks in `tekken` and `gpt-4o`), the served rule is here. A name that is not in the table has no
rule (`deepseek-llm`, because its pattern names letters that some builds of the server do not match).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import tiktoken
from tokenizers import AddedToken, Encoding, Regex
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers.models import BPE
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import ByteLevel as ByteLevelCharacters
from tokenizers.pre_tokenizers import Sequence as Steps
from tokenizers.pre_tokenizers import Split

from holdfast.tokens.vocabulary import TokenType, Vocabulary, VocabularyError

# llama.cpp's character tables end with Unicode 15.1; the regex libraries have 16. The characters that 16
# added have no category for the server, so they are excluded here.
_NEWER = (
    r"\x{0897}\x{1B4E}\x{1B4F}\x{1B7F}\x{1C89}\x{1C8A}\x{2427}-\x{2429}\x{31E4}\x{31E5}\x{A7CB}-\x{A7CD}"
    r"\x{A7DA}-\x{A7DC}\x{105C0}-\x{105FF}\x{10D40}-\x{10D8F}\x{10EC2}-\x{10EC4}\x{10EFC}\x{11380}-\x{113FF}"
    r"\x{116D0}-\x{116E3}\x{11BC0}-\x{11BFF}\x{11F5A}\x{13460}-\x{143FF}\x{16100}-\x{1613F}\x{16D40}-\x{16D7F}"
    r"\x{18CFF}\x{1CC00}-\x{1CEB3}\x{1E5D0}-\x{1E5FF}\x{1F8B2}-\x{1F8BB}\x{1F8C0}\x{1F8C1}\x{1FA89}\x{1FA8F}"
    r"\x{1FABE}\x{1FAC6}\x{1FADC}\x{1FADF}\x{1FAE9}\x{1FBCB}-\x{1FBEF}"
)
_L = rf"[\p{{L}}&&[^{_NEWER}]]"
_N = rf"[\p{{N}}&&[^{_NEWER}]]"
_M = rf"[\p{{M}}&&[^{_NEWER}]]"
_P = rf"[\p{{P}}&&[^{_NEWER}]]"
_S = rf"[\p{{S}}&&[^{_NEWER}]]"

_OTHER = rf"[^\s{_L}{_N}]"
_BEFORE_WORD = rf"[^\r\n{_L}{_N}]?"
_SHORT = "'s|'t|'re|'ve|'m|'ll|'d"
_SHORT_ANY_CASE = "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"
_LINES = r"\s*[\r\n]+"
# White space before a word leaves its last character to the word.
_SPACES = r"\s+(?!\S)|\s+"

_GPT2 = rf"{_SHORT}| ?{_L}+| ?{_N}+| ?{_OTHER}+|{_SPACES}"


def _modern_pattern(
    digits: str,
    *,
    short: str = _SHORT_ANY_CASE + "|",
    letters: str = _L,
    other: str = _OTHER,
    lines: str = _LINES,
) -> str:
    """Returns the pattern since GPT-4: words take one character before, punctuation the line breaks after."""
    return rf"{short}{_BEFORE_WORD}{letters}+|{digits}| ?{other}+[\r\n]*|{lines}|{_SPACES}"


def _case_pattern(digits: str, suffix: str = "") -> str:
    """Returns a pattern that ends words where lower case turns to upper.

    Only ASCII has case here; other letters count as both.
    """
    upper, lower = rf"[{_L}&&[^a-z]]", rf"[{_L}&&[^A-Z]]"
    return (
        rf"{_BEFORE_WORD}{upper}*{lower}+{suffix}|{_BEFORE_WORD}{upper}+{lower}*{suffix}|{digits}"
        rf"| ?{_OTHER}+[\r\n/]*|{_LINES}|{_SPACES}"
    )


_CJK = r"[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]"
_OLD_CJK = r"[\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+"
_ASCII_MARK = r"[!-/:-@\[-`\{-~]"
_DEEPSEEK3 = (
    rf"{_ASCII_MARK}[A-Za-z]+|[^\r\n{_L}{_P}{_S}]?[{_L}{_M}]+| ?[{_P}{_S}]+[\r\n]*|{_LINES}|{_SPACES}"
)
_DEEPSEEK3_WORD = rf"[[{_L}{_M}]&&[^{_CJK}]]"
_DEEPSEEK3_REST = rf"[^\s{_L}{_M}{_P}{_S}{_N}]"
_DEEPSEEK3_JOINED = (
    rf"{_N}{{1,3}}|{_CJK}+|{_ASCII_MARK}[A-Za-z]+|[^\r\n{_L}{_P}{_S}{_N}]?{_DEEPSEEK3_WORD}+"
    rf"| ?[{_P}{_S}]+[\r\n]*|{_LINES}|\s+(?![^\s{_N}{_CJK}])|\s+|(?:{_DEEPSEEK3_REST}(?!{_DEEPSEEK3_WORD}))+"
)
_DIGIT_FIRST_JOINED = rf"{_N}|{_SHORT}| ?{_L}+| ?{_OTHER}+|\s+(?![^\s{_N}])|\s+"
_BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"


@dataclass(frozen=True, slots=True)
class SplitRule:
    """How a text is split into words: `patterns` are applied in turn, each to the pieces of the last one.

    `joined` is a single pattern with the same effect, if there is one; the faster library needs it.
    `whole_words` means that a word that is a token is taken as it is, without merges.
    """

    patterns: tuple[str, ...]
    joined: str | None = None
    whole_words: bool = False


def _single_rule(pattern: str, *, whole_words: bool = False) -> SplitRule:
    return SplitRule((pattern,), joined=pattern, whole_words=whole_words)


_GPT2_RULE = _single_rule(_GPT2)
_DIGIT_FIRST = SplitRule((_N, _GPT2), joined=_DIGIT_FIRST_JOINED)
_LLAMA3 = _modern_pattern(rf"{_N}{{1,3}}")
_QWEN2 = _modern_pattern(_N)
_GPT4O = _single_rule(_case_pattern(rf"{_N}{{1,3}}", f"(?:{_SHORT_ANY_CASE})?"))
_DEEPSEEK3_RULE = SplitRule((rf"{_N}{{1,3}}", rf"{_CJK}+", _DEEPSEEK3), joined=_DEEPSEEK3_JOINED)

_BY_NAMES: dict[str, SplitRule] = {
    "gpt-2 phi-2 mpt olmo jais trillion exaone4 gigachat mellum a.x-4.0 granite-docling jina-es jina-de "
    "jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe modern-bert": _GPT2_RULE,
    "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2": _DIGIT_FIRST,
    "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano": _single_rule(
        _LLAMA3, whole_words=True
    ),
    "dbrx smaug-bpe glm4 chatglm-bpe": _single_rule(_LLAMA3),
    "qwen2 stablelm2 deepseek-r1-qwen megrez hunyuan solar-open grok-2 kormo f2llmv2": _single_rule(_QWEN2),
    "qwen35": _single_rule(_modern_pattern(_N, letters=rf"[{_L}{_M}]", other=rf"[^\s{_L}{_M}{_N}]")),
    "bailingmoe bailingmoe2 llada-moe": _single_rule(_modern_pattern(_N, lines=r"\s*[\r\n]")),
    "tekken": _single_rule(_case_pattern(_N), whole_words=True),
    "gpt-4o llama4 kanana2 talkie minimax-m2": _GPT4O,
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": _DEEPSEEK3_RULE,
    "deepseek-coder": SplitRule((r"[\r\n]", rf"\s?{_L}+", rf"\s?{_P}+", _OLD_CJK, _N)),
    "falcon": SplitRule((rf"[{_P}$+<=>^~|`]+", _GPT2, "[0-9][0-9][0-9]")),
    "default": SplitRule((rf"[{_P}$+<=>^~|]+", _GPT2, rf"{_N}+", "[0-9][0-9][0-9]")),
    "bloom poro-chat gpt3-finnish": SplitRule((_BLOOM,)),
    "viking": SplitRule((_BLOOM, _N)),
}
_RULES: dict[str, SplitRule] = {name: rule for names, rule in _BY_NAMES.items() for name in names.split()}
# Old files have no name; the server uses its default rule for them.
_RULES[""] = _RULES["default"]


def list_split_rules() -> frozenset[str]:
    """Returns the names of all known rules."""
    return frozenset(_RULES)


def list_byte_characters() -> str:
    """Returns the character for each byte: itself if printable, else the next one from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    substitutes = iter(range(0x100, 0x200))
    return "".join(chr(byte if byte in printable else next(substitutes)) for byte in range(256))


CHARACTERS = list_byte_characters()
BYTES: Mapping[str, int] = {character: byte for byte, character in enumerate(CHARACTERS)}

# tiktoken's regex engine overflows its stack in a run of a million white space characters. Long runs are
# split, which can cost one token for each cut.
_LONGEST_BLANK = 250_000
_BLANK = re.compile(rf"(\s{{{_LONGEST_BLANK}}})")


def choose_byte_encoder(vocabulary: Vocabulary) -> "RankEncoder | MergeEncoder":
    rule = _RULES.get(vocabulary.pre)
    if rule is None:
        raise VocabularyError(f"the rules of the pre-tokenizer '{vocabulary.pre}' are not known")
    ids = {token: index for index, token in enumerate(vocabulary.tokens)}
    pairs = vocabulary.merge_pairs()
    # Bytes without a token: the server drops them, but they separate their neighbours.
    holes = bytes(byte for byte, character in enumerate(CHARACTERS) if character not in ids)
    if rule.joined is not None:
        words = vocabulary.of_type(TokenType.NORMAL) if rule.whole_words else ()
        ranks = derive_ranks(ids, pairs, words)
        if ranks is not None:
            return RankEncoder(ranks, ids, rule.joined, holes)
    defined = vocabulary.of_type(TokenType.USER_DEFINED)
    return MergeEncoder(ids, pairs, rule, holes, list(defined))


class RankEncoder:
    """Encodes with tiktoken, for vocabularies where joining by rank is equivalent to the merges."""

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
        # A run of that length covers at least one of these positions.
        if not any(map(str.isspace, text[::_LONGEST_BLANK])) or not _BLANK.search(text):
            return self._encoding.encode_ordinary(text)
        return [rank for piece in _BLANK.split(text) for rank in self._encoding.encode_ordinary(piece)]


class MergeEncoder:
    """Encodes with the `tokenizers` library, which applies the list of merges literally."""

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
    """Returns the number of bytes in a text that have no token in the vocabulary."""
    if not holes:
        return 0
    raw = text.encode()
    return len(raw) - len(raw.translate(None, holes))


def derive_ranks(
    ids: Mapping[str, int], pairs: Sequence[tuple[str, str]], words: Iterable[str]
) -> dict[str, int] | None:
    """Returns ranks with which joining neighbours equals applying the merges, or None if there is no proof.

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
    reachable = [token for token in order if len(model.tokenize(token)) == 1]
    ranks = {token: rank for rank, token in enumerate([*CHARACTERS, *reachable])}
    for word in words:
        if word not in ranks and BYTES.keys() >= set(word):
            if len(model.tokenize(word)) < 3:
                return None
            ranks[word] = len(ranks)
    return ranks


SPACE = "▁"


class SentencePieceEncoder:
    """Encodes with scored merges; special tokens and the leading space are added by `Tokenizer`."""

    name = "tokenizers"

    def __init__(self, vocabulary: Vocabulary) -> None:
        ids = {token: index for index, token in enumerate(vocabulary.tokens)}
        missing = [byte for byte in range(256) if f"<0x{byte:02X}>" not in ids]
        if missing:
            raise VocabularyError(f"there is no token for byte 0x{missing[0]:02X}, so text would be lost")
        pairs = vocabulary.merge_pairs() if vocabulary.merges else derive_merges(ids, vocabulary.scores)
        self._library = LibraryTokenizer(BPE(vocab=ids, merges=pairs, byte_fallback=True))
        self._library.normalizer = Replace(" ", SPACE)
        self._library.pre_tokenizer = Split(Regex(build_piece_pattern(vocabulary.tokens)), "isolated")
        # Some vocabularies add a space after a user-defined token, which the library cannot do.
        self.finds_defined = not vocabulary.space_prefix
        if self.finds_defined:
            defined = vocabulary.of_type(TokenType.USER_DEFINED)
            self._library.add_tokens([AddedToken(text, normalized=False) for text in defined])

    def count(self, text: str) -> int:
        return len(self._run(text))

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._run(text).ids
        return ids

    def _run(self, text: str) -> Encoding:
        return self._library.encode_batch_fast([text], add_special_tokens=False)[0]


def derive_merges(ids: Mapping[str, int], scores: Sequence[float]) -> list[tuple[str, str]]:
    """Returns all pairs that form a token, best score first: the merges that `tokenizers` needs."""
    merges = [
        (-scores[index], token[:cut], token[cut:])
        for token, index in ids.items()
        for cut in range(1, len(token))
        if token[:cut] in ids and token[cut:] in ids
    ]
    merges.sort(key=lambda merge: merge[0])
    return [(left, right) for _, left, right in merges]


def build_piece_pattern(tokens: Iterable[str]) -> str:
    """Returns a pattern for pieces that no token crosses, so that each can be encoded and cached by itself.

    Texts are split before a space, except after a character that precedes a space inside a token.
    """
    inside = re.compile(f"([^{SPACE}]){SPACE}")
    joints = {joint for token in tokens if SPACE in token for joint in inside.findall(token)}
    if not joints:
        return f"{SPACE}*[^{SPACE}]+|{SPACE}+"
    inner = "".join(rf"\x{{{ord(joint):X}}}" for joint in sorted(joints))
    return f"{SPACE}*(?:[^{SPACE}{inner}]|[{inner}]{SPACE}*)+|{SPACE}+"


_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class TextEncoder(Protocol):
    """Encodes text without control tokens. `finds_defined`: it finds user-defined tokens by itself."""

    @property
    def name(self) -> str: ...

    @property
    def finds_defined(self) -> bool: ...

    def count(self, text: str) -> int: ...

    def encode(self, text: str) -> list[int]: ...


class Tokenizer:
    """Encodes and decodes texts. Control tokens like `<|im_end|>` are recognised with `special` only."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._byte_level = vocabulary.model == "gpt2"
        self._encoder: TextEncoder = (choose_byte_encoder if self._byte_level else SentencePieceEncoder)(
            vocabulary
        )
        defined = vocabulary.of_type(TokenType.USER_DEFINED)
        control = vocabulary.of_type(TokenType.CONTROL, TokenType.UNKNOWN)
        to_find = {} if self._encoder.finds_defined else defined
        self._plain = _SpecialTokenFinder(to_find)
        self._special = _SpecialTokenFinder({**to_find, **control})
        self._space_prefix = vocabulary.space_prefix and vocabulary.model == "llama"
        self._tokens = vocabulary.tokens
        self._as_written = frozenset({**defined, **control}.values())

    @property
    def engine(self) -> str:
        """The name of the library in use, for reports."""
        return self._encoder.name

    def count(self, text: str, *, special: bool = False) -> int:
        pieces = self._pieces(text, special=special)
        return sum(1 if isinstance(piece, int) else self._encoder.count(piece) for piece in pieces)

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        ids: list[int] = []
        for piece in self._pieces(text, special=special):
            ids += [piece] if isinstance(piece, int) else self._encoder.encode(piece)
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of tokens; incomplete characters become U+FFFD, unknown ids raise IndexError."""
        text = b"".join(map(self._token_bytes, ids)).decode("utf-8", errors="replace")
        return text.removeprefix(" ") if self._space_prefix else text

    def _pieces(self, text: str, *, special: bool) -> list[str | int]:
        finder = self._special if special else self._plain
        pieces = finder.split(replace_lone_surrogates(text))
        if self._space_prefix:
            # SentencePiece adds a space at the start of a text and after a special token.
            return [" " + piece if isinstance(piece, str) else piece for piece in pieces]
        return pieces

    def _token_bytes(self, index: int) -> bytes:
        if index < 0:
            raise IndexError(index)
        token = self._tokens[index]
        if self._byte_level and index not in self._as_written:
            return bytes(BYTES[character] for character in token if character in BYTES)
        if match := _BYTE_TOKEN.fullmatch(token):
            return bytes([int(match[1], 16)])
        return token.replace(SPACE, " ").encode()


class _SpecialTokenFinder:
    """Finds special tokens in a text; the longest one wins where several begin at the same place."""

    def __init__(self, tokens: Mapping[str, int]) -> None:
        self._tokens = tokens
        # Most texts have none: searching for first characters is a hundred times faster than the pattern.
        self._starts = sorted({text[:2] for text in tokens})
        longest_first = sorted(tokens, key=len, reverse=True)
        self._pattern = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")") if tokens else None

    def split(self, text: str) -> list[str | int]:
        if self._pattern is None or not any(start in text for start in self._starts):
            return [text] if text else []
        return [self._tokens.get(piece, piece) for piece in self._pattern.split(text) if piece]


def replace_lone_surrogates(text: str) -> str:
    """Replaces lone surrogates, which JSON allows but neither tokenizers nor servers accept."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
