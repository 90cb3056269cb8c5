"""Where in the workspace the notes of a scope are, under names that every file system takes.

Two scopes never share a folder unless they share their memories. Knows names and paths; touches no file.
"""

import hashlib
import re
import unicodedata
from pathlib import PurePath

from holdfast.memory.base import Kind
from holdfast.messages import Scope

_GROUPS = "groups"
_OWN = "default"
_FILE = "MEMORY.md"

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?")
# Devices on Windows, whatever comes after a dot.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9])(?:\..*)?")
_READABLE = 40
_DIGEST = 20


def memory_file(scope: Scope, kind: Kind = "fact") -> PurePath:
    """The file for memories of a kind: preferences are the person's own, whatever they work on."""
    if scope.kind == "private" and (kind == "preference" or scope.project == _OWN):
        return _home(scope) / _FILE
    return _project(scope) / _FILE


def visible_files(scope: Scope) -> tuple[tuple[Scope, PurePath], ...]:
    """The files a scope can see, with whose they are: a project sees the person's, a group only its own."""
    if scope.kind == "group" or scope.project == _OWN:
        return ((scope, memory_file(scope)),)
    return (Scope(scope.user), memory_file(Scope(scope.user))), (scope, memory_file(scope))


def summary_file(scope: Scope, conversation: str) -> PurePath:
    return _home(scope) / "conversations" / safe_name(conversation) / "summary.md"


def safe_name(name: str) -> str:
    """A file name for any name. Different names stay different, also where case or accents do not count."""
    if _PLAIN.fullmatch(name) and not _DEVICES.fullmatch(name) and name != _GROUPS:
        return name
    composed = unicodedata.normalize("NFC", name).lower()
    readable = "".join(letter if letter.isalnum() else "-" for letter in composed)[:_READABLE].strip("-")
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    # No plain name has the sign in the middle.
    return f"{readable or 'name'}~{digest}"


def _home(scope: Scope) -> PurePath:
    return _project(scope) if scope.kind == "group" else PurePath(safe_name(scope.user))


def _project(scope: Scope) -> PurePath:
    name = safe_name(scope.project)
    if scope.kind == "group":
        return PurePath(_GROUPS) / name
    return PurePath(safe_name(scope.user)) / "projects" / name
