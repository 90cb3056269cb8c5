"""QMD as the search over notes: a command of its own that is asked in a process, with ours in its place.

`searcher` is where a question comes in; `keeper` keeps QMD's home up with the notes. The notes stay the
truth: QMD tells where something is, and what it says is read from the file.
"""
