"""Cuts texts into the tokens of a vocabulary, exactly as the server that runs the model does.

One `Tokenizer` for all kinds: it takes out special tokens and leaves the text between them to an engine. It
knows no requests and no windows.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from holdfast.tokens.byte_level import BYTES, choose_byte_encoder
from holdfast.tokens.sentencepiece import SPACE, SentencePieceEncoder
from holdfast.tokens.vocabulary import TokenType, Vocabulary

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class TextEncoder(Protocol):
    """Cuts text without control tokens. `finds_defined`: it finds user-defined tokens by itself."""

    @property
    def name(self) -> str: ...

    @property
    def finds_defined(self) -> bool: ...

    def count(self, text: str) -> int: ...

    def encode(self, text: str) -> list[int]: ...


class Tokenizer:
    """Plain text has no control tokens; with `special`, `<|im_end|>` and the like mean what they say."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._byte_level = vocabulary.model == "gpt2"
        self._engine: TextEncoder = (choose_byte_encoder if self._byte_level else SentencePieceEncoder)(
            vocabulary
        )
        defined = vocabulary.of_type(TokenType.USER_DEFINED)
        control = vocabulary.of_type(TokenType.CONTROL, TokenType.UNKNOWN)
        to_find = {} if self._engine.finds_defined else defined
        self._plain = _SpecialTokenFinder(to_find)
        self._special = _SpecialTokenFinder({**to_find, **control})
        self._space_prefix = vocabulary.space_prefix and vocabulary.model == "llama"
        self._tokens = vocabulary.tokens
        self._as_written = frozenset({**defined, **control}.values())

    @property
    def engine(self) -> str:
        """Which library does the work, for reports."""
        return self._engine.name

    def count(self, text: str, *, special: bool = False) -> int:
        pieces = self._pieces(text, special=special)
        return sum(1 if isinstance(piece, int) else self._engine.count(piece) for piece in pieces)

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        ids: list[int] = []
        for piece in self._pieces(text, special=special):
            ids += [piece] if isinstance(piece, int) else self._engine.encode(piece)
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens; what is no whole character becomes U+FFFD, an unknown id raises IndexError."""
        text = b"".join(map(self._token_bytes, ids)).decode("utf-8", errors="replace")
        return text.removeprefix(" ") if self._space_prefix else text

    def _pieces(self, text: str, *, special: bool) -> list[str | int]:
        finder = self._special if special else self._plain
        pieces = finder.split(replace_lone_surrogates(text))
        if self._space_prefix:
            # SentencePiece's habit: a text begins with a space, and so does what follows a special token.
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
    """Finds the texts of special tokens; the longer one wins where two begin at the same place."""

    def __init__(self, tokens: Mapping[str, int]) -> None:
        self._tokens = tokens
        # Most texts have none: a look for their first characters is a hundred times cheaper than the pattern.
        self._starts = sorted({text[:2] for text in tokens})
        longest_first = sorted(tokens, key=len, reverse=True)
        self._pattern = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")") if tokens else None

    def split(self, text: str) -> list[str | int]:
        if self._pattern is None or not any(start in text for start in self._starts):
            return [text] if text else []
        return [self._tokens.get(piece, piece) for piece in self._pattern.split(text) if piece]


def replace_lone_surrogates(text: str) -> str:
    """JSON can carry halves of a character. No tokenizer takes them, and no server passes them on."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
