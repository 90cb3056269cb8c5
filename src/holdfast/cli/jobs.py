"""`holdfast jobs`: the latest requests to model servers, with status, tokens and duration."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.options import JsonOption
from holdfast.cli.output import console, format_time, load, print_json, print_table
from holdfast.i18n import gettext as _
from holdfast.i18n import pgettext

if TYPE_CHECKING:
    from holdfast.store import JobRecord


def jobs(
    context: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="Only these: queued, running, done, failed or cut.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="Only those of this conversation.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the last requests to model servers, newest first."""
    from holdfast.store import open_store
    from holdfast.store.jobs import job_to_json, parse_status

    wanted = None if status is None else parse_status(status)
    with open_store(load(context).settings.store) as store:
        rows = store.jobs.recent(limit, status=wanted, conversation=conversation)
    if as_json:
        print_json([job_to_json(job) for job in rows])
    elif rows:
        columns = (
            _("id"),
            _("since"),
            _("status"),
            _("model"),
            pgettext("column", "tokens"),
            _("first"),
            _("seconds"),
            _("error"),
        )
        print_table(columns, [format_job(job) for job in rows])
    else:
        console.print(_("No requests yet."))


def format_job(job: "JobRecord") -> tuple[Any, ...]:
    names = {
        "queued": _("waits"),
        "running": _("runs"),
        "done": _("done"),
        "failed": _("failed"),
        "cut": _("cut off"),
    }
    read, written = job.usage.prompt, job.usage.completion
    tokens = "" if read is None and written is None else f"{format_count(read)} → {format_count(written)}"
    return (
        job.id,
        format_time(job.queued_at),
        names[job.status],
        job.model,
        tokens,
        format_seconds(job.queued_at, job.first_token_at),
        format_seconds(job.queued_at, job.finished_at),
        job.error,
    )


def format_count(count: int | None) -> str:
    return "?" if count is None else str(count)


def format_seconds(since: float, until: float | None) -> str:
    return "" if until is None else f"{until - since:.1f}"
