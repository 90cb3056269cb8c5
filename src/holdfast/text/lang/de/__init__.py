"""German. Data only; every name exists in every language."""

from holdfast.text.lang.de.cues import CUES as CUES
from holdfast.text.lang.de.headings import *  # noqa: F403
from holdfast.text.lang.de.phrases import *  # noqa: F403
from holdfast.text.lang.de.words import *  # noqa: F403
