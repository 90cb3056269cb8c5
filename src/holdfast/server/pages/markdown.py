"""Renders Markdown as HTML that is safe to show whoever wrote it: raw HTML is off, and the result cleaned.

What a model thought in its text becomes a box of its own; pages fold it. Formulas stay TeX in the HTML, code
stays text: pages set them. `MarkdownBlocks` renders an answer while it is being written: only the unfinished
block is rendered again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from holdfast.server.pages.markdown_rules import add_rules
from holdfast.thinking import find_thoughts

_TAGS = {
    "a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol",
    "p", "pre", "s", "span", "strong", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_CLASSES = {
    "div": {"math", "thought"}, "span": {"math", "block"}, "sup": {"footnote"}, "ol": {"footnotes"},
    "li": {"task", "done"},
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "code": {"class"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}}
_SCHEMES = {"http", "https", "mailto"}
_REL = "noopener noreferrer nofollow"
# Deeper than anybody writes, and shallow enough for every browser.
_NESTING = 20
# With this many unclosed brackets links are not parsed: each bracket would be searched to the end.
_UNCLOSED = 200
# Longer link definitions are dropped: every use of one would repeat it in the HTML.
_LONGEST_PLACE = 2_000


def render_html(text: str) -> str:
    return "".join(_render_section(section, is_thought) for section, is_thought, _ in _split(text))


def _render_section(text: str, is_thought: bool) -> str:
    if is_thought:
        # The line breaks beside the marks belong to them.
        return f'<div class="thought">{escapeHtml(text.strip())}</div>\n' if text.strip() else ""
    links = text.count("[") - text.count("]") <= _UNCLOSED
    return clean_html(_markdown(links=links).render(text))


def _split(text: str) -> Iterator[tuple[str, bool, int]]:
    """Yield what was said and thought, in turn: the text, whether it is a thought, where it begins."""
    done = 0
    for thought in find_thoughts(text):
        if text[done : thought.start].strip():
            yield text[done : thought.start], False, done
        yield thought.text, True, thought.start
        done = thought.end
    if done < len(text):
        yield text[done:], False, done


@dataclass(slots=True)
class MarkdownBlocks:
    """A growing answer as numbered blocks: paragraphs, lists, code.

    Blocks before the last one do not change any more, so a page only replaces the newest.
    """

    text: str = ""
    # Where the block that is not finished begins, and its number.
    _start: int = 0
    _number: int = 0

    def add(self, more: str) -> list[tuple[int, str]]:
        """Append text, and return the number and HTML of the blocks that are new or changed."""
        self.text += more
        tail = self.text[self._start :]
        starts = block_starts(tail)
        changed = []
        for at, start in enumerate(starts):
            end = starts[at + 1] if at + 1 < len(starts) else len(tail)
            changed.append((self._number + at, render_html(tail[start:end])))
        if len(starts) > 1:
            self._number += len(starts) - 1
            self._start += starts[-1]
        return changed


def block_starts(text: str) -> list[int]:
    """Return the offsets at which the blocks of a text begin; a thought is one block."""
    starts: list[int] = []
    for section, is_thought, start in _split(text):
        starts += [start] if is_thought else [start + offset for offset in _starts_in(section)]
    return starts


def _starts_in(text: str) -> list[int]:
    tokens = [token for token in _markdown().parse(text) if token.level == 0 and token.map]
    firsts = sorted({token.map[0] for token in tokens if token.map})
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return [offsets[first] for first in firsts]


def clean_html(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        allowed_classes=_CLASSES,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )


@cache
def _markdown(*, links: bool = True) -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING}, renderer_cls=_Renderer)
    markdown.core.ruler.after("block", "long_places", _drop_long_places)
    markdown.enable(["table", "strikethrough"])
    add_rules(markdown)
    return markdown if links else markdown.disable(["link", "image"])


def _drop_long_places(state: StateCore) -> None:
    places = state.env.get("references", {})
    for name, place in list(places.items()):
        if len(place["href"]) + len(place.get("title") or "") > _LONGEST_PLACE:
            del places[name]


class _Renderer(RendererHTML):
    """Renders images as links, because loading one would tell its server who reads the page."""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        shown = self.renderInlineAsText(token.children or [], options, env) or str(token.attrs.get("src", ""))
        link = Token("link_open", "a", 1, attrs={"href": token.attrs.get("src", "")})
        return f"<a{self.renderAttrs(link)}>{escapeHtml(shown)}</a>"
