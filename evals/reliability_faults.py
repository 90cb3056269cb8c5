"""What does a client get when the model server does wrong? `holdfast serve` stands in front of a server that
speaks as Ollama or as OpenAI does, and plays one fault after the other (`evals/reliability_upstream.py`):
refusals of every status, resets, silence, chunks and encodings that are none, counts that are none, deep
JSON, pages instead of answers, answers without an end, only thinking, tool markup, text after the end and
more. Each is met through every protocol, streaming and not.

A client must get an answer in its own protocol, or an error that says what happened and what to do: no
internal error, no status 500 of ours, no silence. Its conversation then has the question and the text that
the client got. The next turn, with the server well again, is answered and stands behind it in the log.
"""

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx

from evals.reliability_checks import PartResult
from evals.reliability_server import Server
from evals.reliability_upstream import DIALECTS, FAULTS, GOOD, MODEL, Fault, Stage
from evals.window_rows import Row, none_of, progress
from holdfast.thinking import without_thinking

PART = "faults"
# Seconds that a client waits at most, and that a server may be silent.
_PATIENCE, _STALL = 60.0, 3.0
SETTINGS = {"HOLDFAST_STALL_TIMEOUT": str(_STALL), "HOLDFAST_MAX_ANSWER_MB": "1", "HOLDFAST_EMBEDDER": "off"}
# Of what an error must not speak: the inside of Holdfast.
_INTERNAL = re.compile(r"internal error|Traceback|\.py\b|Exception")

