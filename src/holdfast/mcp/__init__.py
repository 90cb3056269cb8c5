"""Holdfast as an MCP server: memory, conversations and research as tools, resources and prompts.

`tools` is the table of what can be called, `memory` and `conversations` implement it, and only `server` uses
the SDK.
"""
