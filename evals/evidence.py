"""`python -m evals.evidence DIR...`: does the request that reaches the model have the evidence?

A real `holdfast serve` process between this client and a model server of ours that keeps what it is sent; two
simple programs beside it in the same run. Results are in results/evidence.md.
"""

import argparse
import json
import shlex
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.evidence_baselines import Baselines
from evals.evidence_checks import Score
from evals.evidence_data import NO_EVIDENCE, SETS, Corpus, choose, find_sets, read_set
from evals.evidence_run import Counts, Setting, ask_holdfast
from evals.window_rows import progress
from holdfast.tokens.budget import budget_for

HOLDFAST = "Holdfast"
RESULTS = Path(__file__).parent / "results" / "evidence.md"
_SEED = 7
_WINDOWS = {"knowing": (2048, 4096)}
_USUAL_WINDOWS = (4096, 8192)
# Questions of a corpus where nothing is said: enough, and not so many that their own traces fill the chat.
_QUESTIONS = {"locomo": 40, "beam100k": 18, "longmemeval": 200}
_SETTLE = 900.0
_ALL = "all"
_HEAD = (
    "| set | window | | kind | questions | gold % | all % | right % | touched % | stale | tokens sent "
    "| of room % | added, median | snippets | at most one % | ms, median | errors | overflows | target |"
)
# Percent of gold at least, of questions that are right where answers are known word by word.
_TARGETS = {
    ("locomo", 4096): 72.0,
    ("locomo", 8192): 82.0,
    ("beam100k", 4096): 48.0,
    ("beam100k", 8192): 58.0,
    ("longmemeval", 4096): 66.0,
    ("longmemeval", 8192): 75.0,
    ("knowing", 2048): 85.0,
    ("knowing", 4096): 92.0,
}
# Tokens around a question that has nothing to do with the chat, at most.
_UNRELATED_TARGET = 60
# And percent of them that bring one snippet or none, at least.
_FEW_TARGET = 90


@dataclass(frozen=True, slots=True)
class Row:
    """The questions of a set, or of one kind, in one window, as one program has them answered.

    `right` are those with all of the evidence and no outdated value told as if it held, which `stale` counts.
    `few` is the share with one snippet or none.
    """

    set: str
    window: int
    program: str
    kind: str
    questions: int
    gold: float
    all: float
    right: float
    touched: float
    stale: int
    tokens: float
    room: float
    added: float
    snippets: float
    few: float
    milliseconds: float
    errors: int
    overflows: int

    @property
    def target(self) -> str:
        """What was promised, and by how much it is missed."""
        if self.program != HOLDFAST:
            return "–"
        if self.kind in NO_EVIDENCE:
            missed = max(self.added - _UNRELATED_TARGET, _FEW_TARGET - self.few)
            promise = f"added at most {_UNRELATED_TARGET}, at most one in {_FEW_TARGET} %"
        elif self.kind == _ALL and (least := _TARGETS.get((self._name, self.window))):
            what, reached = ("right", self.right) if self._name == "knowing" else ("gold", self.gold)
            missed, promise = least - reached, f"{what} at least {least:.0f}"
        else:
            return "–"
        return f"{promise}: {'met' if missed <= 0 else f'**missed by {missed:.1f}**'}"

    @property
    def _name(self) -> str:
        return self.set.partition(",")[0]

    def line(self) -> str:
        shares = (self.gold, self.all, self.right, self.touched)
        evidence = ("–" if self.kind in NO_EVIDENCE else f"{share:.1f}" for share in shares)
        cells = (
            self.set, f"{self.window:,}", self.program, self.kind, self.questions, *evidence, self.stale,
            f"{self.tokens:,.0f}", f"{self.room:.0f}", f"{self.added:.0f}", f"{self.snippets:.1f}",
            f"{self.few:.0f}", f"{self.milliseconds:.1f}", self.errors, self.overflows, self.target,
        )  # fmt: skip
        return f"| {' | '.join(map(str, cells))} |"


