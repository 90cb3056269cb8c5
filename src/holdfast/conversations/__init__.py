"""Which conversation a request belongs to, and what of it is kept.

`locate` says where a request belongs, `hints_from` collects what it says about itself, `Recorder` keeps the
answer. It knows no model server and no wire format.
"""

from holdfast.conversations.alignment import Alignment, align
from holdfast.conversations.hints import Hints, hints_from
from holdfast.conversations.identity import at_hand, going_on, locate
from holdfast.conversations.likeness import anchor
from holdfast.conversations.placement import Placement
from holdfast.conversations.recorder import Recorder
from holdfast.conversations.side import side_of
from holdfast.conversations.standing import Standing, Standings
from holdfast.conversations.summaries import Asides

__all__ = [
    "Alignment",
    "Asides",
    "Hints",
    "Placement",
    "Recorder",
    "Standing",
    "Standings",
    "align",
    "anchor",
    "at_hand",
    "going_on",
    "hints_from",
    "locate",
    "side_of",
]
