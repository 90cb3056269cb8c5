"""What simulated clients share: the requests they send, the words they send them with, and taking turns.

A chat is a generator: it yields a request, is sent the reply, and decides by it what comes next, as a client
with a person in front of it does. Knows the wire and no server.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from evals.window_serving import Reply

Wire = dict[str, Any]
# A server with one model answers to every name but the embedded model's, which is Holdfast's own.
MODEL = "smollm2-with-tools"
# An answer's length: enough to be told from others, little enough for hundreds of turns.
ANSWER = 24

_THINGS = (
    "the harbour wall", "the tide table", "a brass sextant", "the night ferry", "the old lighthouse",
    "a storm warning", "the pilot boat", "the fish market", "a broken winch", "the salt store",
    "the north pier", "a rope of hemp", "the engine room", "the customs shed", "a chart of the sound",
    "the signal mast", "the dry dock", "a green buoy",
)  # fmt: skip
_DEEDS = (
    "is repaired in spring", "was painted last week", "needs a new owner", "stands empty in winter",
    "costs too much", "is older than the town", "was moved by the flood", "has to be measured again",
    "is watched by two men",
)  # fmt: skip
_ASKS = (
    "What do you know about", "How would you describe", "Who should look after",
    "When is it best to visit", "Why do people talk about", "What comes next for",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One request. `chat` is None for a side request; `calls` is what the model is to answer with, if set."""

    chat: str | None
    path: str
    headers: Mapping[str, str]
    body: Wire
    label: str = ""
    calls: Sequence[Wire] = ()
    beside: str = ""
    thinking: str = ""

    @property
    def new(self) -> list[Wire]:
        """What stands behind the last answer: the question, or the results of tools."""
        talk = [message for message in self.body["messages"] if message["role"] != "system"]
        behind = [at for at, message in enumerate(talk) if message["role"] == "assistant"]
        return talk[behind[-1] + 1 if behind else 0 :]


Chat = Generator[Step, Reply, None]


class Talker(Protocol):
    """A client with one chat open. `seen` is what the person in front of it sees, as (role, text)."""

    name: str
    seen: list[tuple[str, str]]

    def turns(self, count: int) -> Chat: ...


@dataclass
class Words:
    """Texts of any length that are never twice the same, from one seed."""

    random: Random
    _said: int = field(default=0, init=False)

    def sentence(self) -> str:
        self._said += 1
        thing, deed = self.random.choice(_THINGS), self.random.choice(_DEEDS)
        return f"{thing[0].upper()}{thing[1:]} {deed}, says note {self._said}."

    def question(self) -> str:
        self._said += 1
        asks, thing = self.random.choice(_ASKS), self.random.choice(_THINGS)
        return f"{self.sentence()} {asks} {thing}? (question {self._said})"

    def prose(self, tokens: int) -> str:
        """About so many tokens of sentences."""
        return " ".join(self.sentence() for _ in range(max(1, tokens // 16)))

    def code(self, tokens: int) -> str:
        """About so many tokens of lines as tools print them."""
        self._said += 1
        numbers = range(max(1, tokens // 20))
        return "\n".join(
            f"{at:05d}: def level_{self._said}_{at}(depth): return depth + {self.random.randint(1, 99)}"
            for at in numbers
        )


def take_turns(
    begin: Callable[[int], Talker],
    send: Callable[[Step], Reply],
    random: Random,
    *,
    turns: int,
    at_once: int = 3,
) -> list[Talker]:
    """Several chats, a request from this one and one from that, until `turns` of them were main requests.

    A chat that has come to its end makes room for a new one. Gives all that were begun.
    """
    talkers: list[Talker] = []

    def fresh() -> tuple[Chat, Step]:
        talkers.append(begin(len(talkers)))
        chat = talkers[-1].turns(random.randint(20, 60))
        return chat, next(chat)

    live = [fresh() for _ in range(at_once)]
    done = 0
    while done < turns:
        at = random.randrange(len(live))
        chat, step = live[at]
        reply = send(step)
        done += step.chat is not None
        try:
            live[at] = chat, chat.send(reply)
        except StopIteration:
            live[at] = fresh()
    return talkers
