"""`holdfast brief`: what an agent should know at the start of a session in this folder.

Hooks run it before every session, so it loads no more than it needs, and says nothing where there is nothing.
"""

from typing import Annotated

import typer

from holdfast.cli.options import JsonOption, ProjectOption, current_scope
from holdfast.cli.output import load, print_json, write


def brief(
    context: typer.Context,
    project: ProjectOption = None,
    window: Annotated[
        int | None, typer.Option(min=512, help="The model's window in tokens; the brief is a share of it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print what is forbidden, failed, open and decided in this project, for the start of a session."""
    settings, scope = load(context).settings, current_scope(project)
    if not settings.memory:
        if as_json:
            print_json({"project": scope.project, "text": "", "tokens": 0})
        return
    from holdfast.brief import USUAL_WINDOW, build_brief, estimate_tokens
    from holdfast.memory.folder import build_workspace
    from holdfast.memory.library import Catalogue
    from holdfast.memory.notes import Notes
    from holdfast.store import open_store

    with open_store(settings.store) as store:
        catalogue = Catalogue(Notes(build_workspace(settings)), store.recollections)
        made = build_brief(store, catalogue, scope, window=window or USUAL_WINDOW)
    if as_json:
        print_json(made.to_json(estimate_tokens))
    else:
        write(made.render())
