"""What can go wrong with a vocabulary. Whoever catches it counts by estimate and says why."""

from holdfast.errors import HoldfastError


class VocabularyError(HoldfastError):
    """A vocabulary that is broken, incomplete, or of a kind whose rules we do not know for certain."""
