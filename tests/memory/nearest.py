"""The nearest rows of an index of vectors, as tests compare them."""


def nearest(index, places, vector, best, also=()):
    """How near rows are by id: the best ones and those named, however many the index compares."""
    near = index.compare(places, vector, best, also)
    values = dict(zip(near.rows.tolist(), near.best.tolist(), strict=True))
    if not near.complete:
        return values
    top = sorted(values, key=values.get, reverse=True)[:best]
    return {row: values[row] for row in values if row in {*top, *also}}
