"""Paths of a scope's notes in the workspace, with names that every file system accepts.

Two scopes share a folder only if they share their memories. No file is touched here.

Whose a memory is that was said in a project: what is about the person goes with them into every project; what
is about the repository stays with it. No model is asked: a sentence in the first person, or one about how to
answer, is about the person.
"""

import hashlib
import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import PurePosixPath

from holdfast.errors import Forbidden
from holdfast.i18n import lazy
from holdfast.memory.base import Kind
from holdfast.messages import BoundScope, Scope
from holdfast.text.lang import any_phrase, any_word
from holdfast.text.patterns import late

_GROUPS = "groups"
_PROJECTS = "projects"
CONVERSATIONS = "conversations"
RESEARCH = "research"
_SUMMARY = "summary.md"
_OWN = "default"
_FILE = "MEMORY.md"
_DAYS = "memory"
_ARCHIVE = "archive"

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?")
# Devices on Windows, whatever comes after a dot.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9])(?:\..*)?")
_READABLE = 40
_DIGEST = 20


def owner(scope: Scope, kind: Kind = "fact") -> Scope:
    """Return the scope that owns a memory of this kind: preferences are the person's, whatever the project.

    A group belongs to no user, so all its members have the same scope.
    """
    if scope.kind == "group":
        return Scope(project=scope.project, kind="group")
    return Scope(scope.user) if kind == "preference" else scope


def may_write(scope: Scope, target: Scope) -> bool:
    """Tell whether a scope may change memories of `target`, which it can see."""
    return not isinstance(scope, BoundScope) or target != Scope(target.user)


def check_writable(scope: Scope, target: Scope) -> None:
    """Raise `Forbidden` if a scope may only read `target`."""
    if not may_write(scope, target):
        raise Forbidden(
            lazy("This key changes what belongs to its project only; this is the person's own."),
            hint=lazy(
                "Use a key that is not bound to a project. Preferences are the person's, facts are not."
            ),
        )


def visible(scope: Scope) -> tuple[Scope, ...]:
    """Return the scopes whose memories a scope can see.

    A project sees the person's and its own, a group only its own.
    """
    mine = owner(scope)
    if mine.kind == "group" or mine.project == _OWN:
        return (mine,)
    return Scope(mine.user), mine


def folder(scope: Scope) -> PurePosixPath:
    """Return the folder of a scope's own notes."""
    if scope.kind == "private" and scope.project == _OWN:
        return _home(scope)
    return _project(scope)


def memory_file(scope: Scope, kind: Kind = "fact", at: float = 0.0) -> PurePosixPath:
    """Return the file for memories of a kind: running notes go to the file of their day."""
    return day_file(scope, at) if kind == "note" else folder(owner(scope, kind)) / _FILE


def day_file(scope: Scope, at: float) -> PurePosixPath:
    return days(scope) / f"{day(at)}.md"


def days(scope: Scope) -> PurePosixPath:
    return folder(owner(scope)) / _DAYS


def day(at: float) -> str:
    """Return the local date, since the person will look for what they did that day."""
    return datetime.fromtimestamp(at, UTC).astimezone().date().isoformat()


def archive(scope: Scope) -> PurePosixPath:
    return folder(owner(scope)) / _ARCHIVE


def archive_file(scope: Scope, at: float) -> PurePosixPath:
    """Return the archive file of a month."""
    return archive(scope) / f"{day(at)[:7]}.md"


def profile_file(scope: Scope) -> PurePosixPath:
    return _home(scope) / "profile.yaml"


def summary_file(scope: Scope, conversation: str) -> PurePosixPath:
    return summaries(scope) / safe_name(conversation) / _SUMMARY


def summaries(scope: Scope) -> PurePosixPath:
    return folder(owner(scope)) / CONVERSATIONS


def is_summary(path: PurePosixPath) -> bool:
    return path.name == _SUMMARY and path.parent.parent.name == CONVERSATIONS


def is_finding(path: PurePosixPath) -> bool:
    """Tell whether a file is the note of a research finding, and not of a project with that name."""
    parts = path.parts
    depth = 2 if parts[:1] == (_GROUPS,) else 3 if parts[1:2] == (_PROJECTS,) else 1
    return len(parts) == depth + 2 and parts[depth] == RESEARCH


def extra_notes_name(user: str) -> str:
    """Return the name of a user's Markdown files outside of the workspace."""
    return f"extra:{user}"


def can_recall_from(scope: Scope, notes: str) -> bool:
    """Tell whether notes of a folder can have been recalled in conversations of this scope."""
    folders = {str(folder(seen)) for seen in visible(scope)} | {str(folder(owner(scope)) / CONVERSATIONS)}
    return notes in folders or (scope.kind == "private" and notes == extra_notes_name(scope.user))


def may_see(scope: Scope, path: PurePosixPath) -> bool:
    """Tell whether a scope may read a file: its own folder and the person's, no other project's."""
    home = _home(scope)
    if home not in path.parents:
        return False
    inner = path.relative_to(home).parts
    if scope.kind == "group" or inner[0] != _PROJECTS:
        return True
    return folder(scope) in path.parents and scope.project != _OWN


def safe_name(name: str) -> str:
    """Return a file name for any name; different names stay different, also without case or accents."""
    if _PLAIN.fullmatch(name) and not _DEVICES.fullmatch(name) and name != _GROUPS:
        return name
    composed = unicodedata.normalize("NFC", name).lower()
    readable = "".join(letter if letter.isalnum() else "-" for letter in composed)[:_READABLE].strip("-")
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    # No plain name has the sign in the middle.
    return f"{readable or 'name'}~{digest}"


@lru_cache
def _home(scope: Scope) -> PurePosixPath:
    return _project(scope) if scope.kind == "group" else PurePosixPath(safe_name(scope.user))


@lru_cache
def _project(scope: Scope) -> PurePosixPath:
    name = safe_name(scope.project)
    if scope.kind == "group":
        return PurePosixPath(_GROUPS) / name
    return PurePosixPath(safe_name(scope.user)) / _PROJECTS / name


# Code and quotes are not the person's own words.
_QUOTED = late(r"`[^`]*`|\"[^\"]*\"|„[^„“”]*[“”]")
_PERSON = late(rf"\b{any_word('PERSONAL_PRONOUNS')}\b|^{any_phrase('PERSON_REFERENCES')}", re.IGNORECASE)
_REPOSITORY = late(rf"\b{any_word('REPOSITORY_WORDS')}\b", re.IGNORECASE)
_ANSWERS = late(rf"\b{any_phrase('ANSWERS')}|\b{any_word('ANSWER_LANGUAGES')}\b", re.IGNORECASE)


def place_memory(scope: Scope, kind: Kind, text: str) -> tuple[Scope, Kind]:
    """Return the owner of a memory that was said in a scope, and the kind it is there.

    A rule of a project is a decision there, since preferences belong to people. Who is bound to a project
    cannot speak for the person, so all they say is the project's.
    """
    if scope.kind == "group" or scope == Scope(scope.user):
        return owner(scope, kind), kind
    if not isinstance(scope, BoundScope) and is_personal(kind, text):
        return Scope(scope.user), kind
    return scope, "decision" if kind == "preference" else kind


def is_personal(kind: Kind, text: str) -> bool:
    """Whether a text is about the person, and not about the repository they work in."""
    words = _QUOTED.sub(" ", text)
    if _REPOSITORY.search(words):
        return False
    return bool(_PERSON.search(words)) or (kind == "preference" and bool(_ANSWERS.search(words)))
