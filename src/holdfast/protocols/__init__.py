"""Wire formats: what Ollama, OpenAI and Anthropic clients and servers say, to our values and back.

Each module translates one dialect and knows neither transport nor storage. What a dialect carries that we do
not interpret is kept under the dialect's name and goes out again in that dialect only.
"""
