"""Privacy: what must not be remembered, and which model servers may see memories.

Text a person marked private is dropped, secrets are recognised by their shape, in German and English. The log
keeps everything; whatever else is stored goes through `redact` first. Hashes, UUIDs and order numbers are no
secrets: people want to keep them. Account numbers (IBANs) are none either, but they are kept only on
request.

Memories go to servers on this machine and in private networks, to others only if the user allows it. The
address alone decides: no name is resolved, since that would ask a third party.
"""

import ipaddress
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from holdfast.errors import BadRequest, ConfigError
from holdfast.i18n import lazy
from holdfast.text.lang import LOWER, UPPER, any_phrase, any_word, word_set

MARK = "[secret]"


_TAG = re.compile(r"<\s{0,3}(/?)\s{0,3}private\b[^<>\n]{0,100}>", re.IGNORECASE)
_QUOTED = re.compile(f"`{_TAG.pattern}`", re.IGNORECASE)

# Keys that say what they are by their first characters.
_KEYS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?=[\w-]{0,200}\d)[\w-]{20,}|[rs]k_(?:live|test)_\w{10,}|gh[opsur]_\w{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|xox[a-z]-(?=[\w-]{0,200}\d)[\w-]{10,}|xapp-[\w-]{10,}|A[KS]IA[A-Z0-9]{16}\b"
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}|hf_(?:[0-9a-z]{8}_)?[\w-]{20,}|gsk_\w{20,}|npm_\w{30,}"
    r"|pypi-[\w-]{30,}|nvapi-[\w-]{20,}|hvs\.[\w-]{20,}|dop_v1_\w{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|AGE-SECRET-KEY-1\w{40,}|\d{8,10}:AA[\w-]{33}"
    r"|eyJ(?=[\w-]{8})(?:[^\W_]++|[_-](?!eyJ))++(?:\.[\w-]{6,}){1,4}"  # JWT: its first part is JSON in base64
    r")"
)
_PEM = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:(-----END [A-Z0-9 ]{0,60}-----)|\Z)",
    re.DOTALL,
)
_IN_HEADER = re.compile(
    r"(\b(?:bearer|authorization:\s{0,3}(?:basic|token))\s{1,3})(?=[\w.~+/=-]{0,500}\d)[\w.~+/-]{12,}=*",
    re.IGNORECASE,
)
_IN_URL = re.compile(r"(?<=://)([^\s/:@]{0,100}:)(?![\[$<{])[^\s/]{1,200}@")

# --- "the password for the router is …" ---------------------------------------------------------------------

