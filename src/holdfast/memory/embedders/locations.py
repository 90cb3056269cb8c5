"""What the setting `embedder` can say, and what it means: a kind of embedder, and where it is.

    auto        the embedded one; without its package, an Ollama on this machine that has the usual model
    off         none: search goes by words alone
    embedded    the sentence encoder in a process of ours
    FILE.gguf   an embedding model of one's own, with llama.cpp in a process of ours; `gguf:FILE` says so, too
    ollama      the Ollama on this machine
    openai, gemini, voyage      the server of that name
    ADDRESS     a server; its kind before it (`ollama+http://…`, `gemini+https://…/v1beta`) saves asking

Knows nothing of what is there.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from holdfast.upstreams.discovery import EMBEDDED, parse_location
from holdfast.upstreams.openai import split_url

AUTO, OFF = "auto", "off"

# `server`: an address whose kind has to be asked for.
EmbedderKind = Literal["auto", "off", "embedded", "gguf", "server", "ollama", "openai", "gemini", "voyage"]

OLLAMA = "ollama+http://127.0.0.1:11434"
# What a bare name stands for.
_NAMED_LOCATIONS = {
    "": AUTO,
    "ollama": OLLAMA,
    "openai": "openai+https://api.openai.com/v1",
    "gemini": "gemini+https://generativelanguage.googleapis.com/v1beta",
    "voyage": "voyage+https://api.voyageai.com/v1",
}
_HERE: dict[str, EmbedderKind] = {AUTO: "auto", OFF: "off", EMBEDDED: "embedded"}
_OWN: dict[str, EmbedderKind] = {"gemini": "gemini", "voyage": "voyage"}
_FILE, _SUFFIX = "gguf:", ".gguf"
_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?$")


@dataclass(frozen=True, slots=True)
class EmbedderLocation:
    """`root` is the address of a server and `prefix` what comes before its endpoints; `file` is a model."""

    kind: EmbedderKind
    root: str = ""
    prefix: str = ""
    file: Path | None = None


def parse_embedder_location(text: str) -> EmbedderLocation:
    """ConfigError for what is no location."""
    text = text.strip()
    text = _NAMED_LOCATIONS.get(text, text)
    if (here := _HERE.get(text)) is not None:
        return EmbedderLocation(here)
    if text.startswith(_FILE) or (text.endswith(_SUFFIX) and "://" not in text):
        return EmbedderLocation("gguf", file=Path(text.removeprefix(_FILE)).expanduser())
    before, plus, after = text.partition("+")
    if plus and before in _OWN:
        _, url = parse_location(after)
        version = _VERSION.search(urlsplit(url).path)
        root = url[: -len(version[0])] if version else url
        return EmbedderLocation(_OWN[before], root, version[0] if version else _default_prefix(before))
    kind, url = parse_location(text)
    root, prefix = split_url(url)
    if kind is None:
        return EmbedderLocation("server", root, prefix)
    # All but Ollama are asked for vectors OpenAI's way.
    return EmbedderLocation("ollama" if kind == "ollama" else "openai", root, prefix)


def _default_prefix(kind: str) -> str:
    return "/v1beta" if kind == "gemini" else "/v1"
