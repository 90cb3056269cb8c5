"""Which stretches of a message somebody pasted: code, logs, tables, data, mails. The rest they typed.

By the shape of lines alone. It does not know what a line says, nor what becomes of either part.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from holdfast.patterns import late
from holdfast.window.borders import Span, fences

# So many lines of one shape nobody types.
_MANY = 8
# Between two of them so many others may stand, as errors do in a log.
_BETWEEN = 6

# Lines no person types: quotes, tables, diffs, logs, stack traces, prompts of a shell, code.
PASTED_LINE = late(
    r"^\s*(?:>|\||\+{1,3}\s?\S|@@|---\s\S|\$\s|#!|//|/\*|\*/|at\s\S+\(|File \"|Traceback|Caused by:|E {2,}\S"
    r"|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL)\b"
    r"|\w+(?:Error|Exception)\b|(?:def|class|import|from|return|public|private|static|const|let|var"
    r"|function)\s\S.*[({;:=]"
    r"|#{1,6}\s)"
    r"|[;{}]\s*$|\t.*\t|\S\s*\|\s*\S.*\|"
)
# From here on somebody else speaks.
MAIL = late(
    r"^\s*(?:From|To|Sent|Subject|Von|An|Gesendet|Betreff|Date|Datum):\s\S"
    r"|^\s*(?:-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Forwarded|Weitergeleitet))"
    r"|^\s*(?:On|Am) .{4,80}(?:wrote|schrieb).{0,60}:\s*$"
    r"|^\s*(?:Dear|Hello|Hi|Sehr geehrte[rs]?|Liebe[rs]?) [A-ZÄÖÜ][\w .]{1,40},\s*$"
)
_TAG = late(r"<(\w[\w-]{0,40})(?:\s[^<>\n]{0,200})?>")
_LETTERS = late(r"[^\W\d_]+(?: +[^\W\d_]+)*")
_DIGITS = late(r"\d+")
# What the shape of a line must have, to be one of data: prose has words and commas.
_OF_DATA = late(r"[0;:{}\[\]=\"|\t]")


def stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """The text in its order, in stretches that were typed and such that were pasted (True)."""
    done = 0
    for start, end in _merge_spans([*fences(text), *tag_spans(text), *_lines(text)]):
        if start > done:
            yield done, start, False
        yield start, end, True
        done = end
    if done < len(text):
        yield done, len(text), False


def typed_text(text: str) -> str:
    """Only what was typed."""
    return "".join(text[start:end] for start, end, pasted in stretches(text) if not pasted)


def tag_spans(text: str) -> Iterator[Span]:
    """What stands between a tag and its end."""
    done, unclosed = 0, set()
    for tag in _TAG.finditer(text):
        if tag.start() < done or tag[1] in unclosed:
            continue
        closing = text.find(f"</{tag[1]}>", tag.end())
        if closing < 0:
            unclosed.add(tag[1])
            continue
        done = closing + len(tag[1]) + 3
        yield tag.start(), done


def _lines(text: str) -> list[Span]:
    lines = text.splitlines(keepends=True)
    spans, at = [], 0
    for line in lines:
        spans.append((at, at + len(line)))
        at += len(line)
    mail = next((number for number, line in enumerate(lines) if MAIL.match(line)), len(lines))
    shapes = [_shape(line) for line in lines[:mail]]
    often = {shape for shape, count in Counter(shapes).items() if shape and count >= _MANY}
    alike = [number for number, shape in enumerate(shapes) if shape in often]
    pasted = {number for number in range(mail) if PASTED_LINE.search(lines[number].rstrip("\n"))}
    pasted |= _fill_gaps(alike) | set(range(mail, len(lines)))
    return [spans[number] for number in sorted(pasted)]


def _shape(line: str) -> str:
    """Words and numbers by a sign each; empty for what may be a sentence."""
    shape = _DIGITS.sub("0", _LETTERS.sub("a", line.strip()))
    return shape if _OF_DATA.search(shape) else ""


def _fill_gaps(alike: Sequence[int]) -> set[int]:
    """These lines and what stands between them."""
    found: set[int] = set()
    for before, after in pairwise(alike):
        if after - before <= _BETWEEN + 1:
            found.update(range(before, after + 1))
    return found


def _merge_spans(spans: Sequence[Span]) -> Iterator[Span]:
    last: Span | None = None
    for span in sorted(spans):
        if last is None:
            last = span
        elif span[0] <= last[1]:
            last = last[0], max(last[1], span[1])
        else:
            yield last
            last = span
    if last is not None:
        yield last
