"""How good estimates are, before and after real answers, and how fast: `python -m evals.tokens_estimate`.

Texts are cut into pieces of 2,000 characters and counted by estimate and exactly. The shared texts and the
recorded chats are measured on the half that no parameter was fitted to; `xquad_de`, `locomo` and the sources
of installed packages were never fitted at all. Exact counts need a vocabulary: SmolLM2's is in the models
folder, others are read from `--vocabularies FOLDER` (FAMILY.gguf). What is missing is left out.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from platformdirs import user_data_path

from evals.estimate_texts import kinds
from holdfast.messages import ChatRequest, Message, Text, ToolCall, ToolResult
from holdfast.tokens.calibration import Calibration
from holdfast.tokens.counter import EstimatingCounter, ExactCounter
from holdfast.tokens.estimate import FAMILIES, estimate
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.embedded import EmbeddedProvider

_LEARNED = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. `value` is a share, or a factor for speed; `met` compares it with the target."""

    what: str
    family: str
    kind: str
    value: float
    target: str
    met: bool
    cases: int


def rows(quick: bool, tokenizers: Mapping[str, Tokenizer] | None = None) -> list[Row]:
    """All rows; `tokenizers` by the names of `FAMILIES`, SmolLM2's own alone by default."""
    weights = _weights()
    known = dict(tokenizers or {})
    if weights is not None and "smollm" not in known:
        known["smollm"] = Tokenizer(Vocabulary.from_gguf(weights))
    pieces = kinds(10 if quick else 200)
    results = [row for family, tokenizer in known.items() for row in _of_family(family, tokenizer, pieces)]
    if weights is not None:
        results += asyncio.run(_learn(weights, known["smollm"], pieces, 15 if quick else 150))
    return results


def _weights() -> Path | None:
    return next((user_data_path("holdfast") / "models").glob("SmolLM2*.gguf"), None)


