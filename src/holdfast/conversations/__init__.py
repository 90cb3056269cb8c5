"""Which conversation a request belongs to, and what of it is kept.

`locate` says where a request belongs, `read_hints` collects what it says about itself, `Recorder` keeps the
answer. It knows no model server and no wire format.
"""

from holdfast.conversations.alignment import Alignment, align
from holdfast.conversations.hints import Hints, read_hints
from holdfast.conversations.identity import locate, locate_at_end, locate_in_memory
from holdfast.conversations.likeness import anchor
from holdfast.conversations.placement import Placement
from holdfast.conversations.recorder import Recorder
from holdfast.conversations.side import classify_side_request
from holdfast.conversations.standing import RecentConversation, RecentConversationCache
from holdfast.conversations.summaries import SideRequestCache

__all__ = [
    "Alignment",
    "Hints",
    "Placement",
    "RecentConversation",
    "RecentConversationCache",
    "Recorder",
    "SideRequestCache",
    "align",
    "anchor",
    "classify_side_request",
    "locate",
    "locate_at_end",
    "locate_in_memory",
    "read_hints",
]
