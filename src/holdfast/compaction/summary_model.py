"""The model that writes summaries and memories: its prompt templates and a single call to it.

Templates are German and English; a file in the user's prompts folder replaces the shipped one. A call waits
as long as the model keeps sending, but not for a silent one.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ConfigError, CutOff, ModelMissing, Unreachable
from holdfast.messages import Answer, ChatRequest, JsonObject, Message
from holdfast.tokens.budget import Budget
from holdfast.upstreams.base import Provider

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPERATURE = 0.3
# A model that does not stop is cut off after so many characters for each token of its limit.
_MOST_CHARACTERS_PER_TOKEN = 16
# Characters between two checks whether the answer is still usable.
_CHECK_INTERVAL = 500


def _never(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ModelReply:
    text: str
    finish: str | None


@dataclass(frozen=True, slots=True)
class SummaryModel:
    """A model for summaries and memories. `budget` is the window used in every other request to it, too."""

    provider: Provider
    name: str
    budget: Budget
    thinks: bool = False
    # Whether requests set the window; a server that is asked for another size reloads the model.
    sets_window: bool = True
    stall: float = 60.0

    async def ask(
        self, prompt: str, limit: int, grammar: str = "", *, hopeless: Callable[[str], bool] = _never
    ) -> ModelReply:
        """Sends one prompt and returns the reply; raises CutOff when the model is silent for too long.

        The reply ends early once `hopeless` returns True for its beginning."""
        request = ChatRequest(
            self.name,
            (Message.of("user", f"{prompt}\n/no_think" if self._needs_marker else prompt),),
            options=self._options(limit),
            think=False if self.thinks else None,
            extra=self._extra(grammar),
        )
        answer, size, looked_at, loop = Answer(), 0, 0, asyncio.get_running_loop()
        try:
            async with (
                asyncio.timeout(self.stall) as patience,
                aclosing(self.provider.chat(request)) as chunks,
            ):
                async for chunk in chunks:
                    patience.reschedule(loop.time() + self.stall)
                    answer.add(chunk)
                    size += len(chunk.text) + len(chunk.thinking)
                    if size > limit * _MOST_CHARACTERS_PER_TOKEN:
                        return ModelReply(answer.message.text, "length")
                    if size >= looked_at + _CHECK_INTERVAL:
                        looked_at = size
                        if hopeless(answer.message.text):
                            return ModelReply(answer.message.text, "length")
        except ModelMissing as error:
            # It was removed meanwhile; what it should have done is done without it.
            raise Unreachable(error.message, hint=error.hint) from error
        except TimeoutError as error:
            raise CutOff(
                f"{self.name} said nothing for {self.stall:.0f} seconds",
                hint="What it should have done is done without it.",
            ) from error
        return ModelReply(answer.message.text, answer.finish)

    @property
    def _needs_marker(self) -> bool:
        """Whether the prompt needs `/no_think`: Qwen 3 obeys it even where the server ignores `think`."""
        return self.thinks and "qwen" in self.name.lower()

    def _options(self, limit: int) -> JsonObject:
        options: dict[str, float] = {"temperature": TEMPERATURE, "max_tokens": limit}
        if self.sets_window:
            options["num_ctx"] = self.budget.window
        return options

    def _extra(self, grammar: str) -> dict[str, JsonObject]:
        own: dict[str, object] = {}
        if grammar and "grammar" in self.provider.abilities:
            own["grammar"] = grammar
        if self.thinks and self.provider.dialect == "openai":
            own["chat_template_kwargs"] = {"enable_thinking": False}
        return {"openai": own} if own else {}


_SHIPPED = Path(__file__).parent.parent / "prompts"
NAMES = ("summary", "flush", "finding", "title")


class PromptTemplates:
    """Loads and renders prompts. Files in `own` (`de/summary.jinja`, …) replace the shipped ones."""

    def __init__(self, own: Path | None = None) -> None:
        self._folders = [*([own] if own else []), _SHIPPED]

    @cached_property
    def _templates(self) -> "Environment":
        """The template environment, created with the first prompt to keep the start fast."""
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import SandboxedEnvironment

        # The output is plain text, so nothing is escaped; the sandbox keeps a user's prompt from running
        # code.
        return SandboxedEnvironment(
            loader=FileSystemLoader(self._folders),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )

    def render(self, name: str, language: str, **values: Any) -> str:
        from jinja2 import TemplateError

        try:
            return self._templates.get_template(f"{language}/{name}.jinja").render(**values).strip()
        except (TemplateError, OSError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            # A template may raise any of these when it handles its values.
            raise ConfigError(
                f"the prompt {language}/{name}.jinja cannot be used: {error}",
                hint="Mend the file in the prompts folder of the data folder, or take it away.",
            ) from error
