"""The sentences a person wrote: without code, quotes and pastes, each word for word.

Rules and decisions are looked for in these only, so that a sentence out of a log or a mail does not count. It
does not know what a sentence means.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from holdfast.patterns import late
from holdfast.window.borders import Span, fences
from holdfast.window.pasted import MAIL, PASTED_LINE, tag_spans

# A longer text is a document somebody pasted; a person's own words stand before or after it.
_LONG_TEXT = 2_000
_LONG_PARAGRAPH = 700
_LONGEST_SENTENCE = 200
_END_READ = 10_000

# Masked characters: as long as what they hide, and in no pattern.
_HIDDEN = "\x00"
_NOT_NEWLINE = late(r"[^\n]")

_INLINE = late(r"`[^`\n]+`")
_QUOTED = late(
    r"\"[^\"\n]{2,400}\"|“[^“”\n]{2,400}”|„[^„“”\"\n]{2,400}[“”\"]|»[^»«\n]{2,400}«|«[^«»\n]{2,400}»"
    r"|(?<![\w'])'[^'\n]{2,400}'(?!\w)|‚[^‚‘\n]{2,400}‘|‘[^‘’\n]{2,400}’(?!\w)"
)
_INTRODUCES = late(
    r"(?i)\b(?:text|article|e-?mail|mail|document|log|logs|output|message|transcript|essay|story|paragraph"
    r"|passage|artikel|dokument|ausgabe|nachricht|protokoll|absatz|brief|readme|lyrics|poem|gedicht|prompt"
    r"|policy|review)\b"
    r"[^:\n]{0,60}:\s*$"
)
_BULLET = late(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)]|[a-z]\))\s+")
_ABBREVIATION = late(
    r"\b(?:[A-Za-z]|etc|vs|approx|Mr|Mrs|Ms|St|Prof|Dr|No|bzw|usw|ggf|evtl|ca|Nr|inkl|max|min)\.$"
)
# "Am 15. November": the dot after a number ends nothing when it goes on like this.
_ORDINAL = late(r"\b\d{1,2}\.$")
_GOES_ON = late(r"\s+(?:[a-zäöü]|Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
# A longer text is not held in memory for another look at it.
_OFTEN_READ = 4_000
_END = late(r"(?<![.!?…])[.!?…]+[\"'”“)\]]*(?=\s|$)")


def drop_middle(text: str) -> str:
    """A message without its middle, if it is very long: there stands what was pasted, not what was said."""
    return text if len(text) <= 2 * _END_READ else f"{text[:_END_READ]}\n{text[-_END_READ:]}"


def own_sentences(text: str, longest: int = _LONGEST_SENTENCE) -> Sequence[tuple[str, str]]:
    """Each sentence as written, white space collapsed, and the same with quotes and code hidden."""
    return _split_again(text, longest) if len(text) <= _OFTEN_READ else tuple(_split(text, longest))


def _split(text: str, longest: int) -> Iterator[tuple[str, str]]:
    for paragraph, masked in _paragraphs(text):
        start = 0
        for match in _END.finditer(masked):
            # The last few characters tell; the whole sentence would be read again and again.
            before = masked[max(start, match.end() - 12) : match.end()]
            if _ABBREVIATION.search(before):
                continue
            if _ORDINAL.search(before) and _GOES_ON.match(masked, match.end()):
                continue
            yield from _sentence(paragraph, masked, start, match.end(), longest)
            start = match.end()
        yield from _sentence(paragraph, masked, start, len(masked), longest)


# What was said is looked at again with every window.
@lru_cache(maxsize=2_048)
def _split_again(text: str, longest: int) -> Sequence[tuple[str, str]]:
    return tuple(_split(text, longest))


def _sentence(text: str, masked: str, start: int, end: int, longest: int) -> Iterator[tuple[str, str]]:
    written, hidden = (" ".join(part[start:end].split()) for part in (text, masked))
    if written and len(written) < longest:
        yield written, hidden


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Runs of lines that belong together, as written and masked; a list's items are runs of their own."""
    masked = _mask_quotes(text)
    blocks = list(_blocks(text, masked))
    if len(text) > _LONG_TEXT:
        ends = [*blocks[:2], *blocks[-2:]] if len(blocks) > 4 else blocks
        blocks = [block for block in ends if len(block[0]) <= _LONG_PARAGRAPH]
    for written, hidden in blocks:
        yield from _split_lines(written.split("\n"), hidden.split("\n"))


def _mask_quotes(text: str) -> str:
    for spans in (fences, tag_spans, _inline, _quoted):
        pieces, done = [], 0
        for start, end in spans(text):
            pieces += [text[done:start], _NOT_NEWLINE.sub(_HIDDEN, text[start:end])]
            done = end
        text = "".join([*pieces, text[done:]])
    return text


def _inline(text: str) -> Iterator[Span]:
    return (match.span() for match in _INLINE.finditer(text))


def _quoted(text: str) -> Iterator[Span]:
    return (match.span() for match in _QUOTED.finditer(text))


def _blocks(text: str, masked: str) -> Iterator[tuple[str, str]]:
    """Paragraphs up to where somebody else begins to speak."""
    written: list[str] = []
    hidden: list[str] = []
    for line, mask in zip(text.split("\n"), masked.split("\n"), strict=True):
        if MAIL.match(mask):
            break
        if mask.strip() and not PASTED_LINE.search(mask) and mask.strip(_HIDDEN + " \t\r"):
            written.append(line)
            hidden.append(mask)
        elif written:
            yield "\n".join(written), "\n".join(hidden)
            written, hidden = [], []
        if _INTRODUCES.search(mask):
            break
    if written:
        yield "\n".join(written), "\n".join(hidden)


def _split_lines(lines: list[str], masks: list[str]) -> Iterator[tuple[str, str]]:
    written = hidden = ""
    for line, mask in zip(lines, masks, strict=True):
        bullet = _BULLET.match(mask)
        if written and (bullet or not _goes_on(hidden, mask)):
            yield written, hidden
            written = hidden = ""
        cut = bullet.end() if bullet else 0
        written, hidden = f"{written} {line[cut:]}", f"{hidden} {mask[cut:]}"
    if written:
        yield written, hidden


def _goes_on(before: str, line: str) -> bool:
    """Whether a line break is only where the editor wrapped."""
    before, line = before.rstrip(), line.lstrip()
    if before.endswith((".", "!", "?", ":", ";")):
        return False
    return line[:1].islower() or len(before.rpartition("\n")[2]) > 60
