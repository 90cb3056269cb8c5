"""Language data, what a sentence of a person states, and what of. Knows no windows and no memories."""
