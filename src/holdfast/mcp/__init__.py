"""Holdfast as an MCP server: what is remembered, said and found out, as tools, resources and prompts.

`tools` is the table of what can be called; `server` alone knows the SDK.
"""
