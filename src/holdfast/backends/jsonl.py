"""Files with one JSON value in each line, and the two ways in which they are sent to a server.

Pure. Knows no server.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.errors import EmbedderError
from holdfast.messages import canonical

_JSONL = "application/jsonl"


def serialize_lines(values: Iterable[Any]) -> bytes:
    return "".join(f"{canonical(value)}\n" for value in values).encode()


def parse_lines(content: Iterable[str], where: str) -> Iterator[Any]:
    """The values in the lines that came from `where`."""
    for line in content:
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise EmbedderError(
                    f"{where} has a file of results with a line that is no JSON.",
                    hint="It is read again later; look at the job on the server if that goes on.",
                ) from None


def form_body(fields: Mapping[str, str], name: str, content: bytes) -> tuple[bytes, str]:
    """A body as web forms have it, with a file called `name`, and its content type."""
    parts = [
        (f'Content-Disposition: form-data; name="{field}"', value.encode()) for field, value in fields.items()
    ]
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: {_JSONL}'
    return _multipart_body([*parts, (head, content)], "form-data")


def related_body(about: Any, content: bytes) -> tuple[bytes, str]:
    """A body of a file and what is to be known about it, and its content type."""
    head = "Content-Type: application/json; charset=utf-8", canonical(about).encode()
    return _multipart_body([head, (f"Content-Type: {_JSONL}", content)], "related")


def _multipart_body(parts: Iterable[tuple[str, bytes]], kind: str) -> tuple[bytes, str]:
    border = secrets.token_hex(16)
    body = b"".join(f"--{border}\r\n{head}\r\n\r\n".encode() + content + b"\r\n" for head, content in parts)
    return body + f"--{border}--\r\n".encode(), f"multipart/{kind}; boundary={border}"
