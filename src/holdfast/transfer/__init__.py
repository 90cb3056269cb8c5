"""Moves data in and out as a whole: imports, backups, migration to another store, and the data of one user.

Uses the store and the notes; knows nothing of models, windows, or the server.
"""
