"""Sources from the web: found by a search or named, fetched safely, reduced to their text.

`gather` is the way in; `Fetcher` has the limits and manners, `Guard` says which networks may be reached.
"""

from holdfast.research.web.addresses import Guard
from holdfast.research.web.downloading import Limits
from holdfast.research.web.fetching import Fetcher
from holdfast.research.web.gathering import ReadLocal, gather

__all__ = ["Fetcher", "Guard", "Limits", "ReadLocal", "gather"]
