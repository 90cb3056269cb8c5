"""Sends what fits, and watches whether it was really read: a server may cut in silence, a model only think.

Knows the server by its protocol. When somebody's turn is, and what is kept of an answer, is the engine's.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from holdfast.errors import Overflow
from holdfast.fitting.fitter import Fit, Fitter
from holdfast.i18n import banner, say
from holdfast.messages import Answer, Chunk
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.windows import was_loaded

log = logging.getLogger("holdfast.engine")


class Sending:
    def __init__(self, models: ModelRegistry, fitter: Fitter) -> None:
        self._models = models
        self._fitter = fitter

    async def send(self, fitted: Fit, provider: Provider) -> AsyncGenerator[Chunk, None]:
        """Asks the model; the recorder around it keeps the answer as it comes.

        A model that thought until its limit and said nothing is asked once more, to answer without thinking.
        """
        so_far = Answer()
        async with aclosing(self._asked(fitted, provider)) as chunks:
            async for chunk in chunks:
                so_far.add(chunk)
                if chunk.finish == "length" and not so_far.message.text and so_far.thinking:
                    break
                yield chunk
            else:
                return
        log.warning("%s thought until its limit; it is asked to answer without", fitted.request.model)
        if fitted.request.format is None:
            # Whoever wants JSON wants nothing in front of it.
            yield Chunk(text=_no_answer())
        without = replace(fitted, request=replace(fitted.request, think=False))
        async with aclosing(self._asked(without, provider)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _asked(self, fitted: Fit, provider: Provider) -> AsyncGenerator[Chunk, None]:
        """One request to the server, with somebody watching whether it really read all of it.

        Who does not want a stream gets nothing before the end, so that a cut can still be mended.
        """
        request, begun, held = fitted.request, False, list[Chunk]()
        watch = self._models.watch(provider, request, fitted.window, fitted.expected)
        try:
            async with aclosing(provider.chat(request)) as chunks:
                async for chunk in chunks:
                    try:
                        await watch.see(chunk)
                    except Overflow as cut:
                        if not begun:
                            raise
                        # Too late to ask again: the answer is out.
                        log.warning("%s", cut)
                        self._models.look_again(provider, request.model)
                        await self._fitter.refused(fitted, provider, cut)
                        if request.format is None:
                            yield Chunk(text=f"\n\n{_cut_notice()}")
                    if chunk.usage is not None and was_loaded(chunk.usage):
                        self._models.look_again(provider, request.model)
                    if request.stream:
                        begun = True
                        yield chunk
                    else:
                        held.append(chunk)
            for chunk in held:
                yield chunk
        except Overflow:
            self._models.look_again(provider, request.model)
            raise
        finally:
            # Learning is for the next time; this answer need not wait for it.
            watch.close()


def _no_answer() -> str:
    return (
        banner(
            say(
                "the model thought until its limit; this answer is without thinking",
                "das Modell hat bis zu seiner Grenze nachgedacht; diese Antwort ist ohne Nachdenken",
            )
        )
        + "\n\n"
    )


def _cut_notice() -> str:
    return banner(
        say(
            "the model server read only part of this conversation; the next request will be smaller",
            "der Modellserver hat nur einen Teil des Gesprächs gelesen; die nächste Anfrage wird kleiner",
        )
    )
