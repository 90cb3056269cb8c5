"""`python -m evals.files`: what does showing a file short save, and are its names there? results/files.md.

Looks at the sources and documents of the packages that are installed here, at `../shared/data` where it is
there, and at any `--folder`. Three parts: `saved`, `names` and `speed`.
"""

import argparse
import ast
import re
import sys
import sysconfig
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles

from evals.files_texts import SORTS, big_text
from evals.window_rows import Row, none_of, print_rows, progress
from holdfast.errors import BadRequest
from holdfast.files.digests import build_digest, kind_by_name
from holdfast.files.documents import extract_text
from holdfast.tokens.estimate import UNKNOWN, estimate

PARTS = ("saved", "names", "speed")
SHARED = Path(__file__).parents[2] / "shared" / "data"
_LARGE, _LARGEST = 20_000, 2_000_000
_SAVED = 90.0
_MOST_MS = 200.0
_QUICK = 12
_TRIES = 5
_WORDS = re.compile(r"\w+")


def folders(more: Sequence[Path] = ()) -> list[Path]:
    shared = [SHARED / "text", SHARED / "agent"]
    return [Path(sysconfig.get_path("purelib")), *filter(Path.is_dir, shared), *more]


def files(places: Sequence[Path], *, over: int = 0, every: int = 1) -> Iterator[tuple[str, str]]:
    """Names and texts of files that are texts; of so many only one, for a quick look."""
    paths = sorted(path for place in places for path in place.rglob("*") if _is_wanted(path, over))
    for path in paths[::every]:
        try:
            yield str(path), extract_text(path.name, path.read_bytes()).text
        except BadRequest:
            continue


def _is_wanted(path: Path, over: int) -> bool:
    # Only what has a kind by its name, or none at all: `.so` and its like are no texts.
    if not path.is_file() or not (kind_by_name(path.name) or path.suffix in ("", ".txt")):
        return False
    return over < path.stat().st_size <= _LARGEST


def tokens(text: str) -> int:
    return estimate(text, UNKNOWN).tokens


def savings_rows(places: Sequence[Path], *, every: int) -> Iterator[Row]:
    shares: dict[str, list[float]] = defaultdict(list)
    whole = short = crowded = 0
    for name, text in files(places, over=_LARGE, every=every):
        digest = build_digest(name, text)
        before, after = tokens(text), tokens(digest.text)
        whole, short = whole + before, short + after
        shares[digest.kind].append(100 * (1 - after / before))
        if shares[digest.kind][-1] <= _SAVED and digest.kind == "python":
            # Names are never left out; where they alone take a tenth, nothing else is told.
            crowded += "order" in digest.left_out or not digest.left_out
    for kind, saved in sorted(shares.items()):
        yield Row(
            "saved",
            "median",
            f"{kind}, {len(saved):,} files",
            median(saved),
            "%",
            "> 90 %",
            median(saved) > 90,
        )
        if len(saved) > 1:
            yield Row("saved", "5th percentile", kind, quantiles(saved, n=20, method="inclusive")[0], "%")
        above = 100 * sum(share > _SAVED for share in saved) / len(saved)
        yield Row("saved", "files above 90 %", kind, above, "%")
    every_share = [share for saved in shares.values() for share in saved]
    above = 100 * sum(share > _SAVED for share in every_share) / max(len(every_share), 1)
    yield Row(
        "saved", "files above 90 %", f"all, {len(every_share):,} files", above, "%", "100 %", above == 100
    )
    yield Row("saved", "Python whose bare names take a tenth or more", "of those", crowded, "files")
    share = 100 * (1 - short / max(whole, 1))
    yield Row("saved", "tokens", f"all, {whole:,} to {short:,}", share, "%", "> 90 %", share > _SAVED)


def public_names(source: str) -> set[str]:
    """Functions, classes, their methods and what a module assigns, and `__all__`; read by `ast` alone."""
    results: set[str] = set()
    pending: list[tuple[ast.AST, bool]] = [(ast.parse(source), True)]
    while pending:
        node, is_module = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                results.add(child.name)
            elif isinstance(child, ast.ClassDef):
                results.add(child.name)
                if not child.name.startswith("_"):
                    pending.append((child, False))
            elif isinstance(child, ast.Assign | ast.AnnAssign | ast.AugAssign):
                if is_module:
                    results |= _assigned_names(child)
            elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                pending.append((child, is_module))
    return {name for name in results if not name.startswith("_")}


def _assigned_names(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    stored = {
        part.id
        for target in targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    if "__all__" in stored and node.value is not None:
        listed = (part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant))
        stored |= {name for name in listed if isinstance(name, str)}
    return set() if isinstance(node, ast.AugAssign) and "__all__" not in stored else stored


def name_rows(places: Sequence[Path], *, every: int) -> Iterator[Row]:
    looked_at = names = missing = unreadable = 0
    for path, text in files(places, every=every):
        if not path.endswith((".py", ".pyi")):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = public_names(text)
        except (SyntaxError, ValueError, RecursionError):
            unreadable += 1
            continue
        gone = wanted - set(_WORDS.findall(build_digest(path, text).text))
        looked_at, names, missing = looked_at + 1, names + len(wanted), missing + len(gone)
        if gone:
            progress(f"{path}: {', '.join(sorted(gone)[:8])}")
    yield none_of("names", "public names missing", f"of {names:,} in {looked_at:,} Python files", missing)
    yield Row("names", "files that this Python cannot read", "left out of the count", unreadable, "files")


def speed_rows(places: Sequence[Path]) -> Iterator[Row]:
    for sort in SORTS:
        name, text = big_text(sort, files(places, over=_LARGE))
        build_digest(name, text)
        wall, cpu = [], []
        for _ in range(_TRIES):
            started, used = time.perf_counter(), time.process_time()
            build_digest(name, text)
            wall.append(1000 * (time.perf_counter() - started))
            cpu.append(1000 * (time.process_time() - used))
        size = len(text.encode()) / 1_000_000
        case = f"{sort}, {size:.1f} MB"
        yield Row("speed", "digest", case, min(wall), "ms", "< 200 ms", min(wall) < _MOST_MS)
        yield Row("speed", "of it processor", case, min(cpu), "ms")


def measure(chosen: argparse.Namespace) -> Iterator[Row]:
    places = chosen.only or folders(chosen.folder or ())
    every = _QUICK if chosen.quick else 1
    for part in chosen.part or PARTS:
        progress(f"{part} …")
        if part == "saved":
            yield from savings_rows(places, every=every)
        elif part == "names":
            yield from name_rows(places, every=every)
        else:
            yield from speed_rows(places)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.files", description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--folder", action="append", type=Path, help="look here, too; may be repeated")
    parser.add_argument(
        "--only", action="append", type=Path, help="look here and nowhere else; may be repeated"
    )
    parser.add_argument("--quick", action="store_true", help="one file in twelve")
    parser.add_argument("--json", action="store_true", help="as JSON")
    chosen = parser.parse_args(arguments)
    return print_rows(list(measure(chosen)), as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
