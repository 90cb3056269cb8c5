"""What a request costs when ten thousand memories are looked through for it, by words and by meaning.

They are where the product keeps them: five hundred in MEMORY.md, the others in the logs of many days, written
as it writes them and indexed by its own command.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, product
from pathlib import Path
from random import Random

from evals.overhead_client import (
    Contestant,
    Faulty,
    Json,
    Measured,
    RunningProxy,
    all_running,
    direct,
    holdfast,
    measure,
)
from evals.overhead_latency import TURNS, WORDS
from evals.overhead_upstream import MODEL
from evals.window_rows import Row, progress
from evals.window_serving import Door
from holdfast.memory.base import Memory
from holdfast.memory.items import add_items
from holdfast.memory.scopes import day_file, memory_file
from holdfast.messages import Scope

PART = "recall"
MEMORIES = 10_000
_CURATED, _A_DAY = 500, 50
_MOST_ADDED = 30.0

_NAMES = """
Anna;Ben;Clara;David;Emma;Finn;Greta;Hannes;Ida;Jonas;Klara;Leon;Mara;Nils;Olga;Paul;Rosa;Simon;Tilda;Uwe
Albers;Brandt;Claussen;Dorn;Ehlers;Falk;Gruber;Heinze;Jansen;Keller
"""
_SUBJECTS = """favourite tea;doctor's appointment;bicycle lock;train to Hamburg;piano teacher;allergy;project
garden fence;library card;holiday in Norway;new printer;driving licence;running shoes;birthday cake;choir;rent
chess club;router;winter tyres;dentist;bakery;rowing boat;violin lesson;camera lens;coffee machine;tax return
insurance;bookshelf;passport;backup disk;tomato plants;heating;parking place;glasses;server room;cat
invoice;contract;sourdough;sewing machine"""
_FIRST, _LAST = (line.split(";") for line in _NAMES.split())
_THINGS = _SUBJECTS.replace("\n", ";").split(";")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SAYINGS = (
    "For {who}, the {what} is settled: {value}, agreed on a {day}.",
    "{who} wrote about the {what}; the number to remember is {value}, until {day}.",
    "About {who}'s {what}: {value}. To be looked at again on {day}.",
    "The {what} of {who} changed to {value} last {day}, and nobody else knows.",
    "{who} asked not to forget the {what}: {value} by {day}.",
)


def memories(number: int, now: datetime) -> list[Memory]:
    """So many different ones, the newest first."""
    random = Random(7)
    people = [f"{first} {last}" for first, last in product(_FIRST, _LAST)]
    subjects = [(who, what) for who, what in product(people, _THINGS)]
    random.shuffle(subjects)
    # More than there are subjects means to come back to them, with something else to say.
    while len(subjects) < number:
        subjects += subjects
    results = []
    for at, (who, what) in enumerate(islice(subjects, number)):
        value = f"{random.choice('ABCDEFGH')}-{random.randint(1000, 9999)}"
        text = random.choice(_SAYINGS).format(who=who, what=what, value=value, day=random.choice(_DAYS))
        content = now - timedelta(days=2 + at / _A_DAY)
        results.append(
            Memory(f"y_{at:06}", "fact", text, Scope(), valid_from=content.timestamp(), language="en")
        )
    return results


def questions(number: int) -> Iterator[Sequence[Json]]:
    """First messages, each about somebody and something."""
    random = Random(number)
    for turn in range(TURNS):
        who = f"{random.choice(_FIRST)} {random.choice(_LAST)}"
        what = f"{who} and the {random.choice(_THINGS)}"
        yield [{"role": "user", "content": f"Question {turn} of day {number}: what was it about {what}?"}]


def fill(home: Path, number: int) -> None:
    """A data folder with memories in it, their words and vectors in the index."""
    now = datetime.now(UTC)
    every = memories(number, now)
    files = {memory_file(Scope()): every[:_CURATED]}
    for start in range(_CURATED, number, _A_DAY):
        portion = every[start : start + _A_DAY]
        files[day_file(Scope(), portion[0].valid_from)] = portion
    for path, portion in files.items():
        file = home / "workspace" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(add_items("", portion))
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "memory", "reindex", "--json"],
        env={**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_LANGUAGE": "en"},
        capture_output=True,
        text=True,
        check=True,
    )
    data = json.loads(done.stdout)
    if data["trouble"] or data["vectors"]["waiting"] or data["index"]["files"] != len(files):
        raise Faulty(f"not everything is in the index: {done.stdout}")


def rows(settings: Mapping[str, str], *, requests: int, number: int = MEMORIES) -> Iterator[Row]:
    contestants = [direct()[0], holdfast(settings=settings)[0]]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        progress(f"{PART}: {number:,} memories are put in")
        fill(Path(folder), number)
        with all_running(contestants, words=WORDS, home=Path(folder)) as started:
            # Somebody has to be the first for whom vectors are loaded and the embedder is started.
            recall_rate(started[1])
            share = recall_rate(started[1])
            progress(f"{PART}: {requests} requests, interleaved")
            row = measure(started, questions, rounds=max(1, requests // TURNS), words=WORDS)
            usage = started[1].usage()
    yield from judge(contestants[1], row, number, share)
    yield Row(PART, "memory", f"{number:,} memories, the server", usage.rss, "MB")
    yield Row(PART, "memory", f"{number:,} memories, the embedder beside it", usage.children_rss, "MB")


def recall_rate(item: RunningProxy) -> float:
    """For how many of a hundred questions something was found and went along."""
    reports = []
    with Door(item.url) as door, item.line() as line:
        for messages in questions(0):
            reply = door.chat(item.contestant.path, {"model": MODEL, "messages": messages})
            status, report = line.get(f"/api/chats/{reply.conversation}/window")
            if status != 200:
                raise Faulty(f"no report of {reply.conversation}: {report}")
            reports.append(report)
    filled = [
        report
        for report in reports
        if any(part["name"] == "recalled" and part["tokens"] for part in report["sections"])
    ]
    return 100 * len(filled) / len(reports)


def judge(ours: Contestant, results: Mapping[str, Measured], number: int, share: float) -> Iterator[Row]:
    case = f"{number:,} memories: {ours.case}"
    item, without = results[ours.case], results[Contestant("direct", ours.path).case]
    added = item.first - without.first
    target = f"under {_MOST_ADDED:.0f} ms"
    yield Row(PART, "questions with something recalled", case, share, "%", "100 %", share == 100)
    yield Row(PART, "added to the first word", case, added, "ms", target, added < _MOST_ADDED)
    yield Row(PART, "added to the first word, 95 % within", case, item.late - without.late, "ms")
    yield Row(PART, "processor a request, the server", case, item.own, "ms")
    yield Row(PART, "processor a request, the embedder beside it", case, item.children, "ms")
