"""Files that a message references with `@`: found in the text, read safely, attached whole or as a digest.

Start with `attach`. `references` parses the message, `roots` is the only way to the disk, `documents` turns
bytes into text, `folders` handles folders and patterns, `digests` shortens. No module here depends on
conversations or windows.
"""
