"""Summaries and what is carried beside them: ledger, flush into memory, checks, the path without a model.

It is handed messages and gives back values; which messages, and when, is decided above it.
"""
