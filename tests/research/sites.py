"""Sites on loopback that answer with bytes of the test's choosing, under names of the test's choosing."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from aiohttp.abc import AbstractResolver

from holdfast.research.fetch import AddressGuard, DownloadLimits, Fetcher

# What a path answers: bytes, or something that writes them, for as long as the client listens.
Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(
    body: bytes | str, content_type: str = "text/plain; charset=utf-8", status: str = "200 OK", **headers: str
) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}"]
    lines += [f"Content-Type: {content_type}"] if content_type else []
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    lines += [f"{name}: {value}" for name, value in ({"Content-Length": str(len(data))} | own).items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + data


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer("", status=status, Location=location)


def results(*urls: str, **more: object) -> bytes:
    """As SearXNG answers."""
    body = {
        "query": "q",
        "number_of_results": 0,
        "results": [{"url": url, "title": f"About {url}", "content": "…", "engine": "x"} for url in urls],
        "unresponsive_engines": [],
        **more,
    }
    return answer(json.dumps(body), "application/json")


async def silence(_writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


@dataclass
class Site:
    port: int
    # What is answered, by path with query, path, or name and path.
    pages: dict[str, Answer]
    # Heads of the requests, and the most that were under way at once, in all and for one host.
    requests: list[str] = field(default_factory=list)
    under_way: dict[str, int] = field(default_factory=dict)
    most: int = 0
    most_of_one: int = 0
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def url(self, path: str, name: str = "site.example") -> str:
        return f"http://{name}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        """What was asked for, robots.txt left out."""
        paths = [head.split(" ")[1] for head in self.requests]
        return [path for path in paths if path != "/robots.txt"]

    def fetcher(
        self, *, names: "Names | None" = None, limits: DownloadLimits | None = None, private: str = ""
    ) -> Fetcher:
        """One that is let to this site, and guarded everywhere else."""
        guard = AddressGuard.from_setting(private or f"127.0.0.1:{self.port}")
        return Fetcher(guard, limits=limits, resolver=names or Names(), clock=lambda: 1_000.0)

    async def asked(self, count: int) -> None:
        """Waits until so many pages were asked for."""
        async with self.news:
            await self.news.wait_for(lambda: len(self.paths) >= count)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._answer((await reader.readuntil(b"\r\n\r\n")).decode("latin-1"), writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self.tasks.discard(task)

    async def _answer(self, head: str, writer: asyncio.StreamWriter) -> None:
        path = head.split(" ")[1]
        host = next(line[6:] for line in head.splitlines() if line.lower().startswith("host: "))
        name = host.rpartition(":")[0]
        self.under_way[name] = self.under_way.get(name, 0) + 1
        self.most = max(self.most, sum(self.under_way.values()))
        self.most_of_one = max(self.most_of_one, self.under_way[name])
        async with self.news:
            self.requests.append(head)
            self.news.notify_all()
        try:
            bare = path.partition("?")[0]
            pages = next((self.pages[key] for key in (name + bare, path, bare) if key in self.pages), None)
            reaction = answer("not here", status="404 Not Found") if pages is None else pages
            if isinstance(reaction, bytes):
                writer.write(reaction)
            else:
                await reaction(writer)
            await writer.drain()
        finally:
            self.under_way[name] -= 1


@asynccontextmanager
async def site(pages: Mapping[str, Answer] | None = None) -> AsyncIterator[Site]:
    opened = Site(0, dict(pages or {}))
    server = await asyncio.start_server(opened.serve, "127.0.0.1", 0)
    opened.port = server.sockets[0].getsockname()[1]
    try:
        yield opened
    finally:
        server.close()
        # Some of them would be silent for ever.
        tasks = list(opened.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Names(AbstractResolver):
    """Every name is on this machine, except those that are elsewhere: several lists are given in turn."""

    def __init__(self, elsewhere: Mapping[str, list[list[str]]] | None = None) -> None:
        self._elsewhere = {name: list(answers) for name, answers in (elsewhere or {}).items()}
        self.asked: list[str] = []

    async def resolve(self, host, port=0, family=socket.AF_INET):
        self.asked.append(host)
        turns = self._elsewhere.get(host, [["127.0.0.1"]])
        numbers = turns.pop(0) if len(turns) > 1 else turns[0]
        if not numbers:
            raise OSError(socket.EAI_NONAME, "no such name")
        return [
            {
                "hostname": host,
                "host": number,
                "port": port,
                "family": socket.AF_INET6 if ":" in number else socket.AF_INET,
                "proto": 0,
                "flags": 0,
            }
            for number in numbers
        ]

    async def close(self) -> None:
        pass
