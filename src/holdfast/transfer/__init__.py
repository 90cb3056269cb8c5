"""What comes in from elsewhere and what goes out whole: imports, backups, and all that one user has.

Knows the store and the notes. It knows no model, no window and no door.
"""
