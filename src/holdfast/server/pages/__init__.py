"""The pages: templates, styles and scripts, and the few routes that only a browser needs.

Begin with `site`. What the pages show and do goes through the same REST routes that programs use.
"""