_STEP = r"[\"'`*_]{0,3}"
# The thing it opens: "for the router", "vom WLAN".
_FOR = (
    rf"(?:\s{any_word('KEY_PREPOSITIONS')}\b(?:\s(?!is\b|ist\b|lautet\b)"
    r"[\w.@-]{1,40}){1,5})?"
)
_SAYS = (
    rf"{_STEP}\s{{0,3}}(?::=|=>|[:=]|\b{any_word('KEY_VERBS')}\b"
    rf"(?:\s{any_word('KEY_ADVERBS')}\b)?:?){_STEP}\s{{0,3}}"
)
_CALLED = any_phrase("KEY_NAMES")
_TOLD = re.compile(
    rf"((?:{_CALLED}{_FOR}{_SAYS}|--password[ =]|--token[ =]))"
    r"(\"[^\"\n]{1,100}\"|'[^'\n]{1,100}'|[^\s\"']{1,200})",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"(\b{_CALLED}\s)"
    r"((?=\S{0,60}\d)(?=\S{0,60}[A-Za-z])[^\s\"'(){}\[\]]{8,60}|[\"'„][^\"'“\n]{4,60}[\"'“])",
    re.IGNORECASE,
)
_PIN = re.compile(
    rf"(\b(?:PIN|PUK|CV[VC])(?:-?(?:code|nummer|number))?{_FOR}(?:{_SAYS}|\s))"
    r"(?:\d{4,8}|(?<=CV[VC]\s)\d{3})\b(?![.,]\d)",
    re.IGNORECASE,
)
_KEYED = re.compile(
    rf"((?<![A-Za-z])(?:{any_phrase('KEYED_PREFIXES')}[ _-]?(?:access[ _-]?)?{any_phrase('KEYED_NAMES')}"
    rf"|{any_phrase('KEYED_ALONE')})"
    rf"{_FOR}{_SAYS})"
    r"(?=[^\s]{0,200}\d)(?=[^\s]{0,200}[A-Za-z])[\"']?([\w+/.=~-]{10,200})[\"']?",
    re.IGNORECASE,
)
# A value with one of these was chosen by somebody; a plain word after "password:" may be a description.
_CHOSEN = re.compile(rf"[\d!@#%^&*+=?_~§]|^[\"']|[{LOWER}][{UPPER}]")
# The name of a place where the secret stands, or a gap where one would go.
_REFERENCE = re.compile(
    r"[\"']?(?:[\[$<{%]|\*{2,}|x{3,}|\.{2,}|…|None\b|null\b|true\b|false\b|str\b|string\b"
    r"|(?:os|process|self|settings|config|env|request|args|data|form|user)[.\[]|[\w.]{1,60}\(|[\w.]{0,60}passwor[dt]\b)",
    re.IGNORECASE,
)
_DESCRIPTIONS = word_set("VALUE_DESCRIPTIONS")
_STANDS_ALONE = re.compile(r"(?<=\S)[.,;!)\"'`*_]{0,3}(?:\s*$|\s*\n|[,;]\s|\.\s|\s(?:and|und|but|aber)\b)")

# --- Cards --------------------------------------------------------------------------------------------------

# The end of an IBAN looks like a card; what follows a country and its check digits is left alone.
_DIGITS = re.compile(r"(?<![\w.,/#-])(?<![A-Z]{2}\d\d\s)\d(?:[ -]?\d){14,15}(?![\w-]|[ ]\d|[.,]\d)")
_ISSUERS = re.compile(r"4\d{15}|(?:5[1-5]|2[2-7]|6[05]|35)\d{14}|3[47]\d{13}")

_IBAN = re.compile(r"\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")


def redact(text: str) -> str:
    """Return the text without parts marked `<private>` and with a mark in place of each secret."""
    public, _ = drop_marked(text)
    return mask_secrets(public)


def redact_file(text: str) -> str:
    """Redact a whole file that a person wrote; BadRequest if an open mark would swallow the rest of it.

    A tag in backticks is text, not a mark.
    """
    quoted = {tag.start() + 1 for tag in _QUOTED.finditer(text)}
    public, is_open = drop_marked(text, quoted)
    if is_open or any(not key[1] for key in _PEM.finditer(public)):
        raise BadRequest(
            lazy("A private part or key begins in this text and has no end."),
            hint=lazy(
                "Close it, as in <private>…</private>, or put the tag into backticks; nothing was written."
            ),
        )
    return mask_secrets(public)


def mask_secrets(text: str) -> str:
    lowered = text.casefold()
    for hints, pattern, replacement in _SECRETS:
        # Most texts have none of the words, and looking for a word is much quicker than for a pattern.
        for hint in hints:
            if hint in lowered:
                text = pattern.sub(replacement, text)
                break
    return _DIGITS.sub(_mask_if_card, text)


def drop_marked(text: str, quoted: Container[int] = ()) -> tuple[str, bool]:
    """Return everything outside of the tags, except `quoted` ones, and whether a tag was never closed."""
    parts: list[str] = []
    depth = end = 0
    for tag in _TAG.finditer(text):
        if tag.start() in quoted:
            continue
        if not depth:
            parts.append(text[end : tag.start()])
        depth = max(0, depth - 1) if tag[1] else depth + 1
        end = tag.end()
    return "".join([*parts, text[end:] if not depth else ""]), depth > 0


