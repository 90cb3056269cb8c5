"""Summaries and the ledger, memories taken before messages leave the window, and the way without a model.

The package works on the messages it is given and returns values; which messages are compacted, and when, is
decided above it. Only `compactor` uses the store, and only `SummaryModel` talks to a provider.
"""
