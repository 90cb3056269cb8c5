"""A model that helps, as it is handed to those who ask it."""

from holdfast.compaction.summariser import SummaryModel
from holdfast.tokens.budget import budget_for


def helper_of(server, window=4_096, **more):
    return SummaryModel(server, "small", budget_for(window), **more)
