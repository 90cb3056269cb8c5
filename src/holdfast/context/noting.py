"""What a finding comes to, written by a model once the answer is there and nobody waits.

Until then, and where no model is of use, it is said in the sources' own words. Knows models and findings.
"""

import asyncio
import logging
from functools import partial

from holdfast.background.jobs import Work
from holdfast.compaction.summary_model import PromptTemplates
from holdfast.context.summaries import Helpers
from holdfast.errors import ConfigError, HoldfastError, NotFound, ProviderError
from holdfast.events import Events
from holdfast.messages import Scope
from holdfast.research.finding import Finding
from holdfast.research.library import Research
from holdfast.research.summary import build_prompt, validate_summary
from holdfast.upstreams.base import Provider

log = logging.getLogger("holdfast.research")

# Tokens for a hundred words, and the line that says how long they hold.
_ANSWER = 400
# Characters of the sources for each token of the window that is left for them, to be on the safe side.
_CHARACTERS, _LEAST_TOKENS = 2, 2_000


class Noting:
    def __init__(
        self, research: Research, helpers: Helpers, prompts: PromptTemplates, events: Events
    ) -> None:
        self._research = research
        self._helpers = helpers
        self._prompts = prompts
        self._events = events

    def about(self, finding: Finding, model: str, provider: Provider) -> Work:
        """The work of noting a finding down, for when there is time."""
        return partial(self.note, finding.scope, finding.id, model, provider)

    async def note(self, scope: Scope, name: str, model: str, provider: Provider) -> None:
        """Have a model write the summary of a finding, if none has yet and nobody wrote one by hand."""
        try:
            finding = await asyncio.to_thread(self._research.get, scope, name)
        except NotFound:
            return
        if finding.summary_by in ("model", "person"):
            return
        helper = await self._helpers.choose(model, provider, scope)
        if helper is None:
            return
        room = max(_LEAST_TOKENS, (helper.budget.room - 2 * _ANSWER) * _CHARACTERS)
        try:
            prompt = build_prompt(finding, self._prompts.render, room=room)
            said = await helper.ask(prompt, _ANSWER)
        except (ProviderError, ConfigError) as error:
            log.warning("%s did not sum up %s: %s", helper.name, finding.id, error)
            return
        made = validate_summary(finding, said.text)
        # One that merely says less than the sources do may still be of use for other work.
        self._helpers.judge(helper, useful=made.by == "model" or made.carried > 0, why=made.refused)
        if made.by == "model":
            try:
                done = await asyncio.to_thread(
                    self._research.set_summary, scope, finding.id, made.summary, made.by, made.volatility
                )
            except HoldfastError as error:
                log.warning("the summary of %s could not be written: %s", finding.id, error)
                return
            self._events.publish("research", {"id": done.id, "change": "summarised"}, scope)
