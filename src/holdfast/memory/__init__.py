"""Memories and notes that outlive a conversation, in files that a person can read and edit.

Depends on no conversation except by the ids it is given, and on no window.
"""
