"""What is known of each model: the window that is really there, how to count for it, what was learned.

Stands on providers (what a server says), the store (what was settled before) and tokens (how to count).
"""
