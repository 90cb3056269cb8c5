"""Holdfast: a context keeper for language models with small windows.

`from holdfast import Holdfast` is the library. It is loaded when it is first named: the command line, and
whoever only wants the version, do not wait for it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.library import Holdfast as Holdfast

__version__ = "0.1.0"

__all__ = ["Holdfast", "__version__"]


def __getattr__(name: str) -> object:
    if name != "Holdfast":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from holdfast.library import Holdfast

    return Holdfast
