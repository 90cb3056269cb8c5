"""One request made to fit: its lane is loaded, a window made of it, and what was decided is kept.

Between the store and the pure `window`: it knows both, and decides nothing about what stays or goes.
"""

from holdfast.context.fitter import Fitter, OutgoingRequest
from holdfast.context.loading import RecordedQuestion

__all__ = ["Fitter", "OutgoingRequest", "RecordedQuestion"]
