"""Work that nobody waits for: idle tasks, the outbox, retention, and watching folders.

The package decides when and in which order things run; what they do comes from the packages above and below.
"""
