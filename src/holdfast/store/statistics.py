"""Daily totals of requests to model servers and of compactions, computed in the database."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    cast,
    exists,
    func,
    select,
    true,
)

from holdfast.store.database import Repository, reads
from holdfast.store.schema import compactions, conversations, decisions, jobs

DAY = 86_400


@dataclass(frozen=True, slots=True)
class StatisticsPeriod:
    """Start, user and project (None: all), and the offset of local midnight from UTC in seconds."""

    since: float
    offset: int = 0
    user: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class DayOfJobs:
    """`day` counts from 1970. `cached` tokens are part of `prompt`; `writing` is the time answers took."""

    day: int
    jobs: int
    failed: int
    prompt: int
    cached: int
    completion: int
    # Tokens of answers whose start and end are known, and the seconds between them.
    written: int
    writing: float


@dataclass(frozen=True, slots=True)
class DayOfWaiting:
    """Seconds until the first piece of an answer: median and 95th percentile."""

    day: int
    median: float
    slow: float


@dataclass(frozen=True, slots=True)
class DayOfCompactions:
    day: int
    level: int
    times: int
    freed: int


@dataclass(frozen=True, slots=True)
class ModelTotals:
    model: str
    jobs: int
    prompt: int
    completion: int


class Statistics(Repository):
    """Totals for a period."""

    __slots__ = ()

    @reads
    def jobs(self, connection: Connection, span: StatisticsPeriod) -> list[DayOfJobs]:
        timed = and_(jobs.c.completion_tokens > 0, jobs.c.finished_at > jobs.c.first_token_at)
        day = _day(jobs.c.queued_at, span)
        query = select(
            day,
            func.count(),
            func.sum(case((jobs.c.status == "failed", 1), else_=0)),
            _total(jobs.c.prompt_tokens),
            _total(jobs.c.cached_tokens),
            _total(jobs.c.completion_tokens),
            _total(case((timed, jobs.c.completion_tokens))),
            func.coalesce(func.sum(case((timed, jobs.c.finished_at - jobs.c.first_token_at))), 0.0),
        ).where(_job_filter(span))
        return [DayOfJobs(*row) for row in connection.execute(query.group_by(day).order_by(day))]

    @reads
    def waiting(self, connection: Connection, span: StatisticsPeriod) -> list[DayOfWaiting]:
        """Return how long people waited for an answer to begin, without background jobs."""
        day = _day(jobs.c.queued_at, span)
        waited = jobs.c.first_token_at - jobs.c.queued_at
        ranked = (
            select(
                day.label("day"),
                waited.label("waited"),
                func.row_number().over(partition_by=day, order_by=waited).label("place"),
                func.count().over(partition_by=day).label("n"),
            )
            .where(_job_filter(span), jobs.c.first_token_at.is_not(None), jobs.c.kind != "background")
            .subquery()
        )
        place, n = ranked.c.place, ranked.c.n
        query = select(
            ranked.c.day,
            func.avg(case((place.between((n + 1) // 2, (n + 2) // 2), ranked.c.waited))),
            func.max(case((place == (n * 95 + 99) // 100, ranked.c.waited))),
        ).group_by(ranked.c.day)
        return [DayOfWaiting(*row) for row in connection.execute(query.order_by(ranked.c.day))]

    @reads
    def compactions(self, connection: Connection, span: StatisticsPeriod) -> list[DayOfCompactions]:
        """Return how often each level worked and what it freed; undone ones have freed nothing."""
        undone = exists().where(
            decisions.c.conversation == compactions.c.conversation,
            decisions.c.batch == compactions.c.id,
            decisions.c.vetoed_at.is_not(None),
        )
        freed = case((undone, 0), else_=compactions.c.tokens_freed)
        day = _day(compactions.c.created_at, span)
        query: Select[Any] = select(day, compactions.c.level, func.count(), _total(freed)).where(
            compactions.c.created_at >= span.since
        )
        if span.user is not None:
            query = query.join(conversations, conversations.c.id == compactions.c.conversation)
            query = query.where(_owner_filter(conversations, span))
        rows = connection.execute(query.group_by(day, compactions.c.level).order_by(day, compactions.c.level))
        return [DayOfCompactions(*row) for row in rows]

    @reads
    def models(self, connection: Connection, span: StatisticsPeriod) -> list[ModelTotals]:
        """Return which models were used, the busiest first."""
        prompt, completion = _total(jobs.c.prompt_tokens), _total(jobs.c.completion_tokens)
        query = select(jobs.c.model, func.count(), prompt, completion).where(_job_filter(span))
        rows = connection.execute(
            query.group_by(jobs.c.model).order_by((prompt + completion).desc(), jobs.c.model)
        )
        return [ModelTotals(*row) for row in rows]


def _day(moment: ColumnElement[Any], span: StatisticsPeriod) -> ColumnElement[Any]:
    # Engines round differently; integers divide the same everywhere.
    return (cast(moment, BigInteger) + span.offset) // DAY


def _job_filter(span: StatisticsPeriod) -> ColumnElement[bool]:
    return and_(jobs.c.queued_at >= span.since, _owner_filter(jobs, span))


def _owner_filter(table: Any, span: StatisticsPeriod) -> ColumnElement[bool]:
    wanted = {"user": span.user, "project": span.project}
    return and_(true(), *(table.c[name] == value for name, value in wanted.items() if value is not None))


def _total(column: ColumnElement[Any]) -> ColumnElement[Any]:
    # PostgreSQL returns sums as numeric.
    return cast(func.coalesce(func.sum(column), 0), BigInteger)
