"""A demonstration: a long scripted conversation through the real engine, with questions about it at the end.

Everything but the model is real. No other package depends on this one.
"""
