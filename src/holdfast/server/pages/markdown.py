"""Renders Markdown as HTML that is safe to show whoever wrote it: raw HTML is off, and the result cleaned.

What a model thought in its text becomes a box of its own; pages fold it. Formulas stay TeX in the HTML, code
stays text: pages set them. `MarkdownBlocks` renders an answer while it is being written: only the unfinished
block is rendered again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from holdfast.thinking import find_thoughts

# A formula within a line. A dollar is money unless it stands as brackets do: no space inside, no letter or
# digit outside. What begins another formula ends the search for the end of this one.
_FORMULA = re.compile(
    r"\$\$(?P<dollars>(?:[^$\\]|\\.|\$(?!\$)){1,4000})\$\$"
    r"|\$(?P<dollar>(?![\s$])(?:[^$\\\n]|\\.){1,2000}(?<!\s))\$(?![\w$])"
    r"|\\\((?P<round>(?:[^\\]|\\[^()]){1,2000})\\\)"
    r"|\\\[(?P<square>(?:[^\\]|\\[^\[\]]){1,4000})\\\]",
    re.DOTALL,
)
# The same over lines of its own, with all that stands between them.
_FORMULA_BLOCK = re.compile(
    r"\$\$(?P<dollars>(?:[^$\\]|\\.|\$(?!\$)){1,8000})\$\$[ \t]*$"
    r"|\\\[(?P<square>(?:[^\\]|\\[^\[\]]){1,8000})\\\][ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_TASK = re.compile(r"\[([ xX])\](?:[ \u00a0]+|$)")
_NOTE_NAME = r"\[\^(?P<name>[^\]\[\s^]{1,60})\]"
_NOTE, _NOTE_TEXT = re.compile(_NOTE_NAME), re.compile(rf"{_NOTE_NAME}:[ \t]*(?P<text>[^\n]*)")
_LINK = re.compile(r"\b(?:https?://|www\.(?=[^\s.]))[^\s<>\"`\u201c\u201d\u00ab\u00bb]{1,2000}")
_LINK_END = ".,;:!?*_~'\u2019\u2026"
# More footnotes than this in one text are nobody's.
_MOST_NOTES = 200


def add_rules(markdown: MarkdownIt) -> None:
    markdown.inline.ruler.before("escape", "formula", _read_formula)
    markdown.block.ruler.before(
        "fence", "formula_block", _read_formula_block, {"alt": ["paragraph", "blockquote", "list"]}
    )
    markdown.inline.ruler.before("link", "note", _read_note)
    markdown.block.ruler.before("reference", "note_text", _read_note_text, {"alt": ["paragraph"]})
    markdown.core.ruler.after("inline", "notes", _append_notes)
    markdown.core.ruler.push("links", _link_addresses)
    markdown.core.ruler.push("tasks", _mark_tasks)
    markdown.core.ruler.push("columns", _align_columns)
    markdown.add_render_rule("formula", _render_formula)
    markdown.add_render_rule("formula_block", _render_formula)
    markdown.add_render_rule("note", _render_note)


def _read_formula(state: StateInline, silent: bool) -> bool:
    at = state.pos
    if state.src[at] not in "$\\":
        return False
    match = _FORMULA.match(state.src, at, state.posMax)
    if match is None or (match["dollar"] and at and state.src[at - 1].isalnum()):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = str(match[match.lastgroup or 0]).strip()
        token.meta["block"] = match.lastgroup in ("dollars", "square")
    state.pos = match.end()
    return True


def _read_formula_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    start = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not state.src.startswith(("$$", "\\["), start):
        return False
    match = _FORMULA_BLOCK.match(state.src, start, state.eMarks[last - 1])
    if match is None or not str(match[match.lastgroup or 0]).strip():
        return False
    after = first + 1
    while after < last and state.bMarks[after] < match.end():
        # A line that belongs to what is around the formula is no part of it.
        if state.sCount[after] < state.blkIndent and not state.isEmpty(after):
            return False
        after += 1
    if silent:
        return True
    token = state.push("formula_block", "", 0)
    token.content = str(match[match.lastgroup or 0]).strip()
    token.map = [first, after]
    token.meta["block"] = True
    state.line = after
    return True


def _render_formula(_renderer: RendererHTML, tokens: list[Token], at: int, *_: object) -> str:
    token = tokens[at]
    if token.type == "formula_block":
        return f'<div class="math">{escapeHtml(token.content)}</div>\n'
    kind = "math block" if token.meta["block"] else "math"
    return f'<span class="{kind}">{escapeHtml(token.content)}</span>'


def _read_note_text(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """A footnote's text: its line, and the lines below up to an empty one or the next footnote."""
    start = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not state.src.startswith("[^", start):
        return False
    match = _NOTE_TEXT.match(state.src, start, state.eMarks[first])
    if match is None:
        return False
    if silent:
        return True
    lines, after = [match["text"]], first + 1
    while after < last and not state.isEmpty(after):
        begin = state.bMarks[after] + state.tShift[after]
        if state.src.startswith("[^", begin) or state.sCount[after] < state.blkIndent:
            break
        lines.append(state.src[begin : state.eMarks[after]])
        after += 1
    texts = state.env.setdefault("notes", {})
    if len(texts) < _MOST_NOTES:
        texts.setdefault(match["name"], "\n".join(lines).strip())
    # Nothing stands where the text stood, but its lines are a block of their own.
    token = state.push("note_text", "", 0)
    token.map, token.hidden = [first, after], True
    state.line = after
    return True


