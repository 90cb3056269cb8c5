"""A talk long enough to be summarised, and a server that plays chat, flush and summary each as it is told."""

import re
from contextlib import asynccontextmanager
from dataclasses import replace

from holdfast.context.summaries import SummaryOptions
from holdfast.memory.notes import Notes
from holdfast.messages import Scope
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import TurnEngine
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.presets import preset_named
from tests.context.engine_client import Client

WINDOW = 4_096
# Nothing has to pass between two summaries: what is tested is not the waiting.
EAGER = replace(preset_named("balanced"), cooldown_seconds=0.0, cooldown_messages=0)

RULE = "Never push to main."
SECRET = "hunter2!secret"
FACTS = ("deploy/config.yaml", "4711")

GOOD = """Requests
- Set up the server of the garden project in deploy/config.yaml
Goal
- A garden server that listens on port 4711
Done
- Port 4711 was set in deploy/config.yaml
Open
- The towns are still to be described
Must not
- Never push to main"""

GOAL = "A guide to Norderney"


def kind_of(request):
    """What a request is for: a person's turn, reading ahead, memories or a summary."""
    text = request.messages[-1].text
    if request.options.get("max_tokens") == 1:
        return "warm"
    if text.startswith(("You look for", "Du suchst")):
        return "flush"
    return "summary" if text.startswith(("You write the minutes", "Du schreibst das Protokoll")) else "talk"


class RequestScripts(ScriptedProvider):
    """Each kind of request has its own script; what is a list has one for each time, the last for ever."""

    def __init__(self, summary=GOOD, flush="NO_MEMORIES", talk="Noted, the garden is fine.", window=WINDOW):
        info = [ModelInfo(name, running_window=size, trained_window=size) for name, size in _sizes(window)]
        super().__init__(fallback=self._answer, models=info)
        self.scripts = {"summary": summary, "flush": flush, "talk": talk, "warm": "Y"}

    def _answer(self, request):
        kind = kind_of(request)
        script = self.scripts[kind]
        if isinstance(script, Turns):
            script = script.scripts[min(len(self.asked(kind)) - 1, len(script.scripts) - 1)]
        answer = script(request) if callable(script) else script
        return _naming(answer, request) if kind == "summary" and answer == GOOD else answer

    def stop(self):
        """From now on nobody is there."""
        self._models.clear()

    def asked(self, kind="summary"):
        return [request for request in self.requests if kind_of(request) == kind]


def _naming(answer, request):
    """A good summary also has the numbers and the goal that were said: with fewer it would not be used."""
    asked = request.messages[-1].text
    if GOAL in asked:
        answer = answer.replace("Goal\n", f"Goal\n- {GOAL}\n")
    houses = dict.fromkeys(re.findall(r"house (\d+)|houses ([\d, ]+)", asked))
    named = ", ".join(item or more for item, more in houses)
    return answer.replace("Open\n", f"- Said of the houses {named}\nOpen\n") if houses else answer


class Turns:
    """One script after the other."""

    def __init__(self, *scripts):
        self.scripts = scripts


def _sizes(window):
    return window.items() if isinstance(window, dict) else [("small", window)]


@asynccontextmanager
async def summing(
    server, folder, *, memory=True, flush=True, stall=20.0, preset=EAGER, memories=True, **more
):
    async def find():
        return server

    notes = (Notes(folder / "notes") if memories is True else memories) or None
    store = open_store(f"sqlite:///{folder / 'db'}")
    engine = TurnEngine(
        store,
        Upstreams(find, ScriptedProvider()),
        ModelRegistry(store, folder),
        preset,
        memories=notes,
        options=SummaryOptions(
            pause=0.0, memory=memory, flush=flush, stall=stall, helper=more.pop("helper", "")
        ),
        **more,
    )
    try:
        yield engine
    finally:
        await engine.close()


def said(at):
    """What is said in one turn: about eighty tokens, no two the same."""
    return (
        f"Part {at}: what do you know about the garden of house {at} and the town around it? "
        "The roses need water, the river is low, and the baker has asked for the apples again. "
        "We should look at the fence, the old shed and the path to the lake before the winter comes."
    )


FIRST = f"The garden server is set up in deploy/config.yaml with port 4711. {RULE} Its password is {SECRET}."


async def talked(engine, turns=10, first=FIRST):
    """A client that has said so much; nothing is summarised by itself in so few turns."""
    client = Client(engine, "You are a gardener.")
    await client.say(first)
    for at in range(1, turns):
        await client.say(said(at))
    await engine.background.idle.wait_until_idle()
    return client


def head(engine, client):
    return engine.store.log.get(client.conversation).head


def chain(engine, client):
    """The summaries on the conversation's way, the oldest first."""
    return engine.store.summaries.of(head(engine, client))


def decided(engine, client, kind="summarise"):
    return [
        decision
        for lane in engine.store.lanes.of(client.conversation)
        for decision in engine.store.decisions.of(lane.id)
        if decision.kind == kind
    ]


def check_chain(engine, client):
    """Every covered message is covered once, in order, and each summary goes on where the last one ended."""
    rows = chain(engine, client)
    path = engine.store.log.path_ids(head(engine, client))
    covered = [name for row in rows for name in row.covers]
    assert covered == path[: len(covered)]
    assert [row.previous for row in rows] == [None, *(row.id for row in rows)][: len(rows)]
    assert [row.through for row in rows] == [row.covers[-1] for row in rows]
    assert all(path[row.depth] == row.through for row in rows)
    return rows


def everything_kept(engine, folder):
    """All that outlives the window, as text: summaries, promises, and the notes in their files."""
    strs = [str(row) for row in rows_of(engine, "summaries")]
    strs += [str(item.payload) for item in engine.store.outbox.pending()]
    return "\n".join([*strs, notes_in(folder)])


def rows_of(engine, table):
    statement = f"SELECT * FROM {table}"
    return engine.store.database.read(
        lambda connection: [tuple(row) for row in connection.exec_driver_sql(statement)]
    )


def execute(engine, statement):
    engine.store.database.write(lambda connection: connection.exec_driver_sql(statement))


def notes_in(folder):
    """All notes one after the other, each with the path of its file."""
    files = sorted(path for path in (folder / "notes").rglob("*") if path.is_file())
    return "\n".join(f"{path.name}\n{path.read_text()}" for path in files)


def memories_in(folder):
    return Notes(folder / "notes").read(Scope())


def shown(server, at=-1):
    """The instructions of a request: there the summary stands."""
    return server.asked("talk")[at].messages[0].text
