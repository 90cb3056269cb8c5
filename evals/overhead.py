"""`python -m evals.overhead`: what does it cost to have a proxy in between? See results/overhead.md.

Five parts, each runnable alone, in front of an upstream that answers at once. `latency` takes times and
processor a request, `recall` the same over ten thousand memories, `stream` looks at long answers, `memory` at
ten thousand requests, `start` at the time to start and at what it takes to be idle.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evals import overhead_latency, overhead_memory, overhead_recall, overhead_start, overhead_stream
from evals.overhead_client import Faulty
from evals.overhead_peers import peers
from evals.overhead_serving import Contestant
from evals.window_rows import Row, none_of, print_rows, progress

PARTS = ("latency", "recall", "stream", "memory", "start")
# Requests of a part when nothing else is said, and when it shall be quick; for `stream` answers, for `start`
# tries.
_REQUESTS = {"latency": 1_000, "recall": 400, "stream": 20, "memory": 10_000, "start": 7}
_QUICK = {"latency": 60, "recall": 40, "stream": 3, "memory": 200, "start": 1}
_QUICK_MEMORIES, _QUICK_IDLE = 200, 1.0


def measure(chosen: argparse.Namespace, others: Sequence[Contestant]) -> Iterator[Row]:
    usual = _QUICK if chosen.quick else _REQUESTS
    many = {part: chosen.requests or usual[part] for part in PARTS}
    settings = dict(text.split("=", 1) for text in chosen.set)
    known = overhead_recall.MEMORIES if not chosen.quick else _QUICK_MEMORIES
    idle = _QUICK_IDLE if chosen.quick else overhead_start.IDLE
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "latency": lambda: overhead_latency.rows(others, settings, requests=many["latency"]),
        "recall": lambda: overhead_recall.rows(settings, requests=many["recall"], number=known),
        "stream": lambda: overhead_stream.rows(others, settings, answers=many["stream"]),
        "memory": lambda: overhead_memory.rows(others, settings, requests=many["memory"]),
        "start": lambda: overhead_start.rows(others, settings, tries=many["start"], idle=idle),
    }
    for part in chosen.part or PARTS:
        try:
            yield from parts[part]()
        except Faulty as error:
            # What was measured until then stays worth reading.
            progress(f"{part} ended early: {error}")
            yield none_of(part, "faults", str(error)[:80].replace("|", "/"), 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.overhead", description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument(
        "--requests", type=int, help="how many to each; answers in `stream`, tries in `start`"
    )
    parser.add_argument(
        "--peers",
        type=Path,
        action="append",
        default=[],
        help="where litellm or context-guardian is",
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="another proxy that speaks OpenAI; {port}, {upstream} and {home} are filled in",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="SETTING=VALUE", help="start Holdfast with this setting"
    )
    parser.add_argument("--quick", action="store_true", help="a small part of everything")
    parser.add_argument("--json", action="store_true", help="as JSON")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    others, missing = peers(chosen.peers, chosen.peer)
    for name in missing:
        progress(f"{name} is not installed (--peers FOLDER says where it is): left out.")
    return print_rows(list(measure(chosen, others)), as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
