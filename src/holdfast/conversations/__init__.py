"""Which conversation a request belongs to, and what of it is kept.

`locate` says where a request belongs, `read_hints` collects what it says about itself, `Recorder` keeps the
answer. It knows no model server and no wire format.
"""

from holdfast.conversations.alignment import Alignment, align, anchor
from holdfast.conversations.hints import Hints, read_hints
from holdfast.conversations.identity import Placement, locate, locate_at_end, locate_in_memory
from holdfast.conversations.recent import RecentConversation, RecentConversationCache
from holdfast.conversations.recorder import Recorder
from holdfast.conversations.side_requests import SideRequestCache, classify_side_request

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
