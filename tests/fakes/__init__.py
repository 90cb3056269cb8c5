"""Fake servers and programs that tests and evaluations talk to: an Ollama and a `qmd`.

Those that are public are in `holdfast.testing`.
"""
