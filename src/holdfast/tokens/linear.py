"""The little linear algebra that a regression over a handful of numbers needs, without a library for it."""

from collections.abc import Sequence

Matrix = tuple[tuple[float, ...], ...]


def dot_product(left: Sequence[float], right: Sequence[float]) -> float:
    return sum([a * b for a, b in zip(left, right, strict=True)])


def invert(matrix: Matrix) -> Matrix:
    """The inverse, by elimination; `matrix` is positive definite, so no pivot is zero."""
    size = len(matrix)
    rows = [[*line, *(1.0 if i == j else 0.0 for j in range(size))] for i, line in enumerate(matrix)]
    for column in range(size):
        pivot = rows[column][column]
        head = rows[column] = [value / pivot for value in rows[column]]
        for index, line in enumerate(rows):
            if index != column and line[column]:
                factor = line[column]
                rows[index] = [value - factor * above for value, above in zip(line, head, strict=True)]
    return tuple(tuple(line[size:]) for line in rows)
