"""Shortens a text to a number of tokens: head and tail stay, a neutral marker says how much went.

What comes out is never over the limit, and what is within the limit comes out as it is. It knows texts only:
which are shortened, and to what, is decided elsewhere.
"""

from collections.abc import Callable, Sequence

from holdfast.window.borders import Span, fences, head_end, tail_start, whole_characters
from holdfast.window.outputs import OutputLines, json_writer, unwrap_fence

# How many tokens a text has. May be slow: it is called a dozen times a text, mostly on what is kept.
Count = Callable[[str], int]
# A text shortened to about so many characters.
Draw = Callable[[int], str]

_HEAD = 0.6
# The search ends when what it could still gain is this small a part.
_PRECISION = 32


def marker(tokens: int) -> str:
    """In place of what went. No hint how to fetch it: small models would invent calls."""
    return f"[shortened: {tokens:,} tokens]"


def shorten(text: str, limit: int, count: Count) -> str:
    """Head and tail, cut at the best borders; a code fence stays whole or goes whole."""
    if (total := count(text)) <= limit:
        return text
    whole = fences(text)
    return _head_and_tail(text, limit, count, total, whole, head_end, tail_start)


def cut_middle(text: str, limit: int, count: Count) -> str:
    """The middle out of anything, without regard for borders."""
    if (total := count(text)) <= limit:
        return text

    def end(text: str, position: int, _: Sequence[Span]) -> int:
        return whole_characters(text, position, -1)

    def start(text: str, position: int, _: Sequence[Span]) -> int:
        return whole_characters(text, position, 1)

    return _head_and_tail(text, limit, count, total, (), end, start)


def shorten_result(text: str, limit: int, count: Count) -> str:
    """A tool's result: errors first, then head and tail; JSON stays JSON.

    The numbers in its markers are by the share of characters. Output that is one fence from end to end is
    shortened inside it.
    """
    if (total := count(text)) <= limit:
        return text
    opening, inside, closing = unwrap_fence(text)
    density = total / len(text)

    def note(characters: int) -> str:
        return marker(max(1, round(characters * density)))

    def fitted(draw: Draw) -> str | None:
        def wrapped(room: int) -> str:
            return f"{opening}{draw(room)}{closing}"

        room = _largest_room(wrapped, limit, count, guess=int(limit / density), most=len(text))
        return None if room is None else wrapped(room)

    shape = json_writer(inside, note)
    return (
        (shape and fitted(shape)) or fitted(OutputLines(inside, note).write) or cut_middle(text, limit, count)
    )


def _head_and_tail(
    text: str,
    limit: int,
    count: Count,
    total: int,
    whole: Sequence[Span],
    end: Callable[[str, int, Sequence[Span]], int],
    start: Callable[[str, int, Sequence[Span]], int],
) -> str:
    def cuts(room: int) -> Span:
        left = end(text, int(room * _HEAD), whole)
        right = start(text, len(text) - (room - left), whole)
        # What the tail could not use goes to the head.
        left = max(left, end(text, room - (len(text) - right), whole)) if right < len(text) else left
        return left, max(left, right)

    def draw(room: int) -> str:
        left, right = cuts(room)
        return _join_cut(text, left, right, total * (right - left) // len(text))

    room = _largest_room(draw, limit, count, guess=limit * len(text) // total, most=len(text) - 1)
    if room is None:
        return _least(total, limit, count)
    left, right = cuts(room)
    exact = _join_cut(text, left, right, total - count(text[:left]) - count(text[right:]))
    return exact if count(exact) <= limit else draw(room)


def _join_cut(text: str, left: int, right: int, tokens: int) -> str:
    """The marker stands on its own line where lines were cut, else between two spaces."""
    if left >= right:
        return text
    head, tail = text[:left].rstrip(), text[right:]
    before = "" if not head else "\n" if text[left - 1] == "\n" else " "
    after = "" if not tail.strip() else "\n" if text[right - 1] == "\n" else " "
    return f"{head}{before}{marker(max(1, tokens))}{after}{tail if after else ''}"


def _least(total: int, limit: int, count: Count) -> str:
    """When there is no room for anything else, nor perhaps for the whole marker."""
    for text in (marker(total), "[shortened]", "[…]"):
        if count(text) <= limit:
            return text
    return ""


def _largest_room(draw: Draw, limit: int, count: Count, *, guess: int, most: int) -> int | None:
    """About the most room with which a drawing is within the limit; None if it is not with none at all.

    More room does not always mean more tokens, so only what was counted is believed.
    """
    low, high, room = -1, most + 1, min(guess, most)
    while high - low > max(1, low // _PRECISION):
        if count(draw(room)) <= limit:
            low = room
            room = min(low * 2 + 1, most, (low + high) // 2 if high <= most else most)
        else:
            high = room
            room = max(0, (low + high) // 2, high // 2 if low < 0 else 0)
        if room in (low, high):
            break
    return None if low < 0 else low