def _read_note(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("[^", state.pos):
        return False
    match = _NOTE.match(state.src, state.pos, state.posMax)
    texts = state.env.get("notes", {})
    if match is None or match["name"] not in texts:
        return False
    if not silent:
        order = state.env.setdefault("note_order", {})
        token = state.push("note", "", 0)
        token.meta["number"] = order.setdefault(match["name"], len(order) + 1)
    state.pos = match.end()
    return True


def _render_note(_renderer: RendererHTML, tokens: list[Token], at: int, *_: object) -> str:
    return f'<sup class="footnote">{tokens[at].meta["number"]}</sup>'


def _append_notes(state: StateCore) -> None:
    """Append the footnotes that are referred to, in the order of their first mention."""
    texts, order = state.env.get("notes", {}), state.env.get("note_order", {})
    if not order:
        return
    opening = Token("notes_open", "ol", 1, block=True, attrs={"class": "footnotes"})
    tokens = [opening]
    for name in list(order):
        children: list[Token] = []
        state.md.inline.parse(texts[name], state.md, state.env, children)
        inline = Token("inline", "", 0, content=texts[name], children=children, level=2)
        tokens += [Token("list_item_open", "li", 1, block=True), inline, Token("list_item_close", "li", -1)]
    state.tokens += [*tokens, Token("notes_close", "ol", -1, block=True)]


def _link_addresses(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and any(sign in token.content for sign in ("://", "www.")):
            token.children = list(_with_links(state.md, token.children or []))


def _with_links(markdown: MarkdownIt, children: list[Token]) -> Iterator[Token]:
    depth = 0
    for child in children:
        depth += (child.type == "link_open") - (child.type == "link_close")
        if child.type != "text" or depth:
            yield child
            continue
        done = 0
        for match in _LINK.finditer(child.content):
            address = _without_tail(match[0])
            href = markdown.normalizeLink(address if "://" in address else f"https://{address}")
            if not markdown.validateLink(href) or address.endswith("://"):
                continue
            if match.start() > done:
                yield Token("text", "", 0, content=child.content[done : match.start()])
            yield Token("link_open", "a", 1, attrs={"href": href})
            yield Token("text", "", 0, content=address)
            yield Token("link_close", "a", -1)
            done = match.start() + len(address)
        if done < len(child.content):
            yield Token("text", "", 0, content=child.content[done:])


def _without_tail(address: str) -> str:
    """Return an address without the marks of the sentence around it; brackets stay where they close."""
    open_count = {close: address.count(close) - address.count(sign) for sign, close in ("()", "[]", "{}")}
    end = len(address)
    while end and (address[end - 1] in _LINK_END or open_count.get(address[end - 1], 0) > 0):
        if address[end - 1] in open_count:
            open_count[address[end - 1]] -= 1
        end -= 1
    return address[:end]


def _mark_tasks(state: StateCore) -> None:
    for item, paragraph, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if (item.type, paragraph.type, inline.type) != ("list_item_open", "paragraph_open", "inline"):
            continue
        match = _TASK.match(inline.content)
        children = inline.children or []
        if match is None or not children or not children[0].content.startswith(match[0].rstrip()):
            continue
        item.attrSet("class", "task" if match[1] == " " else "task done")
        children[0].content = children[0].content[len(match[0].rstrip()) :].lstrip()


def _align_columns(state: StateCore) -> None:
    """Say the alignment of a cell by an attribute, because pages allow no styles in HTML."""
    for token in state.tokens:
        if token.type in ("th_open", "td_open") and (style := token.attrs.pop("style", None)):
            token.attrSet("align", str(style).rpartition(":")[2])


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
    return nh3.clean(
        _markdown(links=links).render(text),
        tags=_TAGS,
        allowed_classes=_CLASSES,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel=_REL,
    )


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
