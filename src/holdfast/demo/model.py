"""The model of the demonstration: it plays its part in the talk, and reads where the script has no answer.

It has no memory: an answer that is not in the script is a sentence of the request it was sent, or that it
does not know. What Holdfast asks it on the side it declines, so summaries and memories are made by rules.
"""

import re
from dataclasses import dataclass

from holdfast.demo.script import DemoScript
from holdfast.errors import UpstreamError
from holdfast.messages import ChatRequest
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.fake import Script, ScriptedProvider
from holdfast.words import sentences, terms

NAME, WINDOW = "scripted", 8_192

# Its tokens: words in pieces of at most six letters, and every other sign.
_TOKEN = re.compile(r"\w{1,6}|[^\w\s]")
# What stands before a line of a list, and of a quote.
QUOTED = re.compile(r"^[-*] (?:\d{4}-\d\d-\d\d(?:, \w+)?: )?")
# Of what a question asks about, so much must be in the sentence that answers it.
_MIN_SHARE = 0.5
# A sentence that is longer says nothing in particular.
_MAX_SENTENCE = 500
_UNKNOWN = {
    "en": "I do not know: nothing that I was sent says so.",
    "de": "Das weiß ich nicht: In dem, was ich bekommen habe, steht es nicht.",
}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that answers a question, and which message of the request it stands in."""

    sentence: str
    message: int


def count_tokens(text: str) -> int:
    return len(_TOKEN.findall(text))


def count_request(request: ChatRequest) -> int:
    """The tokens of a request as this model counts them."""
    return sum(count_tokens(message.text) for message in request.messages)


class Player:
    """Answers for one talk."""

    def __init__(self, script: DemoScript) -> None:
        self._script = script
        self._lines = {line.said: line.answer for line in script.lines if line.answer}

    def provider(self) -> ScriptedProvider:
        model = ModelInfo(NAME, running_window=WINDOW, trained_window=WINDOW)
        return ScriptedProvider(fallback=self.answer, models=[model], count=count_tokens)

    def answer(self, request: ChatRequest) -> Script:
        if not self.is_talk(request):
            return UpstreamError("the scripted model writes no summaries", status=501)
        newest = request.messages[-1]
        if newest.role != "user":
            # Holdfast has it read ahead; there is nothing to say yet.
            return ""
        line = next((line for line in self._lines if newest.text.startswith(line)), None)
        if line is not None:
            return self._lines[line]
        match = find_answer(request)
        return match.sentence if match else _UNKNOWN[self._script.language]

    def is_talk(self, request: ChatRequest) -> bool:
        """Whether somebody speaks to it, and not Holdfast on the side."""
        first = request.messages[0]
        return first.role == "system" and first.text.startswith(self._script.instructions)


def find_answer(request: ChatRequest) -> AnswerSentence | None:
    """The sentence in a request that says most of what its question asks about, in the fewest letters."""
    # Holdfast puts what it brings back behind the question, after a blank line.
    question = request.messages[-1].text.partition("\n\n")[0]
    asked = set(terms(question))
    best, most = None, (_MIN_SHARE * len(asked), -_MAX_SENTENCE)
    for at, message in enumerate(request.messages if asked else ()):
        for sentence in sentences(message.text.removeprefix(question)):
            text = QUOTED.sub("", sentence)
            rank = len(asked.intersection(terms(text))), -len(text)
            # What asks does not answer.
            if rank > most and not text.endswith("?"):
                best, most = AnswerSentence(text, at), rank
    return best
