"""The comment in which a note tells machines what it is: JSON inside an HTML comment.

Whatever is in its fields, it stays one comment on one line. Knows neither memories nor files.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from holdfast.messages import canonical

COMMENT = re.compile(r"<!-- *holdfast +(\{[^<>\r\n]*\}) *-->")
# The beginning of one, also where a person damaged the rest.
BEGINNING = re.compile(r"<!-- *holdfast\b")
# The first and last moments that have a date in every time zone.
EARLIEST = datetime(1, 1, 2, tzinfo=UTC).timestamp()
LATEST = datetime(9999, 12, 30, tzinfo=UTC).timestamp()


def write_comment(fields: Mapping[str, Any]) -> str:
    """A comment for machines. Fields that are empty are left out."""
    kept = {
        name: value for name, value in fields.items() if value is not False and value not in ("", [], None)
    }
    told = canonical(kept)
    safe = told.encode(errors="replace").decode().replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- holdfast {safe} -->"


def read_comments(text: str) -> Iterator[dict[str, Any]]:
    for found in COMMENT.finditer(text):
        # A comment that a person damaged is one of theirs.
        with suppress(ValueError, RecursionError):
            yield json.loads(found[1], parse_float=_finite, parse_constant=_finite)


def read_comment(text: str) -> dict[str, Any]:
    return next(read_comments(text), {})


def format_time(seconds: float) -> str:
    """A time that people can read too."""
    return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else ""


def parse_time(told: object) -> float:
    try:
        found = datetime.fromisoformat(str(told))
    except ValueError:
        return 0.0
    seconds = found.replace(tzinfo=found.tzinfo or UTC).timestamp()
    return min(max(seconds, EARLIEST), LATEST)


def _finite(told: str) -> float | None:
    """A number; none for those that have no end, since they cannot be written down again."""
    number = float(told)
    return number if math.isfinite(number) else None
