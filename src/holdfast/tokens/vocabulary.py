"""A model's vocabulary: what GGUF and Ollama's `/api/show` have under `tokenizer.ggml`, checked."""

import hashlib
import math
import mmap
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from os import PathLike
from pathlib import Path
from typing import Any, Self

from holdfast.errors import HoldfastError


class VocabularyError(HoldfastError):
    """A vocabulary is broken, incomplete, or of an unknown kind; callers fall back to an estimate."""


Metadata = Mapping[str, Any]

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY, _BOOL = 8, 9, 7
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_LENGTH = struct.Struct("<Q")
_HEADER = struct.Struct("<4sIQQ")
# The format allows nested arrays; deeper nesting than this is an attempt to exhaust the stack.
_MAX_DEPTH = 4


def read_metadata(
    path: str | PathLike[str], wanted: Callable[[str], bool] = lambda _key: True
) -> dict[str, Any]:
    """Reads the key-value pairs of a GGUF file; values of keys that are not `wanted` are skipped."""
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _MetadataReader(data).read_pairs(wanted)
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        raise VocabularyError(f"cannot read {Path(path).name}: {error}") from error


def parse_metadata(data: bytes, wanted: Callable[[str], bool] = lambda _key: True) -> dict[str, Any]:
    """Reads the wanted key-value pairs at the start of a GGUF file's bytes."""
    return _MetadataReader(data).read_pairs(wanted)


class _MetadataReader:
    def __init__(self, data: bytes | mmap.mmap) -> None:
        self.data = data
        self.size = len(data)
        self.at = 0

    def read_pairs(self, wanted: Callable[[str], bool]) -> dict[str, Any]:
        magic, version, _tensors, count = self._unpack(_HEADER)
        if magic != _MAGIC:
            raise VocabularyError("not a GGUF file")
        if version not in _VERSIONS:
            raise VocabularyError(f"GGUF version {version} is not known (2 and 3 are)")
        pairs: dict[str, Any] = {}
        for _ in range(count):
            key = self._string()
            (kind,) = self._unpack(struct.Struct("<I"))
            if wanted(key):
                pairs[key] = self._value(kind)
            else:
                self._skip(kind)
        return pairs

    def _unpack(self, form: struct.Struct) -> tuple[Any, ...]:
        start = self._advance(form.size)
        return form.unpack_from(self.data, start)

    def _advance(self, size: int) -> int:
        start = self.at
        if size > self.size - start:
            raise VocabularyError(f"the GGUF file ends early: {size} bytes wanted at {start} of {self.size}")
        self.at = start + size
        return start

    def _string(self) -> str:
        (length,) = self._unpack(_LENGTH)
        start = self._advance(length)
        try:
            return str(self.data[start : self.at], "utf-8")
        except UnicodeDecodeError as error:
            raise VocabularyError(f"a string at byte {start} of the GGUF file is not UTF-8") from error

    def _value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array(depth)
        return self._unpack(struct.Struct("<" + scalar_format(kind)))[0]

    def _array(self, depth: int) -> list[Any]:
        kind, count = self._unpack(struct.Struct("<IQ"))
        if kind in _SCALARS:
            # `_advance` has checked that the array fits into the file, and so into memory.
            start = self._advance(count * struct.calcsize("<" + scalar_format(kind)))
            return list(struct.unpack_from(f"<{count}{scalar_format(kind)}", self.data, start))
        if depth >= _MAX_DEPTH:
            raise VocabularyError("arrays are nested too deeply in the GGUF file")
        return [self._value(kind, depth + 1) for _ in range(count)]

    def _skip(self, kind: int, depth: int = 0) -> None:
        if kind == _STRING:
            (length,) = self._unpack(_LENGTH)
            self._advance(length)
        elif kind == _ARRAY:
            inner, count = self._unpack(struct.Struct("<IQ"))
            if inner in _SCALARS:
                self._advance(count * struct.calcsize("<" + scalar_format(inner)))
                return
            if depth >= _MAX_DEPTH:
                raise VocabularyError("arrays are nested too deeply in the GGUF file")
            for _ in range(count):
                self._skip(inner, depth + 1)
        else:
            self._advance(struct.calcsize("<" + scalar_format(kind)))


def scalar_format(kind: int) -> str:
    try:
        return _SCALARS[kind]
    except KeyError:
        raise VocabularyError(f"the GGUF file has a value of unknown type {kind}") from None


def encode_metadata(metadata: Metadata, tensors: int = 0) -> bytes:
    """Returns header and pairs as GGUF 3. Types follow Python's: str, bool, int, float (32 bit), lists."""
    parts = [_HEADER.pack(_MAGIC, _VERSIONS[-1], tensors, len(metadata))]
    for key, value in metadata.items():
        kind, body = encode_value(value)
        parts += [encode_string(key), struct.pack("<I", kind), body]
    return b"".join(parts)


