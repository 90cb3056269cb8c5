"""How good estimates are, before and after real answers, and how fast: `python -m evals.tokens_estimate`.

Texts are cut into pieces of 2,000 characters and counted by estimate and exactly. The shared texts and the
recorded chats are measured on the half that no parameter was fitted to; `xquad_de`, `locomo` and the sources
of installed packages were never fitted at all. Exact counts need a vocabulary: SmolLM2's is in the models
folder, others are read from `--vocabularies FOLDER` (FAMILY.gguf). What is missing is left out.
"""

import argparse
import asyncio
import base64
import json
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from platformdirs import user_data_path

from holdfast.messages import ChatRequest, Message, Text, ToolCall, ToolResult
from holdfast.tokens.calibration import Calibration
from holdfast.tokens.counter import EstimatingCounter, ExactCounter
from holdfast.tokens.estimate import FAMILIES, estimate
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.embedded import EmbeddedProvider

DATA = Path(__file__).parents[2] / "shared" / "data"
SIZE = 2_000

_CHINESE = """
今天早上下了一场大雨，街上几乎没有行人。
我们昨天讨论的方案还需要再仔细检查一遍。
这个程序在读取配置文件时会出现错误，请先确认路径是否正确。
他打开窗户，看见远处的山被云雾遮住了一半。
数据库的备份每天凌晨三点自动进行，保留三十天。
如果你有任何问题，可以随时给我写信或者打电话。
图书馆新到了一批关于历史和哲学的书籍。
火车晚点了二十分钟，旅客们在站台上耐心地等待。
请把会议记录整理好之后发给所有参加的同事。
春天来了，院子里的梨树开满了白色的花。
服务器的内存不足，建议关闭一些不必要的进程。
根据合同第七条的规定，双方应当在六十天内完成付款。
这道菜的做法很简单，只需要鸡蛋、西红柿和一点盐。
研究人员发现，睡眠不足会明显影响人的记忆力。
"""
_JAPANESE = """
今朝は雨が降っていたので、駅まで傘をさして歩きました。
設定ファイルを読み込むときにエラーが発生しました。
来週の会議の資料は、金曜日までに共有フォルダに入れておいてください。
図書館の二階には、静かに勉強できる部屋があります。
このプログラムは、入力されたテキストを単語ごとに分割します。
春になると、川沿いの桜並木がとてもきれいです。
メモリが足りない場合は、不要なアプリケーションを終了してください。
祖母は毎朝、庭の花に水をやってから朝食を食べます。
契約書の第三条によれば、支払いは六十日以内に行うものとする。
電車が遅れているため、到着は二十分ほど遅くなりそうです。
データベースのバックアップは毎日午前三時に自動で実行されます。
"""
_KOREAN = """
오늘 아침에는 비가 많이 와서 거리에 사람이 거의 없었습니다.
설정 파일을 읽는 중에 오류가 발생했습니다. 경로를 확인해 주세요.
다음 주 회의 자료는 금요일까지 공유 폴더에 올려 주시기 바랍니다.
도서관 이층에는 조용히 공부할 수 있는 방이 있습니다.
이 프로그램은 입력된 문장을 단어 단위로 나눕니다.
봄이 되면 강변의 벚꽃이 아주 아름답습니다.
메모리가 부족하면 필요 없는 프로그램을 종료하십시오.
할머니는 매일 아침 마당의 꽃에 물을 주신 후 식사를 하십니다.
계약서 제삼조에 따르면 대금은 육십일 이내에 지급해야 한다.
데이터베이스 백업은 매일 새벽 세 시에 자동으로 실행됩니다.
"""
_EMOJI = """
😀 😂 😅 😉 😍 😎 😢 😭 😡 😱 🤔 🤣 🥳 🙃 👍 👎 👏 🙏 💪 👀 ❤️ 💚 💙 🔥 ✨ ⭐ 🎉 🚀 ✈️ 🏠
🏆 ⚽ 🍕 🌍 🌈 ☀️ ❄️ ✅ ❌ ⚠️ ❓ 💡 📌 📝 📅 📊 💻 📱 🔒 🔑 🛠️ ⚙️ 🐍 🦀 🐧 🐳 👨‍👩‍👧‍👦 🇩🇪 🇫🇷 👍🏽 👩🏻‍💻 🤷‍♂️
""".split()  # noqa: SIM905
_WORDS = """
the report shows that memory grows with every request until the server stops and starts again while users
wait for an answer nobody can give because the window is full of old results from tools they never called
""".split()  # noqa: SIM905


