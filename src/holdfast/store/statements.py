"""Statements of the busiest path, compiled once for each engine and run on the driver's own cursor.

The same SQLAlchemy statements as everywhere, with the same types and errors, in a fifth of the time: what is
saved is the machinery around each execution. For statements whose text does not depend on their values.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Delete, Dialect, Insert, Select, TypeDecorator, Update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

# A value on its way into the database or out of it; None where it goes as it is.
Conversion = Callable[[Any], Any] | None


class PreparedStatement:
    """`values` name the columns that an insert without any of its own is given; `row` is what rows become."""

    __slots__ = ("_prepared", "_row", "_values", "clause")

    def __init__(
        self,
        clause: Select[Any] | Insert | Update | Delete,
        values: Sequence[str] | None = None,
        *,
        row: Any = None,
    ) -> None:
        self.clause = clause
        self._values = values
        self._row = row
        self._prepared: dict[str, _Compiled] = {}

    def all(self, connection: Connection, /, **values: Any) -> list[Any]:
        return self._in(connection).run(connection, values)[0]

    def first(self, connection: Connection, /, **values: Any) -> Any:
        """The first row, None if there is none."""
        return next(iter(self.all(connection, **values)), None)

    def run(self, connection: Connection, values: Mapping[str, Any], /) -> int:
        """How many rows were changed."""
        return self._in(connection).run(connection, values)[1]

    def _in(self, connection: Connection) -> "_Compiled":
        dialect = connection.dialect
        if dialect.name not in self._prepared:
            self._prepared[dialect.name] = _Compiled(self.clause, dialect, self._values, self._row)
        return self._prepared[dialect.name]


class _Compiled:
    """A statement in the words of one engine, and how values go in and come out."""

    def __init__(
        self,
        clause: Select[Any] | Insert | Update | Delete,
        dialect: Dialect,
        values: Sequence[str] | None,
        row: Any = None,
    ) -> None:
        compiled = clause.compile(dialect=dialect, column_keys=values)
        self._sql = str(compiled)
        self._errors = dialect.loaded_dbapi.Error
        self._positions = compiled.positiontup
        self._into: list[tuple[str, Conversion]] = [
            (name, _impl(bound.type, dialect).bind_processor(dialect))
            for bound, name in compiled.bind_names.items()
        ]
        columns = list(clause.selected_columns if isinstance(clause, Select) else clause.exported_columns)
        named = row or (namedtuple("Row", [str(column.key) for column in columns]) if columns else None)
        self._row: Any = named
        self._out: list[tuple[int, Callable[[Any], Any]]] = [
            (at, found)
            for at, column in enumerate(columns)
            # Numbers and texts come out of every driver as they are; only our own types do not.
            if isinstance(column.type, TypeDecorator)
            and (found := _impl(column.type, dialect).result_processor(dialect, None)) is not None
        ]

    def run(self, connection: Connection, values: Mapping[str, Any]) -> tuple[list[Any], int]:
        given = {
            name: values[name] if convert is None else convert(values[name]) for name, convert in self._into
        }
        bound: Any = given if self._positions is None else [given[name] for name in self._positions]
        cursor = connection.connection.cursor()
        try:
            cursor.execute(self._sql, bound)
            rows = [] if self._row is None else cursor.fetchall()
            changed = cursor.rowcount
        except self._errors as error:
            raise DBAPIError.instance(self._sql, None, error, self._errors) from error
        finally:
            cursor.close()
        if not self._out:
            return [*map(self._row._make, rows)] if rows else [], changed
        return [self._made(row) for row in rows], changed

    def _made(self, row: Sequence[Any]) -> Any:
        values = list(row)
        for at, convert in self._out:
            values[at] = convert(values[at])
        return self._row._make(values)


def _impl(kind: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return kind.dialect_impl(dialect)
