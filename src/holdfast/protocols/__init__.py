"""Wire formats of Ollama, OpenAI and Anthropic, translated to message values and back.

Each module translates one protocol in both directions; transport and storage are elsewhere. Fields that are
not interpreted are kept under the protocol's name and are sent again in that protocol only.
"""