def _of_family(family: str, tokenizer: Tokenizer, pieces: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    prices = FAMILIES[family]
    slow = fast = 0.0
    for kind, texts in pieces.items():
        exact = [tokenizer.count(text) for text in texts]
        guesses = [estimate(text, prices) for text in texts]
        error = statistics.mean(
            abs(guess.tokens - true) / true for guess, true in zip(guesses, exact, strict=True)
        )
        yield Row(
            "estimate, not calibrated: mean error", family, kind, error, "< 8 %", error < 0.08, len(texts)
        )
        outside = [not guess.low <= true <= guess.high for guess, true in zip(guesses, exact, strict=True)]
        share = statistics.mean(outside)
        yield Row("true number out of bounds", family, kind, share, "<= 1 %", share <= 0.01, len(texts))
        times = [_seconds(tokenizer, family, texts) for _ in range(5)]
        slow, fast = slow + min(item for item, _ in times), fast + min(two for _, two in times)
    factor = slow / fast
    cases = sum(map(len, pieces.values()))
    yield Row("estimate faster than exact", family, "all", factor, ">= 20 times", factor >= 20, cases)


def _seconds(tokenizer: Tokenizer, family: str, texts: Sequence[str]) -> tuple[float, float]:
    """Each text once, one method right after the other."""
    prices = FAMILIES[family]
    start = time.perf_counter()
    for text in texts:
        tokenizer.count(text)
    between = time.perf_counter()
    for text in texts:
        estimate(text, prices)
    return between - start, time.perf_counter() - between


async def _learn(
    weights: Path, tokenizer: Tokenizer, pieces: Mapping[str, Sequence[str]], cases: int
) -> list[Row]:
    """Random chats with and without tools, their prompt tokens reported by llama.cpp itself."""
    random = Random(5)
    requests = [_chat(random, pieces, tools=at % 3 == 0) for at in range(_LEARNED + cases)]
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedProvider(weights, log=Path(folder) / "llama.log", ctx=2048)
        try:
            reported = [await server.count(request) for request in requests]
        finally:
            await server.aclose()
    results = []
    for name, counter, target in (
        ("estimate", EstimatingCounter("smollm"), 0.03),
        ("exact text, learned template", ExactCounter(tokenizer, Calibration.fresh("exact", "smollm")), 0.01),
    ):
        errors, misses = [], 0
        for at, (request, true) in enumerate(zip(requests, reported, strict=True)):
            assert true is not None, "llama.cpp counts requests"
            if at < _LEARNED:
                counter.calibration = counter.calibration.learn(counter.request_features(request), true)
                continue
            count = counter.count_request(request)
            errors.append(abs(count.tokens - true) / true)
            misses += not count.low <= true <= count.high
        error, worst, share = statistics.mean(errors), max(errors), misses / len(errors)
        limit = f"< {target:.0%}"
        results += [
            Row(
                f"{name}, after 20 answers: mean error",
                "smollm",
                "chats",
                error,
                limit,
                error < target,
                cases,
            ),
            Row(f"{name}, after 20 answers: largest error", "smollm", "chats", worst, "", True, cases),
            Row(
                f"{name}, after 20 answers: out of bounds",
                "smollm",
                "chats",
                share,
                "<= 1 %",
                share <= 0.01,
                cases,
            ),
        ]
    return results


def _chat(random: Random, pieces: Mapping[str, Sequence[str]], *, tools: bool) -> ChatRequest:
    """A chat of mixed texts; some have a system message, calls and results where there are tools."""
    kind = [text for name in pieces if name in _TALK for text in pieces[name]]

    def words(longest: int) -> str:
        text = random.choice(kind)
        start = random.randrange(len(text) // 2)
        return text[start : start + random.randint(20, longest)]

    messages = [Message.of("system", words(400))] if random.random() < 0.5 else []
    for _ in range(random.randint(1, 8)):
        messages.append(Message.of("user", words(1_500)))
        if tools and random.random() < 0.5:
            arguments = json.dumps({"query": words(40), "limit": random.randint(1, 50)})
            messages.append(Message("assistant", (ToolCall("search", arguments, "call_1"),), form="null"))
            messages.append(Message("tool", (ToolResult((Text(words(800)),), call_id="call_1"),)))
        messages.append(Message.of("assistant", words(1_000)))
    messages.append(Message.of("user", words(300)))
    listed = random.sample(_TOOLS, random.randint(1, len(_TOOLS))) if tools else []
    return ChatRequest("embedded", tuple(messages), tools=tuple(listed))


_TALK = ("English essays", "English chats", "German technical prose", "code", "JSON")


def _tool(name: str, description: str, **properties: str) -> dict[str, object]:
    schema = {key: {"type": kind, "description": f"The {key} to use."} for key, kind in properties.items()}
    parameters = {"type": "object", "properties": schema, "required": list(properties)[:1]}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


_TOOLS = (
    _tool(
        "search",
        "Looks for something in the notes and returns what fits best.",
        query="string",
        limit="integer",
    ),
    _tool("read_file", "Reads a file and returns its text.", path="string"),
    _tool("write_file", "Writes a text to a file.", path="string", text="string", append="boolean"),
    _tool("weather", "The weather at a place, now or on a day to come.", place="string", day="string"),
    _tool("calculate", "Works out an expression.", expression="string"),
)


def _read(folder: Path) -> dict[str, Tokenizer]:
    paths = ((name, folder / f"{name}.gguf") for name in FAMILIES)
    return {name: Tokenizer(Vocabulary.from_gguf(path)) for name, path in paths if path.is_file()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer texts")
    parser.add_argument("--vocabularies", type=Path, help="a folder with FAMILY.gguf files")
    options = parser.parse_args()
    results = rows(options.quick, _read(options.vocabularies) if options.vocabularies else None)
    if options.json:
        json.dump([asdict(row) for row in results], sys.stdout, indent=1)
        return
    for row in results:
        value = f"{row.value:.1f}" if "times" in row.target else f"{row.value:.1%}"
        verdict = "" if row.met else "  MISSED"
        print(f"{row.what:61} {row.family:9} {row.kind:24} {value:>7}  {row.target}{verdict}")


if __name__ == "__main__":
    main()
