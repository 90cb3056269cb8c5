"""Fake model servers, embedding servers and programs, for tests, evaluations and the demonstration.

Nothing of the core imports them.
"""
