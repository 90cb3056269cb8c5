"""SentencePiece vocabularies (Llama 2, Mistral, Gemma): characters joined by score, spaces written as `▁`.

The list of merges that `tokenizers` needs follows from the scores. It knows neither control tokens nor the
space that some of these vocabularies put before a text: `tokenizer` does both.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from tokenizers import AddedToken, Encoding, Regex
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers.models import BPE
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import Split

from holdfast.tokens.gguf import VocabularyError
from holdfast.tokens.vocabulary import TokenType, Vocabulary

SPACE = "▁"


class SentencePieceEncoder:
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
        # After a user-defined token some vocabularies begin with a space again, which the library cannot do.
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
    """Every way to make a token of two others, the best score first."""
    merges = [
        (-scores[index], token[:cut], token[cut:])
        for token, index in ids.items()
        for cut in range(1, len(token))
        if token[:cut] in ids and token[cut:] in ids
    ]
    merges.sort(key=lambda merge: merge[0])
    return [(left, right) for _, left, right in merges]


def build_piece_pattern(tokens: Iterable[str]) -> str:
    """A pattern for stretches that no token crosses, so that each can be joined, and remembered, by itself.

    Texts are cut before a space. Where a token has a space inside, the character before it holds the stretch
    together.
    """
    inside = re.compile(f"([^{SPACE}]){SPACE}")
    joints = {joint for token in tokens if SPACE in token for joint in inside.findall(token)}
    if not joints:
        return f"{SPACE}*[^{SPACE}]+|{SPACE}+"
    held = "".join(rf"\x{{{ord(joint):X}}}" for joint in sorted(joints))
    return f"{SPACE}*(?:[^{SPACE}{held}]|[{held}]{SPACE}*)+|{SPACE}+"
