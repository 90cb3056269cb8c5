"""A host of MCP for tests: the SDK's own client, in the same process as the server."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from holdfast.mcp.server import build_server
from holdfast.mcp.tools import Caller, McpServices
from holdfast.messages import Scope
from mcp import Client


@dataclass(frozen=True)
class Host:
    """Connected for somebody, anew for every question."""

    parts: McpServices
    scope: Scope = Scope()
    memory: bool = True
    mode: str = "auto"

    def of(self, *scope: str, **changes: Any) -> "Host":
        return replace(self, **({"scope": Scope(*scope)} if scope else {}), **changes)

    def ask(self, method: str, *args: Any, **more: Any) -> Any:
        async def asked() -> Any:
            server = build_server(lambda: self.parts, lambda _: Caller(self.scope, self.memory))
            async with Client(server, mode=self.mode) as client:
                try:
                    return await getattr(client, method)(*args, **more)
                except MCPError as error:
                    # Raised in here it would come out wrapped in groups.
                    return error

        answer = asyncio.run(asked())
        if isinstance(answer, MCPError):
            raise answer
        return answer

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.ask("call_tool", tool, arguments)

    def told(self, tool: str, **arguments: Any) -> str:
        """The text of an answer, which is no error."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return result.structured_content

    def refused(self, tool: str, *words: str, **arguments: Any) -> str:
        """The sentence of an error, which has these words in it and nothing of our insides."""
        result = self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        assert result.structured_content is None
        text = text_of(result)
        assert all(word in text for word in words), text
        assert "Traceback" not in text
        return text


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    return content.text
