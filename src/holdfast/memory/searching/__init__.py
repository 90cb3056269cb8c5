"""Finding notes by their words and their meaning: the index that follows the files, and the search in it."""