def encode_value(value: Any) -> tuple[int, bytes]:
    match value:
        case bool():
            return _BOOL, struct.pack("<?", value)
        case str():
            return _STRING, encode_string(value)
        case int():
            return (4, struct.pack("<I", value)) if 0 <= value < 2**32 else (11, struct.pack("<q", value))
        case float():
            return 6, struct.pack("<f", value)
        case list() | tuple():
            kind, body = encode_items(value)
            return _ARRAY, struct.pack("<IQ", kind, len(value)) + body
    raise TypeError(f"GGUF has no type for {type(value).__name__}")


def encode_items(values: list[Any] | tuple[Any, ...]) -> tuple[int, bytes]:
    if all(isinstance(value, str) for value in values):
        return _STRING, b"".join(encode_string(value) for value in values)
    if all(isinstance(value, int) for value in values):
        return 5, struct.pack(f"<{len(values)}i", *values)
    return 6, struct.pack(f"<{len(values)}f", *values)


def encode_string(text: str) -> bytes:
    raw = text.encode()
    return _LENGTH.pack(len(raw)) + raw


PREFIX = "tokenizer.ggml."

# Far above every existing model (262,144 tokens), and still harmless.
_MOST_TOKENS = 2**21
_MOST_MERGES = 2**22
_LONGEST_TOKEN = 4096

_BPE_MODELS = ("gpt2", "gemma4")
_SCORED_MODELS = ("llama",)


class TokenType(IntEnum):
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


