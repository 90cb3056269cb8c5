"""Texts of a megabyte, one of each sort, for taking the time of their digests.

Real files one after the other where there are enough of a sort, and generated ones where there are none.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from holdfast.files.digests import kind_by_name

_SIZE = 1_000_000
_FROM_FILES = {"python": "py", "javascript": "js", "cpp": "h", "markdown": "md"}


def big_text(sort: str, files: Iterator[tuple[str, str]]) -> tuple[str, str]:
    """A name that tells the sort, and a text of at least a megabyte."""
    if sort in _MADE:
        return _MADE[sort](Random(sort))
    suffix = _FROM_FILES[sort]
    parts: list[str] = []
    for name, text in files:
        if kind_by_name(name) == sort:
            # Only at the beginning of a file is this right.
            parts.append(text.replace("from __future__ import", "from future import"))
            if sum(map(len, parts)) > _SIZE:
                break
    whole = "\n".join(parts) or "\n"
    return f"big.{suffix}", whole * max(1, -(-_SIZE // len(whole)))


def _words(random: Random, number: int) -> str:
    return " ".join(random.choice(_WORDS) for _ in range(number))


def _log(random: Random) -> tuple[str, str]:
    lines = []
    for second in range(_SIZE // 90):
        level = random.choices(("INFO", "DEBUG", "WARN", "ERROR"), (80, 12, 6, 2))[0]
        moment = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=second)
        words = _words(random, random.randint(3, 9))
        worker, code = random.randint(1, 9), random.getrandbits(48)
        lines.append(f"{moment.isoformat()} {level} worker-{worker} {words} id={code:x}")
    return "big.log", "\n".join(lines)


def _csv(random: Random) -> tuple[str, str]:
    rows = ["id;name;amount;at;note"]
    for number in range(_SIZE // 60):
        amount = f"{random.randint(0, 99_999) / 100:.2f}".replace(".", ",")
        rows.append(f"{number};{_words(random, 2)};{amount};2026-11-15;{_words(random, 5)}")
    return "big.csv", "\n".join(rows)


def _json(random: Random) -> tuple[str, str]:
    people = [
        {
            "id": number,
            "name": _words(random, 2),
            "tags": _words(random, 3).split(),
            "place": {"x": random.random()},
        }
        for number in range(_SIZE // 110)
    ]
    return "big.json", json.dumps({"people": people, "version": 3}, indent=1)


def _yaml(random: Random) -> tuple[str, str]:
    lines = []
    for number in range(_SIZE // 130):
        lines += [
            f"service_{number}:",
            f"  image: {_words(random, 1)}:{number}",
            "  ports:",
            "    - 80",
            "    - 443",
        ]
        lines += ["  labels:", f"    owner: {_words(random, 3)}", f"    note: {_words(random, 4)}"]
    return "big.yaml", "\n".join(lines)


def _toml(random: Random) -> tuple[str, str]:
    lines = []
    for number in range(_SIZE // 90):
        lines += [f"[table_{number}]", f'name = "{_words(random, 3)}"', f"count = {number}", "on = true"]
    return "big.toml", "\n".join(lines)


def _prose(random: Random) -> tuple[str, str]:
    return "big.txt", "\n".join(_words(random, 14).capitalize() + "." for _ in range(_SIZE // 95))


def _html(random: Random) -> tuple[str, str]:
    parts = [
        f"<h2>{_words(random, 4)}</h2>\n<p class='x'>{_words(random, 60)}.</p>" for _ in range(_SIZE // 450)
    ]
    return "big.html", f"<html><title>big</title><body>{''.join(parts)}</body></html>"


def _one_line(random: Random) -> tuple[str, str]:
    return "big.py", "DATA = [" + ", ".join(str(random.getrandbits(30)) for _ in range(_SIZE // 12)) + "]"


def _code(name: str, function: Callable[[int, Random], str]) -> Callable[[Random], tuple[str, str]]:
    def generate(random: Random) -> tuple[str, str]:
        parts: list[str] = []
        size = 0
        while size < _SIZE:
            parts.append(function(len(parts), random))
            size += len(parts[-1])
        return name, "\n".join(parts)

    return generate


def _typescript(number: int, random: Random) -> str:
    body = "\n".join(
        f"    const v{line} = this.read({random.randint(0, 999)}, 'a{line}');" for line in range(12)
    )
    head = f"export class Part{number} extends Base {{\n  load(from: string): number {{\n"
    return f"{head}{body}\n    return v1;\n  }}\n}}\n"


def _go(number: int, random: Random) -> str:
    body = "\n".join(f"\tv{line} := read({random.randint(0, 999)}, x)" for line in range(12))
    head = f"// Load{number} reads.\nfunc (p *Part) Load{number}(x int) (int, error) {{\n"
    return f"{head}{body}\n\treturn v1, nil\n}}\n"


def _rust(number: int, random: Random) -> str:
    body = "\n".join(f"    let v{line} = read({random.randint(0, 999)}, &x)?;" for line in range(12))
    return f"/// Reads.\npub fn load_{number}(x: &str) -> Result<u32, Error> {{\n{body}\n    Ok(v1)\n}}\n"


def _java(number: int, random: Random) -> str:
    body = "\n".join(f"    int v{line} = read({random.randint(0, 999)}, x);" for line in range(12))
    head = f"class Part{number} {{\n  /** Reads. */\n  public int load(int x) {{\n"
    return f"{head}{body}\n    return v1;\n  }}\n}}\n"


_MADE: dict[str, Callable[[Random], tuple[str, str]]] = {
    "python in one line": _one_line,
    "typescript": _code("big.ts", _typescript),
    "go": _code("big.go", _go),
    "rust": _code("big.rs", _rust),
    "java": _code("big.java", _java),
    "json": _json,
    "yaml": _yaml,
    "toml": _toml,
    "table": _csv,
    "log": _log,
    "html": _html,
    "text": _prose,
}
SORTS = (*_FROM_FILES, *_MADE)
_WORDS = (
    "request", "server", "Zeile", "answer", "gelesen", "disk", "connection", "Fenster", "opened", "closed",
    "retry", "model", "Antwort", "token", "cache", "miss", "Speicher", "worker", "started", "finished",
    "lange",
)  # fmt: skip
