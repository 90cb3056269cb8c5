"""The formats that can be imported, one module each, and their detection.

Each module has `KIND`, `looks_like` and `read`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.transfer.formats import chatgpt, markdown, ollama_prompt, openclaw, saved_chat
from holdfast.transfer.imports import ImportSource


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is detected and opened; `several` paths can be one source."""

    looks_like: Callable[[Path], bool]
    read: Callable[[Sequence[Path]], ImportSource]
    several: bool = False


# In the order in which they are looked for: any folder with notes may be plain Markdown.
FORMATS: dict[str, Format] = {
    ollama_prompt.KIND: Format(ollama_prompt.looks_like, ollama_prompt.read),
    saved_chat.KIND: Format(saved_chat.looks_like, saved_chat.read, several=True),
    chatgpt.KIND: Format(chatgpt.looks_like, chatgpt.read),
    openclaw.KIND: Format(openclaw.looks_like, openclaw.read),
    markdown.KIND: Format(markdown.looks_like, markdown.read, several=True),
}


def open_source(paths: Sequence[Path], kind: str = "", *, memories: bool = False) -> ImportSource:
    """Opens a source of this kind, or of the detected one. `memories` is for Markdown."""
    for path in paths:
        if not path.exists():
            raise BadRequest(
                _("There is no {path}.").format(path=path),
                hint=_("See how it is spelled."),
            )
    try:
        return _open(paths, kind, memories)
    except OSError as error:
        raise BadRequest(
            _("{paths} cannot be read: {error}.").format(paths=paths[0], error=error),
            hint=_("See that you may read it."),
        ) from error


def _open(paths: Sequence[Path], kind: str, memories: bool) -> ImportSource:
    name = kind or _detect_format(paths[0])
    form = FORMATS[name]
    if len(paths) > 1 and not form.several:
        raise BadRequest(
            _("{name} takes one path.").format(name=name),
            hint=_("Bring them in one after the other."),
        )
    reader = partial(markdown.read, memories=memories) if name == markdown.KIND else form.read
    return reader(paths)


def _detect_format(path: Path) -> str:
    detected = next((name for name, form in FORMATS.items() if form.looks_like(path)), None)
    if detected is None:
        raise BadRequest(
            _("{path} looks like nothing that can be imported.").format(path=path),
            hint=_("Say what it is: ") + ", ".join(FORMATS) + ".",
        )
    return detected