def kinds(most: int) -> dict[str, list[str]]:
    """Up to `most` pieces of each kind, the same ones every time; where files are missing, a kind is too."""
    texts = DATA / "text"
    results = {
        "German law": _half(texts / "de-law.md"),
        "German technical prose": _half(texts / "de-tech.md"),
        "English essays": _half(texts / "en-essays.txt"),
        "German encyclopaedia": _cut(_documents("xquad_de")),
        "English chats": _cut(_documents("locomo")),
        "coding transcripts": _half(DATA / "agent" / "aider-history.md"),
        "code": list(_code()),
        "JSON": _half(DATA / "agent" / "tau-airline-30.json") + _make_pieces(_record, 100),
        "logs and digits": _make_pieces(_log, 120),
        "Chinese": _make_pieces(_sentences(_CHINESE), 100),
        "Japanese": _make_pieces(_sentences(_JAPANESE), 100),
        "Korean": _make_pieces(_sentences(_KOREAN), 100),
        "emoji": _make_pieces(_smileys, 100),
        "base64": _make_pieces(_base64, 100),
    }
    return {
        kind: Random(kind).sample(pieces, min(most, len(pieces)))
        for kind, pieces in results.items()
        if pieces
    }


def _cut(text: str) -> list[str]:
    return [text[at : at + SIZE] for at in range(0, len(text) - SIZE + 1, SIZE)]


def _half(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return _cut(text[len(text) // 2 :])


def _documents(name: str) -> str:
    path = DATA / "eval" / name / "docs.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return "\n\n".join(json.loads(line)["text"] for line in lines)


def _code() -> Iterator[str]:
    for package in ("starlette", "httpx", "sqlalchemy", "pydantic"):
        for path in sorted(Path(sysconfig.get_paths()["purelib"], package).rglob("*.py")):
            yield from _cut(path.read_text(encoding="utf-8"))


def _make_pieces(make: Callable[[Random], str], number: int) -> list[str]:
    """Each piece is made of one kind of line, as a file would be."""
    pieces = []
    for at in range(number):
        random, text = Random(at), ""
        while len(text) < SIZE:
            text += make(random)
        pieces.append(text[:SIZE])
    return pieces


def _sentences(text: str) -> Callable[[Random], str]:
    sentences = text.split("\n")[1:-1]
    return lambda random: random.choice(sentences) + random.choice(["", "", "\n"])


def _some(random: Random, most: int) -> str:
    return " ".join(random.choices(_WORDS, k=random.randint(1, most)))


def _record(random: Random) -> str:
    value = {
        "id": random.randrange(10**6),
        "user_id": f"{random.choice(_WORDS)}_{random.randrange(1000)}",
        "created_at": f"2026-0{random.randint(1, 9)}-1{random.randint(0, 9)}T1{random.randint(0, 9)}:30:00Z",
        "title": _some(random, 6),
        "score": round(random.random(), random.randint(2, 6)),
        "tags": random.choices(_WORDS, k=3),
        "active": random.random() < 0.5,
        "parent": None,
        "address": {"street": _some(random, 2), "number": random.randint(1, 200)},
    }
    return json.dumps(value, indent=random.choice([None, None, 2])) + "\n"


def _log(random: Random) -> str:
    number = random.randrange
    stamp = f"2026-11-{number(10, 30)} {number(10, 24)}:{number(10, 60)}:{number(10, 60)}"
    return random.choice(
        [
            f"{stamp},{number(100, 999)} INFO [worker-{number(16)}] {_some(random, 6)} id={number(10**6)}\n",
            f"10.0.{number(256)}.{number(256)} - - [{stamp}] GET /{_some(random, 1)} 200 {number(10**5)}\n",
            ",".join(f"{random.uniform(-1000, 1000):.{number(5)}f}" for _ in range(8)) + "\n",
            f"{random.getrandbits(128):032x}  {_some(random, 1)}.bin\n",
        ]
    )


def _smileys(random: Random) -> str:
    return _some(random, 8) + " " + "".join(random.choices(_EMOJI, k=random.randint(1, 12))) + "\n"


def _base64(random: Random) -> str:
    return base64.b64encode(random.randbytes(SIZE)).decode()


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