def table(rows: Sequence[Row]) -> str:
    return "\n".join((_HEAD, "|---" * (_HEAD.count("|") - 1) + "|", *(row.line() for row in rows)))


_PAGE = """# Does the request that reaches the model have the evidence?

`python -m evals.evidence DIR... [--set {sets}] [--window 4096,8192]
[--questions N] [--kinds] [--fed FOLDER]`. A real `holdfast serve` process stands between a client and a model
server that keeps what it is sent, counts tokens, answers with what was answered in the chat and writes
extractive summaries. `locomo` and `beam100k`: one long chat a corpus goes through it turn by turn, then every
question is asked at its end. `longmemeval`: every session is a chat, and a question begins a new one.
`knowing`: the chats of a language as one conversation; some questions begin a new one. Beside it, in the same
run and with the same counter: the newest messages that fit, and BM25 over everything said, with 40 % of the
window, before them.

- **gold**: share of the messages with the answer that are in the request, by 60 % of their word 5-grams,
  those under eight words whole; in `knowing` the words of the answer. **all**: questions with every one of
  them. **touched**: gold, or a quote cut out of it.
- **stale**: questions where an outdated value is told, and the one that holds is not told with or after it.
  **right**: all, and nothing stale.
- **of room**: what was sent, of the window without the reserve. **added**: tokens around the question;
  **snippets** among them, and questions with **at most one**.
- **ms**: time of a request that was not the model server's. **overflows**: requests over the window, among
  them all turns of the chats.

## Reached
Made by `{command}`.

{table}
"""


def page(rows: Sequence[Row], arguments: Sequence[str]) -> str:
    """The results for people; folders are wherever somebody has them."""
    command = shlex.join(["python", "-m", "evals.evidence", *arguments])
    return _PAGE.format(sets=",".join(SETS), command=command, table=table(rows))


Scores = Mapping[str, Sequence[Score]]


def measure(corpus: Corpus, most: int | None, setting: Setting, counts: Counts) -> Scores:
    """What each program has in its requests for the same questions."""
    questions = choose(corpus.questions, most or len(corpus.questions), _SEED)
    scores: dict[str, list[Score]] = defaultdict(list)
    for score in ask_holdfast(corpus, questions, setting, counts):
        scores[HOLDFAST].append(score)
    baselines = Baselines(corpus, setting.window)
    for question in questions:
        for name, score in baselines.judge(question):
            scores[name].append(score)
    return scores


def rows_of(name: str, window: int, scores: Scores, counts: Counts, *, kinds: bool) -> Iterator[Row]:
    for program, items in scores.items():
        wrong = counts if program == HOLDFAST else Counts()
        evident = [score for score in items if score.kind not in NO_EVIDENCE]
        yield _row(name, window, program, _ALL, evident, wrong)
        for kind in sorted({score.kind for score in evident}) if kinds else ():
            of_kind = [score for score in evident if score.kind == kind]
            yield _row(name, window, program, kind, of_kind, Counts(errors=_errors(of_kind)))
        for kind in NO_EVIDENCE:
            if others := [score for score in items if score.kind == kind]:
                yield _row(name, window, program, kind, others, Counts(errors=_errors(others)))


def _errors(scores: Sequence[Score]) -> int:
    return sum(bool(score.error) for score in scores)


def _row(name: str, window: int, program: str, kind: str, scores: Sequence[Score], counts: Counts) -> Row:
    tokens = statistics.mean(score.tokens for score in scores)
    return Row(
        name,
        window,
        program,
        kind,
        len(scores),
        100 * statistics.mean(score.gold for score in scores),
        100 * statistics.mean(score.whole for score in scores),
        100 * statistics.mean(score.whole and not score.stale for score in scores),
        100 * statistics.mean(score.touched for score in scores),
        sum(score.stale for score in scores),
        tokens,
        100 * tokens / budget_for(window).room,
        statistics.median(score.added for score in scores),
        statistics.mean(score.snippets for score in scores),
        100 * statistics.mean(score.snippets <= 1 for score in scores),
        statistics.median(score.milliseconds for score in scores),
        counts.errors,
        counts.overflows,
    )


