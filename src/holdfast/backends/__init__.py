"""Optional backends behind extras of the package: object storage, vector databases, hosted embedders.

The core imports none of them. It loads one by its name when a setting asks for it, and reports a missing
library with the extra that installs it.
"""
