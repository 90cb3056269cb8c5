"""Holdfast: a context keeper for language models with small windows."""

__version__ = "0.1.0"
