"""`python -m evals.compaction`: what is left of a long chat once summarised? See results/compaction.md.

Five parts, each runnable alone. `generated` and `shared` replay chats with scripts for models, `embedded`
with SmolLM2 on a real llama.cpp as the summariser (or another model's `--weights`), `waiting` looks at what
llama.cpp reads anew, `speed` takes the time of the path without a model.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evals import compaction_retention, compaction_speed, compaction_waiting
from evals.compaction_replay import MARKS
from evals.window_rows import Row, print_rows, progress
from evals.window_serving import weights

PARTS = ("generated", "shared", "embedded", "waiting", "speed")
_QUICK_MARKS = (1, 2)


def measure(chosen: argparse.Namespace, model: Path) -> Iterator[Row]:
    most = chosen.compactions or (_QUICK_MARKS[-1] if chosen.quick else None)
    marks = [mark for mark in MARKS if most is None or mark <= most]
    # A real model takes minutes for a compaction.
    slow = [mark for mark in marks if chosen.compactions or mark <= 10]
    seeds = 1 if chosen.quick else chosen.seeds
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "generated": lambda: compaction_retention.rows_of_scripts(
            model, marks=marks, seeds=seeds or 2, only=chosen.only
        ),
        "shared": lambda: compaction_retention.rows_of_chats(model, marks=marks, only=chosen.only),
        "embedded": lambda: compaction_retention.model_rows(
            model,
            chosen.weights or model,
            marks=slow,
            seeds=seeds or 1,
            only=chosen.only,
        ),
        "waiting": lambda: compaction_waiting.rows(model, quick=chosen.quick),
        "speed": lambda: compaction_speed.rows(model, quick=chosen.quick),
    }
    for part in chosen.part or PARTS:
        yield from parts[part]()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m evals.compaction", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--compactions", type=int, help="stop after so many (at most 20)")
    parser.add_argument("--seeds", type=int, help="replicates of generated chats")
    parser.add_argument("--only", default="", help="only cases with these words in their name")
    parser.add_argument("--weights", type=Path, help="a larger model's GGUF file, to be asked in `embedded`")
    parser.add_argument("--quick", action="store_true", help="a small part of everything")
    parser.add_argument("--json", action="store_true", help="as JSON")
    chosen = parser.parse_args(arguments)
    model = weights()
    if model is None:
        progress("SmolLM2 is not there (`holdfast models get`): nothing can be measured.")
        return 1
    return print_rows(list(measure(chosen, model)), as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
