"""Finds the conversation a request belongs to, and records the answer.

`locate` places a request, `read_hints` collects what its headers and metadata say, `Recorder` stores the
answer. The package depends on no model server and no wire format.
"""

from holdfast.conversations.alignment import Alignment, align, anchor
from holdfast.conversations.hints import Hints, read_hints
from holdfast.conversations.identity import Placement, locate, locate_at_end, locate_in_cache
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
    "locate_in_cache",
    "read_hints",
]