def _mask_unless_reference(match: re.Match[str]) -> str:
    return match[0] if _REFERENCE.match(match[2]) else match[1] + MARK


def _mask_unless_description(match: re.Match[str]) -> str:
    value = match[2]
    if _REFERENCE.match(value):
        return match[0]
    word = value.rstrip(".,;!)")
    if not _CHOSEN.search(word):
        alone = _STANDS_ALONE.match(match.string, match.start(2) + len(word))
        if not alone or word.casefold() in _DESCRIPTIONS:
            return match[0]
    return match[1] + MARK + value[len(word) :]


def _mask_if_card(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match[0])
    return MARK if _ISSUERS.fullmatch(digits) and has_valid_check_digit(digits) else match[0]


def has_account_number(text: str) -> bool:
    """Tell whether it names a bank account or a payment card: both have digits that check the others."""
    cards = (re.sub(r"\D", "", match[0]) for match in _DIGITS.finditer(text))
    return any(_is_iban(match[0]) for match in _IBAN.finditer(text)) or any(
        _ISSUERS.fullmatch(digits) and has_valid_check_digit(digits) for digits in cards
    )


def _is_iban(text: str) -> bool:
    compact = text.replace(" ", "")
    return int("".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])) % 97 == 1


def has_valid_check_digit(digits: str) -> bool:
    """Check the Luhn digit of a payment card: every second digit counts twice."""
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(value - 9 * (value > 9) for value in doubled)) % 10 == 0


_Replacement = str | Callable[[re.Match[str]], str]
_SECRETS: tuple[tuple[tuple[str, ...], re.Pattern[str], _Replacement], ...] = (
    (("private key",), _PEM, MARK),
    (("",), _KEYS, MARK),
    (("bearer", "authorization"), _IN_HEADER, rf"\1{MARK}"),
    (("://",), _IN_URL, rf"\1{MARK}@"),
    (tuple(sorted(word_set("KEYED_HINTS"))), _KEYED, _mask_unless_reference),
    (("pass", "kennwort", "zugangscode", "pwd", "losung", "--token"), _TOLD, _mask_unless_description),
    (("pass", "kennwort", "zugangscode", "pwd", "losung"), _BARE, rf"\1{MARK}"),
    (("pin", "puk", "cvv", "cvc"), _PIN, rf"\1{MARK}"),
)


# Names that never leave a local network.
_LOCAL_ENDINGS = (".local", ".lan", ".home.arpa", ".internal", ".localhost")


# A host, and a port where one is named.
_Address = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class MemoryGate:
    """Decides which servers may see memories.

    `rules` are the user's decisions by host and port; a host without a port stands for all its ports.
    """

    rules: Mapping[_Address, bool] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "MemoryGate":
        """Parse the setting: `https://api.example.com=on, 192.168.1.5:11434=off`."""
        rules: dict[_Address, bool] = {}
        for entry in filter(None, (part.strip() for part in text.split(","))):
            address, _, word = entry.rpartition("=")
            place = parse_address(address if "//" in address else f"//{address}")
            if word.strip() not in ("on", "off") or place is None:
                raise ConfigError(
                    lazy("'{entry}' does not say to which server memories may be sent.", entry=entry),
                    hint=lazy("Write address=on or address=off, like https://api.example.com=on."),
                )
            rules[place] = word.strip() == "on"
        return cls(rules)

    def allows(self, location: str) -> bool:
        """Tell whether memories may go to this location. A location without an address is in this process."""
        if "//" not in location:
            return True
        place = parse_address(location)
        if place is None:
            return False
        host, _ = place
        return self.rules.get(place, self.rules.get((host, None), is_local_host(host)))


def parse_address(address: str) -> _Address | None:
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname else None


def is_local_host(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # A name of one word is found on the local network only.
        return "." not in host or host.endswith(_LOCAL_ENDINGS)
    return address.is_loopback or address.is_private or address.is_link_local
