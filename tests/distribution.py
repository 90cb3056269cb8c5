"""Which worker of pytest-xdist runs what: a file, or a group that is named, stays together.

What a module sets up once is then set up once, not in every worker.
"""

from collections import Counter
from collections.abc import Collection

import pytest
from xdist.scheduler import LoadGroupScheduling


class ByFile(LoadGroupScheduling):
    """The units that take long come first, so that no worker is left with one of them at the end."""

    def __init__(self, config: pytest.Config, log, long: Collection[str]) -> None:
        super().__init__(config, log)
        self._long = tuple(f"tests/{place}" for place in long)

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if group == nodeid else group

    def schedule(self) -> None:
        collections = list(self.registered_collections.values())
        if self.collection is None and all(each == collections[0] for each in collections):
            # Filled by what is inherited: a unit that is in the queue already keeps its place.
            sizes = Counter(map(self._split_scope, collections[0]))
            self.workqueue.update(
                (unit, {}) for unit in sorted(sizes, key=lambda unit: self._rank(unit, sizes))
            )
        super().schedule()

    def _rank(self, unit: str, sizes: Counter[str]) -> tuple[int, int]:
        """Groups, then files of tests of the whole, then the others; the larger ones first."""
        kind = 0 if not unit.endswith(".py") else 1 if unit.startswith(self._long) else 2
        return kind, -sizes[unit]
