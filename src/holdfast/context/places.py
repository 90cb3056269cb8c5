"""A conversation at rest, looked at as its window has it: as if it were sent once more as it stands.

Knows the store and the models. It decides nothing, and changes nothing.
"""

import asyncio
from dataclasses import dataclass

from holdfast.context.case import Case, Tells, draft_of, request_at_rest, tells_all
from holdfast.context.lot import Lot, lot_of
from holdfast.store import Conversation, Store
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.presets import Preset
from holdfast.window.view import View


@dataclass(frozen=True, slots=True)
class Place:
    case: Case
    lot: Lot
    view: View
    # Whether as many exchanges stay as fit when it is summarised; without, only the last two.
    fills: bool = True

    @property
    def conversation(self) -> Conversation:
        assert self.case.kept.conversation is not None
        return self.case.kept.conversation

    @property
    def depth(self) -> int:
        return max((item.depth for item in self.lot.items), default=-1)

    @property
    def left(self) -> int:
        """Tokens that were left out of the window, and that no summary stands for."""
        return self.lot.lane.state.left


class Places:
    def __init__(
        self,
        store: Store,
        models: ModelRegistry,
        upstreams: Upstreams,
        preset: Preset,
        tells: Tells = tells_all,
    ) -> None:
        self._store = store
        self._tells = tells
        self._models = models
        self._upstreams = upstreams
        self._preset = preset

    async def of(self, conversation: str) -> Place | None:
        """The conversation in the window that was last used; None if nothing of it was ever sent."""
        store = self._store
        row = await store.run(store.log.get, conversation)
        used = [lane for lane in await store.run(store.lanes.of, conversation) if lane.report.get("model")]
        if not used or row.head is None:
            return None
        request, kept = await store.run(request_at_rest, store, row, used[0])
        provider = await self._upstreams.route(request.model)
        windows = await self._models.windows(provider, request.model)
        budget = self._preset.budget(used[0].window, thinks=windows.thinks)
        counter = await self._models.counters.counter(provider, request.model)
        tells = row.memory and self._tells(provider.location)
        case = Case(request, kept, provider, budget, counter, tells=tells)
        lot = await store.run(lot_of, store, request, kept, budget, case.count)
        first = [] if lot.horizon is None else [lot.horizon]
        return Place(case, lot, await asyncio.to_thread(View, draft_of(case, lot), first))
