"""What answers have beyond CommonMark: formulas, task lists, footnotes, bare links, aligned tables.

Every rule is linear in the text: whoever looks for an end stops where the next beginning stands.
"""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

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
