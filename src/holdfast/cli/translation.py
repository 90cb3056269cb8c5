"""Translation of English sentences that come as plain text: those of Typer, and those read from the database.

Each is recognised by a pattern whose named groups fill the placeholders of a message. Our own errors need
none: their sentences are lazy.
"""

import re
from functools import partial

from holdfast.i18n import current_language, lazy, translate
from holdfast.i18n import gettext as _

# Sentences of Typer. Several may stand in one text.
_TYPER = (
    (r"^Error: ", lazy("Error: ")),
    (r"Try '(?P<command>.*)' for help\.", lazy("Try '{command}' for help.")),
    (r"No such command '(?P<name>.*?)'\.", lazy("No such command '{name}'.")),
    (r"No such option: (?P<option>\S+)", lazy("No such option: {option}")),
    (r"Did you mean (?:one of: )?(?P<names>.+?)\?", lazy("Did you mean {names}?")),
    (r"\(Possible options: (?P<names>.+?)\)", lazy("(Possible options: {names})")),
    (r"Missing (?:argument|option|parameter) (?P<name>'.*?')\.", lazy("Missing argument {name}.")),
    (
        r"Got unexpected extra argument(?:\(s\)|s)? \((?P<arguments>.*)\)",
        lazy("Got unexpected extra arguments ({arguments})"),
    ),
    (r"Option (?P<option>'.*?') requires an argument\.", lazy("Option {option} requires an argument.")),
    (r"Option (?P<option>'.*?') does not take a value\.", lazy("Option {option} does not take a value.")),
    (r"Invalid value for (?P<name>.+?): ", lazy("Invalid value for {name}: ")),
    (r"Input should be a valid integer.*", lazy("Input should be a valid integer")),
    (r"Input should be a valid number.*", lazy("Input should be a valid number")),
    (
        r"Input should be less than or equal to (?P<most>\S+)",
        lazy("Input should be less than or equal to {most}"),
    ),
    (
        r"Input should be greater than or equal to (?P<least>\S+)",
        lazy("Input should be greater than or equal to {least}"),
    ),
    (
        r"(?:Value error, )?(?P<value>'[^']*') is not one of (?P<choices>.+)\.",
        lazy("{value} is not one of {choices}."),
    ),
    (r"^Aborted!$", lazy("Aborted!")),
)
_BUT_TRAINED = ", but trained for no more"


def translate_usage(text: str) -> str:
    """Translate the sentences of Typer in a text; what is not known stays as it is."""
    if current_language() != "en":
        for pattern, message in _TYPER:
            text = re.sub(pattern, partial(_fill, translate(message)), text, flags=re.MULTILINE)
    return text


def _fill(form: str, match: re.Match[str]) -> str:
    return form.format(**match.groupdict())


def translate_source(source: str) -> str:
    """Translate where a model's window comes from; it may have been stored as plain text."""
    if source.endswith(_BUT_TRAINED):
        known = translate_source(source.removesuffix(_BUT_TRAINED))
        return _("{source}, but trained for no more").format(source=known)
    if family := re.fullmatch(r"known of (\S+)", source):
        return _("known of {family}").format(family=family[1])
    if size := re.fullmatch(r"usual for (\S+) parameters", source):
        return _("usual for {parameter_size} parameters").format(parameter_size=size[1])
    return translate(source)
