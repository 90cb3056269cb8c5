"""`python -m evals.overhead`: what does it cost to have a proxy in between? See results/overhead.md.

Five parts, each runnable alone, in front of an upstream that answers at once. `latency` takes times and
processor a request, `recall` the same over ten thousand memories, `stream` looks at long answers, `memory` at
ten thousand requests, `start` at the time to start and at what it takes to be idle.
"""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evals import overhead_latency, overhead_memory, overhead_recall, overhead_start, overhead_stream
from evals.overhead_client import OPENAI, Command, Contestant, Faulty, program
from evals.overhead_upstream import MODEL
from evals.window_rows import Row, none_of, print_rows, progress

_LITELLM = """\
model_list:
  - model_name: {model}
    litellm_params:
      model: openai/{model}
      api_base: {upstream}/v1
      api_key: none
litellm_settings:
  telemetry: false
"""


def _litellm(executable: str) -> Callable[[int, str, Path], Command]:
    def command(port: int, upstream: str, home: Path) -> Command:
        settings = home / "litellm.yaml"
        settings.write_text(_LITELLM.format(model=MODEL, upstream=upstream))
        started = [executable, "--host", "127.0.0.1", "--port", str(port), "--config", str(settings)]
        # On this machine nobody else asks it, and keys are no part of what is compared.
        open_to_all = {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
        return started, {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "WARNING", **open_to_all}

    return command


def _context_guardian(executable: str) -> Callable[[int, str, Path], Command]:
    def command(port: int, upstream: str, home: Path) -> Command:
        settings = {"PORT": str(port), "UPSTREAM_URL": f"{upstream}/v1", "DATA_DIR": str(home)}
        given = {f"GUARDIAN_{name}": value for name, value in settings.items()}
        return [executable], {**given, "GUARDIAN_VERSION_CHECK": "0"}

    return command


KNOWN = {"litellm": _litellm, "context-guardian": _context_guardian}


def peers(folders: Sequence[Path], named: Sequence[str]) -> tuple[list[Contestant], list[str]]:
    """Those that are there, and the names of those that are not.

    Known ones are looked for in these folders; others are `named` with their command: NAME=COMMAND, in which
    {port}, {upstream} and {home} are filled in.
    """
    results, missing = [], []
    for name, prepared in KNOWN.items():
        executable = program(name, folders)
        if executable is None:
            missing.append(name)
        else:
            results.append(Contestant(name, OPENAI, prepared(executable)))
    for text in named:
        name, _, command = text.partition("=")
        results.append(Contestant(name, OPENAI, _parse_command(command)))
    return results, missing


def _parse_command(text: str) -> Callable[[int, str, Path], Command]:
    def command(port: int, upstream: str, home: Path) -> Command:
        places = {"port": str(port), "upstream": upstream, "home": str(home)}
        return [word.format(**places) for word in shlex.split(text)], {}

    return command


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
