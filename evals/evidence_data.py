"""Long chats with questions about them: what `evals.evidence` asks, from two formats of files.

`docs.jsonl` and `queries.jsonl` as `evals.retrieval` reads them, and `chats.jsonl` with the answers that must
be in front of the model. Knows no server and no measure.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from evals.retrieval_data import Doc, Query, read_docs, read_lines, read_queries

SETS = ("locomo", "beam100k", "longmemeval", "knowing")
# Sets of which every session is a chat of its own; a question about them begins another one.
_SESSIONS_APART = ("longmemeval",)
_ROLES = {"user": "user", "assistant": "assistant"}
_SYSTEM = {
    "en": "You are a helpful assistant.",
    "de": "Du bist ein hilfreicher Assistent.",
}
# What is said where a chat does not begin with its user, or does not end with its assistant.
_HELLO, _OKAY = ("user", "Hello!"), ("assistant", "Okay.")
# Questions of a set that have nothing to do with its chats, and ours that have nothing to do with any.
UNRELATED = "unrelated"
# Questions about the world, which nothing in a chat answers: by kind, the file with them.
WORLDLY = {"general": "unrelated_questions.txt", "everyday": "everyday_questions.txt"}
# Kinds of questions that have no evidence.
NO_EVIDENCE = (UNRELATED, *WORLDLY)

Said = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """`gold` are the ids of the messages with the answer, `answers` the words of it, each from its message.

    Where there are `answers`, they are what is looked for, and `stale` is the value that no longer holds.
    """

    id: str
    kind: str
    text: str
    gold: tuple[str, ...]
    answers: tuple[str, ...] = ()
    stale: str = ""
    new_chat: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """User and assistant in turns, as a client sends them."""

    system: str
    messages: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The chats of one person, the messages in them one by one, and what is asked afterwards."""

    set: str
    name: str
    chats: tuple[Chat, ...]
    docs: tuple[Doc, ...]
    questions: tuple[Question, ...]

    @property
    def digest(self) -> str:
        """The same for the same chats: what was kept of other ones is of no use."""
        rows = [(chat.system, chat.messages) for chat in self.chats]
        return sha256(json.dumps(rows).encode()).hexdigest()


def find_sets(folders: Sequence[Path]) -> dict[str, Path]:
    """The sets that are in these folders, or are one of them."""
    places = {}
    for name in SETS:
        for folder in (*folders, *(folder / name for folder in folders)):
            if folder.name == name and any(
                (folder / file).is_file() for file in ("docs.jsonl", "chats.jsonl")
            ):
                places[name] = folder
    return places


def read_set(name: str, folder: Path) -> list[Corpus]:
    if (folder / "chats.jsonl").is_file():
        return _read_knowing(name, folder / "chats.jsonl")
    corpora: dict[str, list[Doc]] = defaultdict(list)
    for doc in read_docs(folder):
        corpora[doc.corpus].append(doc)
    queries = read_queries(folder)
    return [
        _corpus(name, corpus, tuple(docs), [query for query in queries if query.corpus == corpus])
        for corpus, docs in corpora.items()
    ]


def _corpus(name: str, corpus: str, docs: tuple[Doc, ...], queries: Iterable[Query]) -> Corpus:
    apart = name in _SESSIONS_APART
    if apart:
        sessions = defaultdict(list)
        for doc in docs:
            sessions[doc.session].append(doc)
        in_time = sorted(sessions.values(), key=lambda session: (session[0].date, session[0].session))
        docs = tuple(doc for session in in_time for doc in session)
        chats = tuple(Chat(_SYSTEM["en"], _alternate(session)) for session in in_time)
    else:
        chats = (Chat(_system_for(docs), _alternate(docs)),)
    questions = tuple(
        Question(query.id, query.kind, query.question, query.gold, new_chat=apart)
        for query in queries
        if query.gold
    )
    return Corpus(name, corpus, chats, docs, questions)


def _system_for(docs: Sequence[Doc]) -> str:
    people = list(dict.fromkeys(doc.role for doc in docs))
    if set(people) <= _ROLES.keys():
        return _SYSTEM["en"]
    return f"You are {people[1]}. You chat with {people[0]}."


def _alternate(docs: Sequence[Doc]) -> tuple[Said, ...]:
    """Turns of a user, who speaks first, and an assistant; each session begins with its date."""
    people = list(dict.fromkeys(doc.role for doc in docs))
    content: list[Said] = []
    session = None
    for doc in docs:
        text = doc.text
        if doc.session != session and doc.date:
            text = f"[{doc.date}] {text}"
        session = doc.session
        role = _ROLES.get(doc.role) or ("user" if doc.role == people[0] else "assistant")
        if content and content[-1][0] == role:
            content[-1] = role, f"{content[-1][1]}\n{text}"
        else:
            content.append((role, text))
    if content[0][0] == "assistant":
        content.insert(0, _HELLO)
    if content[-1][0] == "user":
        content.append(_OKAY)
    return tuple(content)


def _read_knowing(name: str, path: Path) -> list[Corpus]:
    """The chats of a language one after the other in one conversation, with the questions about each."""
    languages: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for chat in read_lines(path):
        languages[chat["lang"]].append(chat)
    corpora = []
    for language, chats in languages.items():
        docs = tuple(
            Doc(language, f"{chat['id']}:{at}", chat["id"], None, turn["role"], turn["text"])
            for chat in chats
            for at, turn in enumerate(chat["turns"])
        )
        questions = tuple(
            _knowing_question(chat["id"], number, row)
            for chat in chats
            for number, row in enumerate(chat["questions"])
        )
        text = Chat(_SYSTEM[language], _alternate(docs))
        general = tuple(_general_questions(language))
        corpora.append(Corpus(name, language, (text,), docs, questions + general))
    return corpora


def _general_questions(language: str) -> Iterator[Question]:
    """Small talk and questions about the world; a line has its language first."""
    for kind, name in WORLDLY.items():
        lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            code, _, text = line.partition(" ")
            if code == language:
                yield Question(f"{kind}-{number}", kind, text, ())


def _knowing_question(chat: str, number: int, row: Mapping[str, Any]) -> Question:
    return Question(
        f"{chat}-{number}",
        row["kind"],
        row["question"],
        tuple(f"{chat}:{turn}" for turn in row["turns"]),
        tuple(row["answers"]),
        row.get("stale") or "",
        bool(row.get("new_conversation")),
    )


def choose(questions: Sequence[Question], most: int, seed: int) -> list[Question]:
    """So many of them, as many of each kind as there are, the same ones every time."""
    kinds: dict[str, list[Question]] = defaultdict(list)
    for question in sorted(questions, key=lambda question: question.id):
        kinds[question.kind].append(question)
    random = Random(seed)
    for items in kinds.values():
        random.shuffle(items)
    rounds = max(map(len, kinds.values()), default=0)
    in_turn = [
        kinds[kind][-1 - at] for at in range(rounds) for kind in sorted(kinds) if at < len(kinds[kind])
    ]
    return in_turn[:most]
