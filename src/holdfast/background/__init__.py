"""What is done when nobody waits for it: idle work, and the promises of the outbox.

It knows when and in which order; what the work is comes from above and below.
"""
