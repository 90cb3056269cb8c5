"""The prompts, German and English, each of which a file of the user's may replace.

Knows where they are and how they are filled in, not what is done with the answers.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from jinja2 import Environment

_SHIPPED = Path(__file__).parent.parent / "prompts"
NAMES = ("summary", "flush", "finding")


class PromptTemplates:
    """`own` is a folder laid out as the shipped one is (`de/summary.jinja`, …), or has parts of it."""

    def __init__(self, own: Path | None = None) -> None:
        self._folders = [*([own] if own else []), _SHIPPED]

    @cached_property
    def _templates(self) -> "Environment":
        """Made for the first prompt, which is long after the start."""
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import SandboxedEnvironment

        # Plain text goes out, so nothing is escaped; and a prompt from a folder may not run code.
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
            # What a template does with its values can go wrong in any of these ways.
            raise ConfigError(
                f"the prompt {language}/{name}.jinja cannot be used: {error}",
                hint="Mend the file in the prompts folder of the data folder, or take it away.",
            ) from error
