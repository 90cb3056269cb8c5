"""A demonstration: a long scripted talk through the real engine, and what of it is known at the end.

Everything but the model is real. Nothing here is used by anything else.
"""
