"""The HTTP server: the protocols of model servers, our own REST routes, and the pages.

Start with `app`. `endpoint` has what all routes share, `guard` decides who may do what; the protocols are
`ollama`, `openai`, `responses` and `anthropic`. The server translates between HTTP and the engine and knows
nothing of how windows are fitted or memories are made.
"""
