"""What outlives a conversation: notes that a person can read and edit.

Knows no conversation but by the ids it is given, and no window.
"""