Json = dict[str, Any]
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client got: text and the name of the answer, or an error with its status."""

    status: int
    text: str = ""
    error: str = ""
    conversation: str = ""
    # What the next request has to name: the id of a response, the context of a generation.
    handle: Any = None


@dataclass(frozen=True, slots=True)
class Door:
    """A protocol as a client speaks it: bodies of requests, and how answers are read."""

    path: str
    body: Callable[[Sequence[Line], Reply | None], Json]
    whole: Callable[[Json], Reply]
    events: Callable[[Sequence[Json]], Reply]


def _chat(lines: Sequence[Line], _: Reply | None) -> Json:
    return {"messages": [{"role": role, "content": text} for role, text in lines], "max_tokens": 100}


def _generate(lines: Sequence[Line], before: Reply | None) -> Json:
    return {"prompt": lines[-1][1], **({"context": before.handle} if before and before.handle else {})}


def _respond(lines: Sequence[Line], before: Reply | None) -> Json:
    goes_on = {"previous_response_id": before.handle} if before and before.handle else {}
    return {"input": lines[-1][1], **goes_on}


def _error_of(value: Json) -> str:
    error = value.get("error")
    return str(error.get("message") if isinstance(error, dict) else error or "")


def _read_native(events: Sequence[Json]) -> Reply:
    text = "".join(
        event["message"]["content"] if "message" in event else event.get("response", "") for event in events
    )
    if error := next((_error_of(event) for event in events if "error" in event), ""):
        return Reply(200, text, error)
    ended = bool(events) and events[-1].get("done") is True
    return Reply(200, text, "" if ended else "NO END", handle=events[-1].get("context") if ended else None)


def _read_choices(events: Sequence[Json]) -> Reply:
    choices = [choice for event in events for choice in event.get("choices", ())]
    text = "".join(
        (choice.get("delta") or choice.get("message") or {}).get("content") or "" for choice in choices
    )
    if error := next((_error_of(event) for event in events if "error" in event), ""):
        return Reply(200, text, error)
    return Reply(200, text, "" if any(choice.get("finish_reason") for choice in choices) else "NO END")


def _read_whole_message(value: Json) -> Reply:
    return Reply(200, "".join(block.get("text", "") for block in value["content"]))


def _read_messages(events: Sequence[Json]) -> Reply:
    text = "".join(
        event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta"
    )
    if error := next((_error_of(event) for event in events if event["type"] == "error"), ""):
        return Reply(200, text, error)
    return Reply(200, text, "" if events and events[-1]["type"] == "message_stop" else "NO END")


def _read_whole_response(value: Json) -> Reply:
    if value["status"] == "failed":
        return Reply(200, "", _error_of(value))
    messages = (item for item in value["output"] if item["type"] == "message")
    text = "".join(part.get("text", "") for item in messages for part in item["content"])
    return Reply(200, text, handle=value["id"])


def _read_responses(events: Sequence[Json]) -> Reply:
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    last: Json = events[-1] if events else {"type": ""}
    if last["type"] in ("response.completed", "response.incomplete"):
        return Reply(200, text, handle=last["response"]["id"])
    if last["type"] == "error":
        return Reply(200, text, str(last.get("message") or _error_of(last)))
    return Reply(200, text, _error_of(last.get("response", {})) or "NO END")


DOORS = (
    Door("/api/chat", _chat, lambda value: _read_native([value]), _read_native),
    Door("/api/generate", _generate, lambda value: _read_native([value]), _read_native),
    Door("/v1/chat/completions", _chat, lambda value: _read_choices([value]), _read_choices),
    Door("/v1/messages", _chat, _read_whole_message, _read_messages),
    Door("/v1/responses", _respond, _read_whole_response, _read_responses),
)


def ask(http: httpx.Client, door: Door, lines: Sequence[Line], before: Reply | None, streams: bool) -> Reply:
    """Ask through a door, and read what comes whatever it is."""
    body = {"model": MODEL, "stream": streams, **door.body(lines, before)}
    response = http.post(door.path, json=body, timeout=_PATIENCE)
    conversation = response.headers.get("x-holdfast-conversation", "")
    if response.status_code != 200:
        value = response.json()
        return Reply(response.status_code, "", _error_of(value) or "NO ERROR TOLD", conversation)
    reply = door.events(list(_split_events(response.text))) if streams else door.whole(response.json())
    return Reply(200, reply.text, reply.error, conversation, reply.handle)


def _split_events(text: str) -> Iterator[Json]:
    """The objects of a stream, by line or by event."""
    for line in text.split("\n"):
        data = line.removeprefix("data:").strip()
        if data.startswith("{"):
            yield json.loads(data, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


@dataclass(slots=True)
class Trial:
    """One fault through one door, and the turn after it."""

    http: httpx.Client
    stage: Stage
    fault: Fault
    door: Door
    streams: bool
    number: int

    def check(self) -> Iterator[str]:
        """Yield what is wrong."""
        question = f"Question {self.number}: what now?"
        self.stage.fault = self.fault
        began = time.perf_counter()
        try:
            reply = ask(self.http, self.door, [("user", question)], None, self.streams)
        except (httpx.TransportError, ValueError, KeyError, TypeError) as error:
            waited = time.perf_counter() - began
            yield f"no readable answer after {waited:.0f} s: {type(error).__name__} {error}"
            return
        finally:
            self.stage.fault = None
        yield from self._check_reply(reply)
        yield from self._check_log(question, reply)
        yield from self._check_next(question, reply)

    def _check_reply(self, reply: Reply) -> Iterator[str]:
        if reply.status == 500 and "500" not in self.fault.name:
            yield f"status 500: {reply.error}"
        if _INTERNAL.search(reply.error):
            yield f"an internal error: {reply.status} {reply.error}"
        if reply.error in ("NO END", "NO ERROR TOLD"):
            yield f"{reply.error.lower()}: {reply.status} {reply.text[:80]!r}"
        elif reply.error and not self.fault.passes and not re.search(r"[.:!?)] \S", reply.error):
            yield f"an error without a next step: {reply.status} {reply.error}"
        if self.fault.answer is not None and (reply.error or reply.text != self.fault.answer):
            yield f"not the answer: {reply.status} {reply.text[:80]!r} {reply.error}"

    def _check_log(self, question: str, reply: Reply) -> Iterator[str]:
        if not reply.conversation:
            return
        lines = read_log(self.http, reply.conversation)
        if lines[:1] != [("user", question)] or [role for role, _ in lines[1:]] not in ([], ["assistant"]):
            yield f"the log is {lines}"
        elif not reply.error and self.fault.name != "only thinking":
            kept = "".join(text for _, text in lines[1:])
            if without_thinking(kept).strip() != without_thinking(reply.text).strip():
                yield f"the client got {reply.text[:80]!r}, the log has {kept[:80]!r}"

    def _check_next(self, question: str, reply: Reply) -> Iterator[str]:
        """The next turn; a question that was not answered is asked again."""
        answered = not reply.error and bool(reply.text.strip())
        lines = [("user", question), ("assistant", reply.text), ("user", "And then?")] if answered else []
        try:
            after = ask(
                self.http,
                self.door,
                lines or [("user", question)],
                reply if answered else None,
                self.streams,
            )
        except (httpx.TransportError, ValueError, KeyError, TypeError) as error:
            yield f"the next turn: {type(error).__name__} {error}"
            return
        if after.error or after.text != GOOD:
            yield f"the next turn: {after.status} {after.text[:80]!r} {after.error}"
        elif answered and after.conversation:
            log = read_log(self.http, after.conversation)
            if log[-2:] != [("user", "And then?"), ("assistant", GOOD)] or len(log) != 4:
                yield f"the log after the next turn: {log}"


def read_log(http: httpx.Client, conversation: str) -> list[Line]:
    entries = http.get(f"/api/chats/{conversation}/messages").json()["messages"]
    return [(row["role"], row["content"]) for row in entries if "role" in row]


EVERY_DOOR = tuple((door, streams) for door in DOORS for streams in (True, False))


def try_faults(
    http: httpx.Client, stage: Stage, faults: Sequence[Fault], random: Random, doors: int = len(EVERY_DOOR)
) -> Iterator[tuple[str, list[str]]]:
    """Play each fault through so many doors, streaming or not; yield the case and what was wrong."""
    for number, (fault, (door, streams)) in enumerate(
        (fault, way) for fault in faults for way in random.sample(EVERY_DOOR, doors)
    ):
        trial = Trial(http, stage, fault, door, streams, number)
        case = f"{stage.dialect}, {fault.name}, {door.path}{' streaming' if streams else ''}"
        yield case, list(trial.check())


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="", help="faults whose name has these words")
    parser.add_argument(
        "--doors", type=int, default=len(EVERY_DOOR), help="through how many of the ten ways each goes"
    )


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    faults = [fault for fault in FAULTS if options.only in fault.name]
    findings: list[str] = []
    tried: Counter[str] = Counter()
    random = Random(options.seed)
    for dialect in DIALECTS:
        stage, home = Stage(dialect), folder / dialect / "home"
        home.mkdir(parents=True)
        with stage.served() as url, Server(home, url, SETTINGS) as server, server.connect() as http:
            for case, problems in try_faults(http, stage, faults, random, options.doors):
                tried[dialect] += 1
                for problem in problems:
                    findings.append(f"{case}: {problem}")
                    progress(f"{PART}: {findings[-1][:400]}")
                if tried[dialect] % 100 == 0:
                    progress(f"{PART}: {tried[dialect]} of {len(faults) * options.doors} ({dialect})")
            server.expect_running()
            if "Traceback" in server.log:
                findings.append(f"{dialect}: the log of the server has a traceback: {server.log[-1500:]}")
    rows = [Row(PART, "faults", f"server like {name}", number, "cases") for name, number in tried.items()]
    return PartResult([*rows, none_of(PART, "wrong", "all cases", len(findings))], findings)
