"""From texts to vectors, by a model: here, or on a server that somebody named.

Knows no notes and no search.
"""
