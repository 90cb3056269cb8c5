"""Which files requests may point at: none, unless somebody switched it on and named the folders.

Two things are needed, the switch of a key and folders in the settings. What a reference becomes is not known
here.
"""

from starlette.requests import HTTPConnection

from holdfast.config import Settings
from holdfast.files.roots import Roots, folders_from
from holdfast.server.guard import access_of


def roots_in(settings: Settings) -> Roots | None:
    """The folders of the settings, without our own data: others' conversations are in it."""
    folders = folders_from(settings.file_roots)
    return Roots(folders, closed=(settings.home,)) if folders else None


def roots_for(caller: HTTPConnection) -> Roots | None:
    """What whoever asks may point at; None if they may not."""
    roots: Roots | None = caller.app.state.file_roots
    return roots if access_of(caller).files else None
