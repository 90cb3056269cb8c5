"""Documents that are no plain text, each read into text: PDF, Word, pages of the web."""
