"""What a text says: language, sentences, statements, questions, slots and excerpts; words of each language
in `lang`.

Works on strings alone; it knows no message, no store and no index.
"""
