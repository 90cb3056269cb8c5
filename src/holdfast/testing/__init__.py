"""Fakes for tests, evaluations and the demonstration: a scripted provider, and servers of hosted embedders.

Nothing of the core imports them.
"""
