"""Which project a command belongs to: the one named, else that of the folder it is run in.

A folder under git is a project of its own, the same one from all its worktrees; any other is `default`.
"""

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from holdfast.messages import Scope

ProjectOption = Annotated[
    str | None, typer.Option(help="Whose project this belongs to, instead of the folder's (`default`: none).")
]


def current_scope(project: str | None, folder: Path | None = None) -> Scope:
    return Scope(project=project or project_name(folder or Path.cwd()))


def project_name(folder: Path) -> str:
    """The name of the repository, with a few letters that tell it from another of the same name."""
    for place in (folder, *folder.parents):
        shared = _git_common_directory(place / ".git")
        if shared is not None:
            root = shared.parent if shared.name == ".git" else shared
            return f"{root.name}-{hashlib.sha256(str(root).encode()).hexdigest()[:6]}"
    return "default"


def _git_common_directory(git: Path) -> Path | None:
    """Git's common directory; in a worktree `.git` is a file that leads to it."""
    if git.is_dir():
        return git.resolve()
    if not git.is_file():
        return None
    line = git.read_text(errors="replace").strip()
    if not line.startswith("gitdir:"):
        return None
    own = (git.parent / line.removeprefix("gitdir:").strip()).resolve()
    pointer = own / "commondir"
    return (own / pointer.read_text().strip()).resolve() if pointer.is_file() else own
