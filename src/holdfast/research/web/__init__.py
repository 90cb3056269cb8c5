"""Web sources: found by a search or named by the user, fetched safely, reduced to their text.

Start with `gather_sources`. `Fetcher` applies limits and robots.txt; `AddressGuard` decides which networks
may be reached.
"""

from holdfast.research.web.fetch import AddressGuard, DownloadLimits, Fetcher
from holdfast.research.web.gather import ReadLocal, gather_sources

__all__ = ["AddressGuard", "DownloadLimits", "Fetcher", "ReadLocal", "gather_sources"]
