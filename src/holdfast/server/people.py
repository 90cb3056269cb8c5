"""Several people behind one client: whom a request names, and who noticed that it should not have to.

A client that serves many (Open WebUI and its like) can say for whom it asks. It is believed if its key is a
forwarder's; otherwise its people share one memory, which somebody should be told.
"""

import re
from collections.abc import Mapping

from holdfast.errors import BadRequest

# Where clients say for whom they ask. Names, addresses and roles beside it are of no interest.
_HEADERS = ("x-holdfast-user", "x-openwebui-user-id", "x-librechat-user-id")
_ID = re.compile(r"\w[\w.@+-]{0,99}")


def person_in(headers: Mapping[str, str]) -> str:
    """The id of the person, empty if nobody is named."""
    return next((headers[name].strip() for name in _HEADERS if headers.get(name, "").strip()), "")


def behind(owner: str, person: str) -> str:
    """A user of their own for a person, which neither a key's own user nor another owner's people can be."""
    # Headers are bytes; what people type into them is UTF-8.
    name = person.encode("latin-1").decode("utf-8", "replace")
    if not _ID.fullmatch(name):
        raise BadRequest(
            "the forwarded user id is no usable name",
            hint="Up to 100 letters, digits, and . @ + - _; a letter or digit first.",
        )
    return f"{owner}:{name}"


class Crowd:
    """Notices when more than one person comes through a key that does not tell them apart."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self.several: set[str] = set()

    def saw(self, key: str, person: str) -> bool:
        """Whether this person is the one who makes it several; told only once."""
        if key in self.several or self._first.setdefault(key, person) == person:
            return False
        self.several.add(key)
        return True
