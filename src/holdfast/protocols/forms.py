"""How a message is best written for servers, where its own dialect writes everything as a list of parts.

Knows the parts of a message, no wire format.
"""

from collections.abc import Sequence

from holdfast.messages import Form, Part, Text, Thinking, ToolCall, ToolResult


def simplest_form(parts: Sequence[Part]) -> Form:
    """The simplest form that says the same: not every server takes lists, and no list is better than an
    empty one.
    """
    if len(parts) == 1 and isinstance(parts[0], ToolResult):
        parts = parts[0].parts
    body = [part for part in parts if not isinstance(part, Thinking | ToolCall)]
    if not body:
        return "null" if any(isinstance(part, ToolCall) for part in parts) else "text"
    return "text" if len(body) == 1 and isinstance(body[0], Text) else "parts"
