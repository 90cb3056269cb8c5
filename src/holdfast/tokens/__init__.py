"""Counting tokens: exactly with a model's vocabulary, or by estimate, and the budget of a window.

Numbers and values only: nothing here stores, sends, or decides what a window contains.
"""
