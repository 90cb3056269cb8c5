"""From the payloads of a streamed answer to chunks: where it really ends, and what a break in it means.

Knows neither transport nor dialect.
"""

from collections.abc import AsyncIterator, Callable

from holdfast.errors import CutOff, HoldfastError
from holdfast.messages import Chunk, JsonObject
from holdfast.upstreams.refusals import error_from_payload, find_error_message


async def iter_chunks(
    payloads: AsyncIterator[JsonObject | None], read: Callable[[JsonObject], Chunk], *, where: str
) -> AsyncIterator[Chunk]:
    """Reads each payload; None is the server's own mark for the end.

    An answer is whole when the server gave a reason for ending or its end mark. What breaks after that broke
    nothing.
    """
    begun = ended = False
    try:
        async for payload in payloads:
            if payload is None:
                if not ended:
                    yield Chunk(finish="stop")
                return
            if payload.get("error"):
                raise stream_error(payload, begun=begun, where=where)
            chunk = read(payload)
            begun = begun or bool(chunk.text or chunk.thinking or chunk.calls)
            ended = ended or chunk.finish is not None
            yield chunk
    except CutOff:
        if not ended:
            raise
    if not ended:
        raise CutOff(f"{where} stopped in the middle of its answer.", hint="Look at the model server's log.")


def stream_error(payload: JsonObject, *, begun: bool, where: str) -> HoldfastError:
    if begun:
        return CutOff(f"{where} stopped in the middle of its answer: {find_error_message(payload)}")
    return error_from_payload(payload, where=where)