# Texts that the server treats as control tokens whatever type the file gives them …
_ALWAYS_CONTROL = frozenset(
    "<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> <|endoftext|> </s> "  # noqa: SIM905
    "<|eom_id|> <EOT> _<EOT> [EOT] [EOS] <|end_of_text|> <end_of_utterance> <eos> <turn|> <|tool_response> "
    "<｜end▁of▁sentence｜> [e~[ "
    "<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|> "
    "<|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|> "
    "<|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|> <|middle|> "
    "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD] <|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame> "
    "<|file_sep|>".split()
)
# … and as user-defined tokens, which are recognised in plain text, too (the gpt-oss format).
_ALWAYS_DEFINED = frozenset(("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary. Byte-pair ones have `merges`, SentencePiece ones `scores`; the other field is empty."""

    model: str
    pre: str
    tokens: tuple[str, ...]
    types: tuple[int, ...]
    merges: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    space_prefix: bool = False
    bos: int | None = None
    eos: int | None = None
    add_bos: bool = False
    add_eos: bool = False

    @classmethod
    def from_gguf(cls, path: str | PathLike[str]) -> Self:
        return cls.from_metadata(read_metadata(path, wanted=lambda key: key.startswith(PREFIX)))

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Self:
        """Reads GGUF pairs or Ollama's `model_info`; everything but `tokenizer.ggml.*` is ignored."""
        model = _get_text(metadata, "model")
        if model not in _BPE_MODELS + _SCORED_MODELS:
            raise VocabularyError(
                f"vocabularies of kind '{model}' are not known" if model else "there is no vocabulary in it"
            )
        tokens = read_tokens(metadata)
        scored = model in _SCORED_MODELS
        vocabulary = cls(
            model=model,
            pre=_get_text(metadata, "pre"),
            tokens=tokens,
            types=read_types(metadata, tokens),
            merges=() if scored else read_merges(metadata),
            scores=read_scores(metadata, len(tokens)) if scored else (),
            space_prefix=_get_flag(metadata, "add_space_prefix", default=scored),
            bos=_get_token_id(metadata, "bos_token_id", len(tokens)),
            eos=_get_token_id(metadata, "eos_token_id", len(tokens)),
            add_bos=_get_flag(metadata, "add_bos_token", default=scored),
            add_eos=_get_flag(metadata, "add_eos_token", default=False),
        )
        if not scored:
            vocabulary.merge_pairs()
        return vocabulary

    def to_metadata(self) -> dict[str, Any]:
        """Returns the pairs from which `from_metadata` builds an equal vocabulary."""
        values: dict[str, Any] = {
            "model": self.model,
            "pre": self.pre,
            "tokens": list(self.tokens),
            "token_type": list(self.types),
            "add_space_prefix": self.space_prefix,
            "add_bos_token": self.add_bos,
            "add_eos_token": self.add_eos,
        }
        if self.merges:
            values["merges"] = list(self.merges)
        if self.scores:
            values["scores"] = list(self.scores)
        if self.bos is not None:
            values["bos_token_id"] = self.bos
        if self.eos is not None:
            values["eos_token_id"] = self.eos
        return {PREFIX + name: value for name, value in values.items()}

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a GGUF file without tensors."""
        Path(path).write_bytes(encode_metadata(self.to_metadata()))

    @property
    def digest(self) -> str:
        return hashlib.sha256(encode_metadata(self.to_metadata())).hexdigest()

    def of_type(self, *types: TokenType) -> dict[str, int]:
        """Returns tokens of these types with their ids, by the types that the server uses."""
        corrected = correct_types(frozenset(self.tokens))
        return {
            text: index
            for index, (text, kind) in enumerate(zip(self.tokens, self.types, strict=True))
            if corrected.get(text, kind) in types
        }

    def merge_pairs(self) -> list[tuple[str, str]]:
        """Returns the merges as pairs, in order; each part and each product must be a token."""
        tokens = frozenset(self.tokens)
        pairs = []
        for index, merge in enumerate(self.merges):
            left, space, right = merge[1:].partition(" ")
            left = merge[:1] + left
            if not (space and right and left in tokens and right in tokens and left + right in tokens):
                raise VocabularyError(f"merge {index} ({merge[:60]!r}) does not join two tokens to a third")
            pairs.append((left, right))
        return pairs


def correct_types(tokens: frozenset[str]) -> dict[str, TokenType]:
    """Returns the types that the server overrides, by the tokens' text."""
    types = dict.fromkeys(_ALWAYS_CONTROL & tokens, TokenType.CONTROL)
    types |= dict.fromkeys(_ALWAYS_DEFINED & tokens, TokenType.USER_DEFINED)
    if (
        "<|end|>" in types
        and types.keys() & {"<|call|>", "<|calls|>"}
        and types.keys() & {"<|return|>", "<|flush|>"}
    ):
        types["<|end|>"] = TokenType.USER_DEFINED  # ends a part there, not the answer
    if "<|tool_response>" in types and "</s>" in types:
        types["</s>"] = TokenType.NORMAL  # a tag of HTML there
    return types


def _get_text(metadata: Mapping[str, Any], name: str) -> str:
    value = metadata.get(PREFIX + name, "")
    if not isinstance(value, str):
        raise VocabularyError(f"{PREFIX}{name} is {type(value).__name__}, not text")
    return value


def _get_flag(metadata: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = metadata.get(PREFIX + name, default)
    if not isinstance(value, bool):
        raise VocabularyError(f"{PREFIX}{name} is {value!r:.40}, not true or false")
    return value


def _get_token_id(metadata: Mapping[str, Any], name: str, size: int) -> int | None:
    """Returns an id; one out of range is ignored, as by the server, but another type is an error."""
    value = metadata.get(PREFIX + name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise VocabularyError(f"{PREFIX}{name} is {value!r:.40}, not a number")
    return value if 0 <= value < size else None


def _get_list(metadata: Mapping[str, Any], name: str, most: int) -> Sequence[Any]:
    value = metadata.get(PREFIX + name)
    if not isinstance(value, list | tuple) or not value:
        raise VocabularyError(f"{PREFIX}{name} is missing or empty")
    if len(value) > most:
        raise VocabularyError(f"{PREFIX}{name} has {len(value):,} entries, more than any model ({most:,})")
    return value


def read_tokens(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    tokens = _get_list(metadata, "tokens", _MOST_TOKENS)
    for index, token in enumerate(tokens):
        if not isinstance(token, str):
            raise VocabularyError(f"token {index} is {type(token).__name__}, not text")
        if len(token) > _LONGEST_TOKEN:
            raise VocabularyError(f"token {index} is {len(token):,} characters long")
    named = tuple(token or f"[EMPTY_{index}]" for index, token in enumerate(tokens))
    if len(set(named)) != len(named):
        seen: set[str] = set()
        twice = next(token for token in named if token in seen or seen.add(token))  # type: ignore[func-returns-value]
        raise VocabularyError(f"token {twice[:60]!r} is there twice")
    return named


def read_types(metadata: Mapping[str, Any], tokens: Sequence[str]) -> tuple[int, ...]:
    if metadata.get(PREFIX + "token_type") is None:
        return (int(TokenType.NORMAL),) * len(tokens)
    types = _get_numbers(metadata, "token_type", len(tokens))
    if not all(isinstance(kind, int) for kind in types):
        raise VocabularyError(f"{PREFIX}token_type has fractions in it")
    return tuple(int(kind) for kind in types)


def read_scores(metadata: Mapping[str, Any], size: int) -> tuple[float, ...]:
    scores = tuple(float(score) for score in _get_numbers(metadata, "scores", size))
    if len(set(scores)) == 1 and size > 1:
        raise VocabularyError(f"{PREFIX}scores are all the same, so no merge comes before another")
    return scores


def _get_numbers(metadata: Mapping[str, Any], name: str, size: int) -> Sequence[int | float]:
    values = _get_list(metadata, name, _MOST_TOKENS)
    if len(values) != size:
        raise VocabularyError(f"{PREFIX}{name} has {len(values):,} entries for {size:,} tokens")
    for index, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise VocabularyError(f"entry {index} of {PREFIX}{name} is {value!r:.40}, not a number")
    return values


def read_merges(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    merges = _get_list(metadata, "merges", _MOST_MERGES)
    for index, merge in enumerate(merges):
        if not isinstance(merge, str):
            raise VocabularyError(f"merge {index} is {type(merge).__name__}, not text")
    return tuple(merges)
