"""What requests came to over the last days, over REST: tokens, what was saved, how long people waited.

Everybody sees their own numbers, an administrator those of all. They are added up in the store.
"""

import time
from collections import defaultdict
from typing import Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from holdfast.server.endpoint import engine_of
from holdfast.server.guard import access_of
from holdfast.store.statistics import DAY, DayOfCompactions, DayOfJobs, DayOfWaiting, Span, Statistics

statistics_router = APIRouter(prefix="/api/statistics", tags=["Jobs"])


@statistics_router.get("")
async def statistics(
    request: Request,
    days: int = Query(30, ge=1, le=366),
    utc_offset: int = Query(0, ge=-840, le=840),
) -> dict[str, Any]:
    """Day by day, today last; `utc_offset` says by how many minutes the reader's clock is before UTC's.

    `cached` are tokens of prompts that were not read anew; `freed` is what compactions took out of windows,
    by level. A day on which nothing began to be answered has no times.
    """
    store, access = engine_of(request).store, access_of(request)
    offset = utc_offset * 60
    today = (int(time.time()) + offset) // DAY
    first = today - days + 1
    who = {} if access.admin else {"user": access.user, "project": access.project or None}
    span, found = Span(float(first * DAY - offset), offset, **who), Statistics(store.database)

    def work() -> dict[str, Any]:
        waiting = {row.day: row for row in found.waiting(span)}
        compactions: dict[int, list[DayOfCompactions]] = defaultdict(list)
        for row in found.compactions(span):
            compactions[row.day].append(row)
        jobs = {row.day: row for row in found.jobs(span)}
        return {
            "days": [
                _day(day, jobs.get(day), waiting.get(day), compactions[day])
                for day in range(first, today + 1)
            ],
            "models": [
                {"model": row.model, "jobs": row.jobs, "prompt": row.prompt, "completion": row.completion}
                for row in found.models(span)
            ],
        }

    return await store.run(store.at_once, work)


def _day(
    day: int, jobs: DayOfJobs | None, waiting: DayOfWaiting | None, compactions: list[DayOfCompactions]
) -> dict[str, Any]:
    speed = round(jobs.written / jobs.writing, 2) if jobs and jobs.writing else None
    return {
        "day": time.strftime("%Y-%m-%d", time.gmtime(day * DAY)),
        "jobs": jobs.jobs if jobs else 0,
        "failed": jobs.failed if jobs else 0,
        "tokens": {
            "prompt": jobs.prompt if jobs else 0,
            "cached": jobs.cached if jobs else 0,
            "completion": jobs.completion if jobs else 0,
        },
        "first_token_seconds": {
            "median": round(waiting.median, 3) if waiting else None,
            "slow": round(waiting.slow, 3) if waiting else None,
        },
        "tokens_per_second": speed,
        "compactions": {str(row.level): row.times for row in compactions},
        "freed": {str(row.level): row.freed for row in compactions},
    }
