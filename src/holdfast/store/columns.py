"""What a column can hold beyond numbers: words of any kind, and JSON, the same in SQLite and PostgreSQL.

Knows no table.
"""

import json
import re
from typing import Any

from sqlalchemy import Dialect, Text, TypeDecorator

from holdfast.messages import canonical

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class WordsColumn(TypeDecorator[str]):
    """Plain text. What PostgreSQL or UTF-8 cannot hold (NUL, half a surrogate pair) becomes U+FFFD.

    Replaced and not dropped: two names that differ must not become one.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else _UNSTORABLE.sub("\ufffd", value)


class JsonColumn(TypeDecorator[Any]):
    """Any JSON value, as text in its one spelling; JSON escapes NUL, so every engine can hold it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        return canonical(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(value)
