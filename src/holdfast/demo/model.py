"""The scripted model of the demonstration.

It answers from the script, or else with a sentence of the request it was sent, or that it does not know. It
declines requests for summaries and memories, so those are made by rules.
"""

import re
from dataclasses import dataclass

from holdfast.demo.script import DemoScript
from holdfast.errors import UpstreamError
from holdfast.messages import ChatRequest
from holdfast.testing.provider import Script, ScriptedProvider
from holdfast.text.analyser import sentences, terms
from holdfast.upstreams.base import ModelInfo

NAME, WINDOW = "scripted", 8_192
# Tokens: pieces of words with up to six letters, and every other character.
_TOKEN = re.compile(r"\w{1,6}|[^\w\s]")
# The prefix of a list item, with the date and the speaker of a quote.
QUOTED = re.compile(
    r"^[-*] (?:(?:\d{4}-\d\d-\d\d(?:, \w+)?|user|assistant|tool|Nutzer|Assistent|Werkzeug): )?"
)
# The share of a question's terms that the answering sentence must have.
_MIN_SHARE = 0.5
# Longer sentences are not considered as answers.
_MAX_SENTENCE = 500
_UNKNOWN = {
    "en": "I do not know: nothing that I was sent says so.",
    "de": "Das weiß ich nicht: In dem, was ich bekommen habe, steht es nicht.",
}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that answers a question, and the index of the request's message it is in."""

    sentence: str
    message: int


def count_tokens(text: str) -> int:
    return len(_TOKEN.findall(text))


def count_request(request: ChatRequest) -> int:
    """Count the tokens of a request as this model does."""
    return sum(count_tokens(message.text) for message in request.messages)


class Player:
    """Answers for one script."""

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
            # Holdfast warms up the prompt cache; no answer is needed.
            return ""
        line = next((line for line in self._lines if newest.text.startswith(line)), None)
        if line is not None:
            return self._lines[line]
        match = find_answer(request)
        return match.sentence if match else _UNKNOWN[self._script.language]

    def is_talk(self, request: ChatRequest) -> bool:
        """Return whether a request belongs to the conversation, and not to Holdfast's own work."""
        first = request.messages[0]
        return first.role == "system" and first.text.startswith(self._script.instructions)


def find_answer(request: ChatRequest) -> AnswerSentence | None:
    """Return the shortest sentence of a request that has most terms of its question, if it has enough."""
    # Holdfast adds what it recalls after the question and a blank line.
    question = request.messages[-1].text.partition("\n\n")[0]
    asked = set(terms(question))
    best, most = None, (_MIN_SHARE * len(asked), -_MAX_SENTENCE)
    for at, message in enumerate(request.messages if asked else ()):
        for sentence in sentences(message.text.removeprefix(question)):
            text = QUOTED.sub("", sentence)
            rank = len(asked.intersection(terms(text))), -len(text)
            # A question is no answer.
            if rank > most and not text.endswith("?"):
                best, most = AnswerSentence(text, at), rank
    return best
