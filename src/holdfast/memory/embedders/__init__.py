"""From texts to vectors, by a model: here, on an Ollama, or on a server that speaks OpenAI's way.

Knows no notes and no search.
"""
