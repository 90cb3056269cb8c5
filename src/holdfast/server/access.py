"""Who is asking: what the guard found out about a request before any door saw it.

A value that travels with the request. It knows neither keys nor cookies.
"""

from dataclasses import dataclass
from typing import Literal

from starlette.requests import HTTPConnection

How = Literal["nobody", "here", "key", "session"]


@dataclass(frozen=True, slots=True)
class Access:
    """Whose words these are, and what they may do. An empty project is one that the client may name."""

    how: How = "nobody"
    user: str = "default"
    project: str = ""
    admin: bool = False
    off: bool = False
    memory: bool = True
    # The id of the key they came with; empty for the one in the settings.
    key: str = ""
    # Whether what they say may point at files on this machine.
    files: bool = False


NOBODY = Access()


def access_of(caller: HTTPConnection) -> Access:
    found = caller.state.access
    assert isinstance(found, Access)
    return found
