"""Which model helps with summaries and memories, and whether one is of any use just now.

Knows models and their servers. A model that only ever fails costs people time: it rests for a while.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.compaction.summary_model import SummaryModel
from holdfast.context.call_log import CallLog
from holdfast.errors import ModelMissing, ProviderError
from holdfast.messages import Scope
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.upstreams.windows import has_fixed_window
from holdfast.window.presets import Preset

logger = logging.getLogger("holdfast.compaction")

# A model that was of no use this often in a row is not asked for so many seconds.
_USELESS, _REST = 2, 600.0


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """What a person may set. `helper` is a model for this work, by default the one that is talked to."""

    helper: str = ""
    # Whether anything is remembered beyond a conversation, and whether memories are taken from what is said.
    memory: bool = True
    flush: bool = True
    # How long a model may be silent.
    stall: float = 120.0
    # Seconds of quiet before a model is asked: a server with one slot forgets the chat it has just read.
    pause: float = 5.0


class Helpers:
    def __init__(
        self,
        models: ModelRegistry,
        upstreams: Upstreams,
        preset: Preset,
        options: SummaryOptions,
        clock: Callable[[], float],
        log: CallLog | None = None,
    ) -> None:
        self._models = models
        self._upstreams = upstreams
        self._preset = preset
        self._options = options
        self._clock = clock
        self._log = log
        # How often in a row a model was of no use, and when it may be asked again.
        self._useless: dict[tuple[str, str], tuple[int, float]] = {}

    async def choose(
        self,
        model: str,
        provider: Provider,
        scope: Scope = Scope(),  # noqa: B008 - frozen
    ) -> SummaryModel | None:
        """The model to ask where `model` is talked to at `provider`, None while the one there is rests.

        What it is asked is written down as work for this scope.
        """
        try:
            return await self._chosen(model, provider, scope)
        except (ProviderError, ModelMissing) as error:
            logger.warning("no model helps with summaries: %s", error)
            return None

    async def _chosen(self, talked_to: str, provider: Provider, scope: Scope) -> SummaryModel | None:
        model = self._options.helper or talked_to
        if model != talked_to:
            provider = await self._upstreams.route(model)
        count, until = self._useless.get((provider.location, model), (0, 0.0))
        if count >= _USELESS and self._clock() < until:
            return None
        windows = await self._models.settle_windows(provider, model)
        window = windows.used.tokens
        return SummaryModel(
            self._log.over(provider, scope, window) if self._log else provider,
            model,
            self._preset.budget(window, thinks=windows.thinks),
            thinks=windows.thinks,
            sets_window=not has_fixed_window(provider),
            stall=self._options.stall,
        )

    def judge(self, helper: SummaryModel, *, useful: bool, why: str = "") -> None:
        """Remembers whether the model was of use."""
        key = helper.provider.location, helper.name
        if useful:
            self._useless.pop(key, None)
            return
        logger.warning("%s wrote no usable summary: %s", helper.name, why or "no reason")
        count, _ = self._useless.get(key, (0, 0.0))
        self._useless[key] = count + 1, self._clock() + _REST
