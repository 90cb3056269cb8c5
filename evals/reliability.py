"""`python -m evals.reliability [--part NAME] [--seed N] [--json] [--write]`, with the options of the part

Tries to break Holdfast, one part at a time, and compares what was promised with what is found. Each part is a
module `evals/reliability_PART.py` whose docstring says what it does; `--part NAME --help` lists its options.
With `--write` its table in `results/reliability.md` is made anew; what people wrote around the table stays.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from evals.reliability_checks import PartResult
from evals.window_rows import table, told

# A module of each: `add_options(parser)`, and `run(options, folder)` that returns a `PartResult`.
PARTS = ("crashes", "faults", "storage", "load", "recovery", "borders", "doors", "poison", "fuzz")
_RESULTS = Path(__file__).parent / "results" / "reliability.md"


def load_part(name: str) -> ModuleType:
    return import_module(f"evals.reliability_{name}")


def write_results(name: str, part: ModuleType, result: PartResult, arguments: Sequence[str]) -> None:
    """Replace what stands between the two marks of a part, or add them at the end."""
    head = (part.__doc__ or "").strip()
    command = " ".join(["python -m evals.reliability", *(word for word in arguments if word != "--write")])
    listed = "\n".join(f"- {line}" for line in result.findings) or "Nothing."
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    parts = (begin, f"`{command}`", head, table(result.rows), "Found in this run:", listed, end)
    block = "\n\n".join(parts)
    text = _RESULTS.read_text()
    marked = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    if not marked.search(text):
        text = f"{text.rstrip()}\n\n## {name.capitalize()}\n\n{begin}{end}\n"
    _RESULTS.write_text(marked.sub(lambda _: block, text))


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="python -m evals.reliability", description=__doc__.partition("\n")[2], add_help=False
    )
    parser.add_argument("--part", choices=PARTS, default=PARTS[0], help="what is tried")
    name = parser.parse_known_args(words)[0].part
    part = load_part(name)
    parser.add_argument("--seed", type=int, default=1, help="of moments and words")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--write", action="store_true", help="also write results/reliability.md")
    parser.add_argument("--help", action="help", help="says this")
    part.add_options(parser)
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as folder:
        # A database on a server runs as somebody else, who must be able to come here.
        Path(folder).chmod(0o755)
        result: PartResult = part.run(chosen, Path(folder))
    if chosen.write:
        write_results(name, part, result, words)
    return told(result.rows, as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
