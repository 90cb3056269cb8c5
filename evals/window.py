"""`python -m evals.window`: does every request fit, keep its prefix, and lose nothing? See results/window.md.

Five parts, each runnable alone. `cache`, `clients` and `loops` start `holdfast serve` and a real llama.cpp
with SmolLM2 and look from outside; `speed` and `agents` use the library, without a model.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evals import window_agents, window_cache, window_clients, window_loops, window_speed
from evals.window_rows import Row, print_rows, progress
from evals.window_serving import weights

PARTS = ("speed", "cache", "clients", "agents", "loops")
# Turns of a part, and of the comparisons beside it, when nothing else is said; and when it shall be quick.
_TURNS = {"cache": 100, "clients": 300, "loops": 50}
_QUICK_TURNS = {"cache": 12, "clients": 30, "loops": 12}
_COMPARED, _QUICK_COMPARED = 9, 3


def measure(chosen: argparse.Namespace, model: Path) -> Iterator[Row]:
    turns = _QUICK_TURNS if chosen.quick else _TURNS
    compared = _QUICK_COMPARED if chosen.quick else _COMPARED
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "speed": lambda: window_speed.rows(model, quick=chosen.quick),
        "cache": lambda: window_cache.rows(
            chosen.turns or turns["cache"],
            compared,
            model,
            chosen.talk,
            chosen.window or window_cache.WINDOWS,
            chosen.server,
        ),
        "clients": lambda: window_clients.rows(
            chosen.turns or turns["clients"],
            model,
            chosen.window or window_clients.WINDOWS,
            chosen.client or tuple(window_clients.CLIENTS),
        ),
        "agents": lambda: window_agents.rows(model, quick=chosen.quick),
        "loops": lambda: window_loops.rows(chosen.turns or turns["loops"], model),
    }
    for part in chosen.part or PARTS:
        yield from parts[part]()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.window", description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--turns", type=int, help="turns of `cache` and `clients`, calls of `loops`")
    parser.add_argument(
        "--window", type=int, action="append", help="only this window in `cache` and `clients`"
    )
    parser.add_argument(
        "--client", action="append", choices=tuple(window_clients.CLIENTS), help="only this one"
    )
    parser.add_argument("--talk", type=Path, help="docs.jsonl and queries.jsonl of the chat in `cache`")
    parser.add_argument(
        "--server",
        choices=("counted", "thin"),
        default="",
        help="`cache` without a model, by counting, or before a llama.cpp with a thin one",
    )
    parser.add_argument("--quick", action="store_true", help="a small part of everything")
    parser.add_argument("--json", action="store_true", help="as JSON")
    chosen = parser.parse_args(arguments)
    parts = chosen.part or PARTS
    if "cache" in parts and not (chosen.talk and (chosen.talk / "docs.jsonl").is_file()):
        parser.error("the part `cache` needs --talk DIR with docs.jsonl and queries.jsonl")
    model = weights()
    if model is None:
        progress("SmolLM2 is not there (`holdfast models get`): nothing can be measured.")
        return 1
    return print_rows(list(measure(chosen, model)), as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
