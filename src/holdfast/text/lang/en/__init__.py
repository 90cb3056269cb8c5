"""English. Data only; every name exists in every language."""

from holdfast.text.lang.en.cues import CUES as CUES
from holdfast.text.lang.en.headings import *  # noqa: F403
from holdfast.text.lang.en.phrases import *  # noqa: F403
from holdfast.text.lang.en.words import *  # noqa: F403
