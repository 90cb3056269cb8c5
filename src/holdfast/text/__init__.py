"""What a person's words are: language data, and what a sentence of theirs states. Knows no windows, no memories."""
