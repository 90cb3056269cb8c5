"""The nearest rows of an index of vectors, as tests compare them."""


def nearest(index, places, vector, best, also=()):
    """How near rows are by id: the best ones and those named, however many the index compares."""
    near = index.compare(places, vector, best, also)
    found = dict(zip(near.rows.tolist(), near.best.tolist(), strict=True))
    if not near.complete:
        return found
    top = sorted(found, key=found.get, reverse=True)[:best]
    return {row: found[row] for row in found if row in {*top, *also}}
