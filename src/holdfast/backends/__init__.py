"""Optional backends: vector databases, hosted embedders, batch jobs, QMD and bucket storage.

Some need an extra (`pip install 'holdfast[qdrant]'`). A default install runs without any of them: the core
loads a backend by its name from the table in `holdfast.extras`, and imports nothing of this package.
"""
