"""What a text says about itself: language, kind of sentence, what a question asks for.

Works on strings alone; it knows no message, no store and no index.
"""
