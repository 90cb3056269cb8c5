"""Where a sentence of a request came from: said in the window, a rule, a summary, the log, or a note.

Reads the engine's report, its decisions and its notes. Changes nothing.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.compaction.compactor import SummaryBody
from holdfast.demo.happening import Origin
from holdfast.demo.model import Read
from holdfast.engine import Engine

Report = Mapping[str, Any]


def origin_of(engine: Engine, report: Report, found: Read | None) -> Origin:
    """Where the sentence came from that a model answered with."""
    if found is None:
        return Origin("nowhere")
    sentence = found.sentence
    if found.message == 0:
        if any(sentence in said for said in (*report["rules"], *report["forbidden"])):
            return Origin("rule")
        if any(sentence in said for said in report["agreed"]):
            return Origin("decision")
        return Origin("ledger" if _is_in_ledger(engine, report, sentence) else "summary")
    row = report["messages"][found.message - 1]
    if any(sentence in one["text"] for one in row.get("added", ())):
        return next(iter(brought(engine, report, row["id"], sentence)), Origin("nowhere"))
    return Origin("window", _turn(engine, row["id"]))


def brought(engine: Engine, report: Report, message: str, sentence: str = "") -> list[Origin]:
    """Where what was put behind a message came from: all of it, or what has this sentence."""
    found: list[Origin] = []
    for decision in engine.store.decisions.of(report["lane"]):
        if decision.rule != "recalled" or message not in decision.messages:
            continue
        found += [
            Origin("log", _turn(engine, source["message"]))
            for source in decision.data.get("sources", ())
            if sentence in engine.store.log.message(source["message"]).message.text
        ]
        for name in decision.data.get("memories", ()):
            found += _noted(engine, name, sentence)
    return found


def _is_in_ledger(engine: Engine, report: Report, sentence: str) -> bool:
    """A window may show less of a line than was kept, but never under another name."""
    summary = engine.store.summaries.latest(report["messages"][-1]["id"])
    if summary is None:
        return False
    body = SummaryBody.from_json(summary.body)
    lines = body.ledger.render(body.language).splitlines()
    return any(sentence.startswith(f"{name}:") for name in {line.partition(":")[0] for line in lines})


def _noted(engine: Engine, name: str, sentence: str) -> list[Origin]:
    """The files and lines of what is remembered under a name, if it has the sentence."""
    assert engine.remembering is not None
    folder = engine.remembering.workspace.folder
    assert folder is not None
    found = []
    for container, text in engine.store.passages.files_of([name]).get(name, {}).items():
        path = container.rpartition(":")[2]
        sought = sentence or text.splitlines()[0]
        lines = (folder / path).read_text(encoding="utf-8").splitlines()
        at = next((at for at, line in enumerate(lines, 1) if sought in line), 0)
        if at:
            found.append(Origin("memory", note=f"{path}:{at}"))
    return found


def _turn(engine: Engine, message: str) -> int:
    """A turn is a question and its answer."""
    return engine.store.log.message(message).depth // 2 + 1
