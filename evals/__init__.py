"""Measurements of what Holdfast promises, each a module to run: `python -m evals.NAME`.

They use the product as it is. Their data lives outside the project and may be absent.
"""