def run(chosen: argparse.Namespace, places: Mapping[str, Path]) -> Iterator[tuple[list[Row], list[Score]]]:
    """One set in one window after the other, each corpus apart where a set has two languages."""
    for name, folder in places.items():
        corpora = [
            corpus for corpus in read_set(name, folder) if not chosen.corpus or corpus.name in chosen.corpus
        ]
        apart = {f"{name}, {corpus.name}": [corpus] for corpus in corpora}
        groups = apart if name == "knowing" else {name: corpora}
        for window in chosen.window or _WINDOWS.get(name, _USUAL_WINDOWS):
            setting = Setting(window, chosen.settle, chosen.fed)
            for label, items in groups.items():
                scores: dict[str, list[Score]] = defaultdict(list)
                counts = Counts()
                for corpus in items:
                    progress(f"{label}, {window:,}: {corpus.name}")
                    most = chosen.questions or _QUESTIONS.get(name)
                    for program, more in measure(corpus, most, setting, counts).items():
                        scores[program] += more
                rows = list(rows_of(label, window, scores, counts, kinds=chosen.kinds))
                progress("\n".join(row.line() for row in rows if row.kind == _ALL))
                yield rows, scores[HOLDFAST]


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _numbers(text: str) -> list[int]:
    return [int(name) for name in _names(text)]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.evidence", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "folders", type=Path, nargs="+", metavar="DIR", help="with the sets, or sets themselves"
    )
    parser.add_argument("--set", type=_names, default=[], help=f"only these: {','.join(SETS)}")
    parser.add_argument("--corpus", type=_names, default=[], help="only these chats of a set")
    parser.add_argument("--window", type=_numbers, default=[], help="windows in tokens: 4096,8192")
    parser.add_argument("--questions", type=int, help="so many of each corpus, as many of each kind")
    parser.add_argument("--kinds", action="store_true", help="also by kind of question")
    parser.add_argument(
        "--fed",
        type=Path,
        metavar="FOLDER",
        help="keep data folders there, and begin from those that are there",
    )
    parser.add_argument("--settle", type=float, default=_SETTLE, help="seconds to wait for idle work at most")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--out", type=Path, metavar="FILE", help="every question, as JSON")
    parser.add_argument("--write", action="store_true", help=f"the table into results/{RESULTS.name}")
    return parser.parse_args(arguments)


def _show_arguments(chosen: argparse.Namespace) -> list[str]:
    """What of the arguments somebody else needs to measure the same."""
    given = {
        "--set": ",".join(chosen.set),
        "--corpus": ",".join(chosen.corpus),
        "--window": ",".join(map(str, chosen.window)),
        "--questions": str(chosen.questions or ""),
    }
    options = [text for name, value in given.items() if value for text in (name, value)]
    return ["DIR", *options, *(["--kinds"] if chosen.kinds else [])]


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = parse(arguments)
    places = find_sets(chosen.folders)
    if missing := [name for name in chosen.set or places or SETS if name not in places]:
        progress(f"Not in {', '.join(map(str, chosen.folders))}: {', '.join(missing)}.")
        return 1
    rows: list[Row] = []
    questions = []
    for more, scores in run(chosen, {name: places[name] for name in chosen.set or places}):
        rows += more
        questions += [{"set": more[0].set, "window": more[0].window, **asdict(score)} for score in scores]
        if chosen.out:
            # After each set: what was measured is there, also if the rest is given up.
            chosen.out.write_text(json.dumps(questions, ensure_ascii=False, indent=1), encoding="utf-8")
    if chosen.write:
        RESULTS.write_text(page(rows, _show_arguments(chosen)), encoding="utf-8")
    print(
        json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2)
        if chosen.json
        else table(rows)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
