"""An answer as blocks, one behind the other: thinking, text and calls, each opened, filled and closed.

What dialects have in common that tell a client where every part of an answer begins and ends. Knows none of
their words.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from holdfast.messages import Answer, CallPiece, Chunk

BlockKind = Literal["thinking", "text", "call"]


@dataclass(slots=True)
class Block:
    """`call` is there for a call only, and knows its arguments."""

    kind: BlockKind
    index: int
    call: CallPiece = field(default_factory=CallPiece)
    open: bool = True
    size: int = 0
    # Joined when somebody looks: with a piece a chunk, a text that grows would be copied over and over.
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces[:] = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self.size += len(text)


# What happens to a block: it is opened, a text is added to it, or it is closed.
BlockStep = tuple[Literal["open", "add", "close"], Block, str]


class BlockBuilder:
    """Puts the chunks of one answer into blocks. Steps are told as they are taken, so take them all."""

    def __init__(self) -> None:
        self.answer = Answer()
        self.all: list[Block] = []
        # The calls that were begun, by their number.
        self.calls: dict[int, Block] = {}

    def add(self, chunk: Chunk) -> Iterator[BlockStep]:
        self.answer.add(chunk)
        if chunk.thinking:
            yield from self._add_text("thinking", chunk.thinking)
        if chunk.text:
            yield from self._add_text("text", chunk.text)
        if chunk.calls:
            yield from self._add_calls()

    def end(self) -> Iterator[BlockStep]:
        if self.all and self.all[-1].open:
            self.all[-1].open = False
            yield "close", self.all[-1], ""

    def _add_text(self, kind: BlockKind, text: str) -> Iterator[BlockStep]:
        if not (self.all and self.all[-1].open and self.all[-1].kind == kind):
            yield from self._open(kind)
        yield from self._fill(text)

    def _add_calls(self) -> Iterator[BlockStep]:
        """What is new of the calls. One begins where the one before it ends: servers send them in order."""
        for number, piece in sorted(self.answer.calls.items()):
            if number not in self.calls:
                yield from self._open("call", piece)
                self.calls[number] = self.all[-1]
            block = self.calls[number]
            block.call = piece
            if block.open and len(piece.arguments) > block.size:
                yield from self._fill(piece.arguments[block.size :])

    def _open(self, kind: BlockKind, call: CallPiece | None = None) -> Iterator[BlockStep]:
        yield from self.end()
        self.all.append(Block(kind, len(self.all), call or CallPiece()))
        yield "open", self.all[-1], ""

    def _fill(self, text: str) -> Iterator[BlockStep]:
        self.all[-1].add(text)
        yield "add", self.all[-1], text
