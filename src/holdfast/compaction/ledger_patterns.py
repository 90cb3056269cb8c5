"""Finds what can be recognised by its shape alone: files, addresses, ids, versions, amounts, dates.

German and English. The rows of `TABLE` are applied from top to bottom, sentence by sentence; what one row
matches is hidden from the next. Every pattern is bounded, so time grows linearly with the text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from holdfast.text.lang import LOWER, UPPER, any_phrase, words_of
from holdfast.text.patterns import late

EntryKind = Literal[
    "file", "command", "url", "id", "version", "amount", "date", "error", "failure", "decision"
]


@dataclass(frozen=True, slots=True)
class LedgerKind:
    """A kind of entry: its headings in English and German, how much it matters, and how many are read.

    `limits` are the most mentions per message: in the user's words, in an answer, in program output. Entries
    of `own_line` are whole sentences, each on a line of its own.
    """

    headings: tuple[str, str]
    weight: float = 1.0
    limits: tuple[int, int, int] = (0, 0, 0)
    own_line: bool = False


# In the order in which a ledger shows them. Failures and decisions say where things stand.
KINDS: Mapping[EntryKind, LedgerKind] = {
    "decision": LedgerKind(("Decided", "Entschieden"), 4.0, (6, 0, 0), own_line=True),
    "failure": LedgerKind(("Still failing", "Noch fehlgeschlagen"), 3.0, own_line=True),
    "error": LedgerKind(("Errors", "Fehler"), 1.5, (6, 4, 3), own_line=True),
    "file": LedgerKind(("Files", "Dateien"), 1.2, (40, 20, 12)),
    "command": LedgerKind(("Commands", "Befehle"), 1.0, (20, 10, 4)),
    "id": LedgerKind(("Names", "Namen"), 1.2, (40, 20, 12)),
    "amount": LedgerKind(("Amounts", "Mengen"), 1.0, (40, 15, 8)),
    "date": LedgerKind(("Dates", "Termine"), 1.0, (30, 12, 6)),
    "version": LedgerKind(("Versions", "Versionen"), 0.9, (20, 10, 5)),
    "url": LedgerKind(("Links", "Links"), 1.0, (20, 10, 6)),
}


@dataclass(frozen=True, slots=True)
class LedgerMatch:
    kind: EntryKind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LedgerPattern:
    """A pattern and the kind of its matches; the group `it`, if there is one, is the match."""

    kind: EntryKind
    # Texts without these signs are skipped; 0 stands for any digit. Most sentences have few of them.
    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    # Only meaningful outside of code.
    prose: bool

    def find(self, text: str) -> Iterator[LedgerMatch]:
        group = self.pattern.groupindex.get("it", 0)
        for match in self.pattern.finditer(text):
            text_found = match[group].rstrip(_TRAILING)
            if text_found and (self.unless is None or not self.unless.fullmatch(text_found)):
                yield LedgerMatch(
                    self.kind, text_found, match.start(group), match.start(group) + len(text_found)
                )


def _row(kind: EntryKind, needs: str, *pattern: str, unless: str = "", prose: bool = False) -> LedgerPattern:
    exception = late(unless, re.IGNORECASE) if unless else None
    return LedgerPattern(kind, tuple(needs.split()), late("".join(pattern)), exception, prose)


def _any_of(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_TRAILING = ".,;:!?*…"

# --- files and addresses ------------------------------------------------------------------------------------

_ENDINGS = _any_of(
    """
    py pyi ipynb js mjs cjs jsx ts tsx json jsonl ya?ml toml md mdx rst txt csv tsv sql sh bash zsh ps1 bat
    cmd html? s?css less java kts? go rs cc? cpp h hpp cs rb php swift xml xsd ini cfg conf env lock log pdf
    docx? xlsx? pptx? odt ods png jpe?g gif svg webp ico zip tar gz tgz bz2 xz 7z whl deb rpm exe dll so
    dylib db sqlite3? parquet gguf proto graphql vue svelte tf tfvars lua dart gradle properties pem crt key
    p12 mp[34] wav flac ogg mov plist patch diff bak tmp jar eml ics tex bib dockerfile service timer
    """
)
_PAPERS = _any_of("pdf docx? xlsx? pptx? odt ods txt md csv png jpe?g zip eml ics")
_NAME = r"[\w@+-][\w.@+-]{0,80}"
_DIRECTORY = _any_of(
    "src tests? docs? lib libs app apps bin etc var usr opt home tmp packages pkg cmd internal scripts "
    "config configs data public static templates migrations components pages assets deploy infra tools evals"
)
_NOT_A_FILE = (
    r"[a-z]\.[a-z]|(?:\w+\.)?(?:node|next|vue|react|express|nuxt|three|d3|chart|angular|ember|backbone"
    r"|alpine|p5|moment|socket)"
    r"\.js|asp\.net|(?:console|math|np|numpy|torch|process|self|this|window|logger|logging|event|e|props"
    r"|state|req"
    r"|res|item|obj|data|config|settings|import\.meta|os|app|api|db|options|params|ctx|context|user|kwargs"
    r"|args)"
    r"\.(?:log|env|key|db|so|cc?|h|go|data|conf|lock|json|py|js|ts|md)"
)
_TLD = _any_of(
    "com org net io dev de at ch eu uk fr info biz ai app cloud edu gov local internal lan example test"
)

# --- numbers ------------------------------------------------------------------------------------------------

_NUMBER = r"(?:\d{1,3}(?:[.,'’\u202f\u00a0]\d{3}){1,5}(?:[.,]\d{1,4})?|\d{1,12}(?:[.,]\d{1,6})?)"
_TIMES = r"(?:\s?(?:Mio\.?|Mrd\.?|Tsd\.?|Millionen|Milliarden|[mb]illion|thousand|k|K|M|bn)(?!\w))?"
_MONEY = r"(?:€|\$|£|¥|(?:EUR|Euro|USD|CHF|GBP|JPY|[Dd]ollars?|Franken|Cents?)\b)"
# Units end at a word boundary: "5 s" is an amount, "5 sheep" is not.
_UNITS = (
    "(?:%|°[CFK]?|"
    + _any_of(
        words_of("UNIT_FORMS")
        + r"""
    ms [µμ]s ns s h [KkMGTP]i?B(?:/s)? [KMGT]i?bit(?:/s)? [KMG]bps [Bb]ytes? [Tt]okens? px r?em pt dpi
    [µmcdk]?m[²³]? qm km/h mph [µmk]?g [mcdh]?l L [mkMG]?V m?A m?Ah [mkMG]?W [kMG]?Wh [kMGT]?Hz k?Nm k?N
    m?bar psi [khM]?Pa rpm U/min kcal kJ dB ppm fps req/s rps qps k?Ω vCPUs?
    """
    )
    + r"(?![\w-]))"
)
_MONTH = _any_of(words_of("MONTH_FORMS"))
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,6})?"
_PRODUCTS = _any_of(
    """
    Python Node(?:\\.?js)? PostgreSQL Postgres MySQL MariaDB Redis Java JDK Ubuntu Debian Fedora Windows
    macOS iOS Android PHP Ruby Rails Django Angular React Vue Svelte Next\\.js Go Rust TypeScript Kotlin
    Swift Xcode Kafka Elasticsearch MongoDB Kubernetes Docker Terraform CUDA GCC Clang Spring(?:\\s?Boot)?
    Laravel Symfony Qt Unity Chrome Firefox Safari Tailwind Bootstrap Webpack Vite NumPy pandas PyTorch
    TensorFlow SQLAlchemy FastAPI Flask Pydantic Airflow Spark Oracle SAP Office Excel HTTP TLS OAuth USB
    Wi-?Fi Bluetooth ES
    """
)
_SUFFIX = r"(?:(?:[-+][\w.]{1,20}){1,3}|(?:a|b|rc)\d{1,3})"
_NO_PRODUCT = (
    r"(?:Table|Tabelle|Section|Abschnitt|Chapter|Kapitel|Figure|Abbildung|Abb|Step|Schritt|Part|Teil|Page"
    r"|Seite|Day"
    r"|Tag|Week|Woche|Level|The|A|An|Der|Die|Das|And|Und|In|At|By|For|With|From|About|Around|Over|Score"
    r"|Rating"
    r"|GPA|It|Is|To|Of|On|Or|Etwa|Ca|Rund|Mit|Von|Bis|Auf|Um|Item|Phase|Question|Task|Exercise|Problem"
    r"|Example)"
    r"\s.*"
)

# --- names --------------------------------------------------------------------------------------------------

_NO_NAME = (
    r"(?:utf|sha|md|iso|rfc|covid|http|ipv|mp|h|aes|rsa|ecma|us|top|mid|pre|post|a|b|type|grade|level|f|page"
    r"|week|day|step|ps|es|cd|ds|base|int|uint|float|x|win|arm|amd|log|utc|gmt|part|pg|vol|col|row|p|s|q|t|u|w"
    r"|non|age|under|over|form|section|(?:col|m[btlrxy]|p[btlrxy]|m|gap|fs|text|bg|btn|g)(?:-[a-z]{2})?)"
    r"[-_]?\d{1,4}(?:-(?:bit|based|year|old|day|week|minute|hour|\d))?|(?:top|mid|late|early|all|one|two)-.*"
)
_NO_ID = _NO_NAME + r"|\d{1,4}[-a-z]{0,6}|(?:19|20)\d\d|[a-f]{6,}"
_LABEL = (
    rf"(?:{any_phrase('NUMBER_LABELS')}"
    r"|\b(?:[Pp]ort|PORT|PIN|pin|[Pp]id|PID|PLZ|ZIP|zip|ID|[Ii]d|[Nn]r|[Nn]o|[Tt]icket|[Ii]ssue|PR|Zimmer"
    r"|[Rr]oom"
    r"|Raum|[Gg]ate|[Oo]rder|Bestellung|Rechnung|[Ii]nvoice|Vertrag|[Cc]ontract|Konto|[Aa]ccount|Regal"
    r"|Halle|Fach"
    r"|Akte|[Cc]ase|[Bb]atch|Charge|[Bb]uild|[Jj]ob|[Rr]un|[Rr]evision))\b"
    r"[\"'`]?(?:\s(?:[Nn]r|[Nn]o|[Nn]umber|Nummer|ist|is|lautet)\b)?\.?\s{0,2}[:=#]?\s{0,2}[\"'`]?"
)

TABLE = (
    # Addresses
    _row(
        "url", "://",
        r"(?<!\w)(?:https?|ftp|sftp|ssh|wss?|postgres(?:ql)?|mysql|redis|mongodb|amqp|s3|git|file|sqlite)",
        r"(?:\+\w{1,12})?://[^\s<>\"'`|\\)\]}\x00]{2,300}",
    ),
    _row("url", "git@", r"(?<![\w@])git@[\w.-]{1,60}:[\w./-]{1,100}"),
    _row("id", "@ .", r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,4}[A-Za-z]{2,20}(?!\w)"),
    _row("id", "0 -", r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])"),
    _row("id", "0", r"(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?(?!\w)"),
    _row(
        "id", "0 :",
        r"(?<![\w./-])(?:localhost|(?=[\w.]{0,40}-|[\w-]{1,40}\."
        r"|\w{1,30}:\d{4})[a-z][\w.-]{1,60}):\d{2,5}(?![\w/]|[:.]\w)",
        unless=rf"(?:line|zeile|col|note|port|id|page|timeout|size|width|height|year|jahr)\W.*|.*\.{_ENDINGS}:\d+",
    ),
    _row(
        "url", ".",
        rf"(?<![\w.@/-])(?:[a-z0-9][a-z0-9-]{{0,40}}\.){{1,4}}{_TLD}(?::\d{{2,5}})?",
        r"(?:/[\w./?&=%#~+-]{0,200}(?::[\w.-]{1,30})?|(?![\w.]\w|[\w(]))",
        unless=r"(?:self|this|e|console)\..*",
    ),
    # Files: names in quotes may have spaces, paths any ending, bare names only known ones.
    _row(
        "file", ".",
        rf"[\"„“'](?P<it>[{UPPER}0-9][\w()&+-]{{0,30}}(?: [\w()&+.-]{{1,30}}){{1,6}}\.{_PAPERS})[\"“”']",
    ),
    _row("file", ":\\", r"(?<![\w\\])[A-Za-z]:\\(?:[\w .()@+-]{1,60}\\){0,12}[\w.()@+-]{1,60}"),
    _row("file", "/", rf"(?<![\w</.:$}}~-])(?:~|\.{{1,2}})?/(?:{_NAME}/){{1,14}}(?:{_NAME})?(?::\d{{1,6}})?"),
    _row("file", "/", rf"(?<![\w</.:$}}~-])(?:~/|\.\.?/|/(?=(?:etc|tmp|var|opt|home|usr|srv|mnt)\b)){_NAME}"),
    _row(
        "file", "/",
        r"(?<![\w<./:$}-])(?:[\w@+-][\w.@+-]{0,60}/){1,14}",
        rf"(?:[\w.@+-]{{0,80}}\.{_ENDINGS}(?![\w(])|(?:Makefile|Dockerfile|LICENSE|README))(?::\d{{1,6}})?",
    ),
    _row("file", "/", rf"(?<![\w<./:$}}-]){_DIRECTORY}/(?:{_NAME}/){{0,12}}(?:{_NAME})?"),
    _row(
        "file", ".",
        rf"(?<![\w./:$@-])(?:[\w+-][\w.+-]{{0,60}}\.{_ENDINGS}(?![\w(/-]|\.\w)",
        r"|\.(?:env|gitignore|dockerignore|bashrc|zshrc|npmrc|editorconfig"
        r"|gitlab-ci\.yml)(?:\.\w{1,12})?(?!\w))",
        r"(?::\d{1,6}(?!\d))?",
        unless=_NOT_A_FILE,
    ),
    _row("file", "file", r"(?<![\w./-])(?:Make|Docker|Caddy|Vagrant|Jenkins|Proc|Pip)file\b"),
    # Machines
    _row("id", "0 :", r"(?<![\w:])[0-9a-fA-F]{1,4}(?::{1,2}[0-9a-fA-F]{1,4}){4,7}(?![\w:])"),
    _row("id", "0 .", r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5}|/\d\d?)?(?![\w.]\d)"),
    # Dates and times
    _row("date", "0", rf"(?<![\w.-])\d{{4}}[-/]\d\d[-/]\d\d(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])"),
    _row(
        "date", "0 .",
        r"(?<![\w.])(?:[0-2]?\d|3[01])\.(?:0?\d|1[0-2])\.(?:(?:19|20)\d\d|(?<=\d\d\.\d\d\.)(?:\d\d|(?!\d)))",
        rf"(?:,? (?:um )?{_CLOCK}(?: Uhr)?)?(?![\w.]\d|\d)",
    ),
    _row("date", "0 /", r"(?<![\w./])\d{1,2}/\d{1,2}/\d{2}(?:\d\d)?(?![\w/])"),
    _row(
        "date", "0",
        rf"(?<!\w)\d{{1,2}}(?:\.|st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?!\w)(?:,?\s(?:19|20)\d\d)?",
        rf"(?:,? (?:um |at )?{_CLOCK}(?: Uhr)?)?",
    ),
    _row(
        "date", "0",
        rf"(?<!\w){_MONTH}\s(?:\d{{1,2}}(?:st|nd|rd|th)?(?![\w.]\d|\d)(?:,?\s(?:19|20)\d\d)?|(?:19"
        rf"|20)\d\d)(?!\w)",
    ),
    _row(
        "date", "0",
        r"(?<![\w:.])\d{1,2}(?::\d\d(?::\d\d)?)?",
        r"(?:\s?Uhr(?:\s\d\d)?|\s?(?:[ap]\.m\.|[ap]m|[AP]M)(?: [A-Z]{2,4})?)(?!\w)",
    ),
    _row(
        "date", "0 :",
        r"(?<!\w)(?i:um|ab|bis|gegen|vor|nach|at|from|until|till|by|before|after|to|and|und|–|-)\s",
        r"(?P<it>\d{1,2}:\d\d)(?![\w:])",
    ),
    _row("date", "0", r"(?<!\w)(?:KW\s?\d{1,2}(?:/\d{2,4})?|Q[1-4][ /](?:20)?\d\d)(?!\w)"),
    # Versions
    _row(
        "version", "0 =",
        r"(?<![\w@/-])[\w-]{2,40}(?:\[[\w,-]{1,40}\])?[=~><]=\d{1,5}(?:\.\d{1,6}){1,3}[\w.+-]{0,20}",
    ),
    _row(
        "version", "0 @",
        r"(?<![\w@/-])@?[\w-]{2,40}(?:/[\w-]{1,40})?@[\^v]?\d{1,5}(?:\.\d{1,6}){1,3}[\w.+-]{0,20}",
    ),
    _row(
        "version", "0",
        rf"(?<![\w.-]){_PRODUCTS}[\s/-](?:[Vv]ersion\s)?[vV]?\d{{1,4}}(?:\.\d{{1,5}}){{0,3}}{_SUFFIX}?",
        r"(?![\w:/]|\s?%|[.,]\d)",
        unless=r"http\s\d{3}",
    ),
    _row(
        "version", "0 .",
        rf"(?<!\w)(?:[A-Z][\w+#.-]{{1,30}}|[Vv]ersion)\s[vV]?\d{{1,4}}(?:\.\d{{1,5}}){{1,3}}{_SUFFIX}?",
        r"(?![\w%€$]|\s?[%€$£]|[.,]\d|\s[a-zA-Zµ°])",
        unless=_NO_PRODUCT,
    ),
    _row("version", "0 .", rf"(?<![\w.,-])[vV]\d{{1,4}}(?:\.\d{{1,5}}){{1,3}}{_SUFFIX}?(?!\w)"),
    _row("version", "0 .", rf"(?<![\w.,-])[\^~]?\d{{1,4}}\.\d{{1,4}}\.\d{{1,6}}{_SUFFIX}?(?![\w,]|\.\d)"),
    # Amounts
    _row(
        "amount", "0",
        rf"(?<![\w.,])[€$£¥]\s?{_NUMBER}{_TIMES}(?:\s?[-–]\s?[€$£¥]?\s?{_NUMBER}{_TIMES})?(?!\w)",
    ),
    _row(
        "amount", "0",
        rf"(?<![\w.,:#/-])(?:[-+±]\s?)?(?:{_NUMBER}\s?(?:[-–x×]|bis|to)\s?)?{_NUMBER}{_TIMES}[\s\u202f-]?",
        rf"(?:{_MONEY}|{_UNITS})",
    ),
    # Ids
    _row(
        "id", "0",
        r"(?<![\w.+-])(?:\+\d{1,3}|0)[\d ()/.-]{6,18}\d(?![\w-])",
        unless=r"[0.,]+|0\.\d+|0[ ,.].*",
    ),
    _row(
        "id", "0",
        rf"(?<![\w-])[{UPPER}][{UPPER}0-9]{{0,11}}(?:[-_][A-Z0-9]{{1,12}}){{0,4}}[-_]\d[\dA-Z]{{0,15}}",
        r"(?:[-/][A-Z0-9]{1,12}){0,3}(?![\w-])",
        unless=_NO_ID,
    ),
    _row(
        "id", "_",
        r"(?<![\w$.-])[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}(?!\w)",
        r"(?:=[\"']?[\w./:@+-]{1,60}[\"']?(?![\w(\[])|\s=\s(?:[\"'][^\"'\n\x00]{1,60}[\"']"
        r"|\d[\d_.]{0,12}(?!\w)))?",
    ),
    _row("id", "0", r"(?<![\w.#-])(?=[a-f]{0,12}\d)(?=\d{0,12}[a-f])[0-9a-f]{7,64}(?![\w-])"),
    _row(
        "id", "0 _",
        r"(?<![\w.-])(?=[A-Za-z_]{1,40}\d)[A-Za-z][A-Za-z0-9]{0,30}(?:_[A-Za-z0-9]{1,40}){1,5}(?![\w(])",
    ),
    _row(
        "id", "0",
        r"(?<![\w.#-])(?=[A-Z]{0,8}\d)(?=\d{0,8}[A-Z])[A-Z0-9]{4,14}(?![\w-])",
        unless=_NO_ID + r"|\d+(?:[KMGTB]|[KMG]B|[AP]M|PX|ST|ND|RD|TH|S|X|D|P)|[A-Z]{2,5}\d",
    ),
    _row(
        "id", "0",
        r"(?<![\w./@-])(?=[a-z-]{1,30}\d)[a-z][a-z0-9]{0,20}(?:[.-][a-z0-9]{1,24}){1,6}(?::[\w.-]{1,20})?",
        r"(?![\w(=]|-\w)",
        unless=_NO_ID,
    ),
    _row("id", "#", r"(?<![\w&#/])(?:[\w.-]{1,30}/[\w.-]{1,30})?#\d{2,7}(?![\w-])", prose=True),
    _row("id", "$", r"(?<!\w)\$[A-Z][A-Z0-9_]{2,40}(?!\w)"),
    # Places, flights, number plates, people, channels, branches
    _row(
        "id", "0",
        rf"(?<!\w)[{UPPER}][{LOWER}]{{1,30}}-?{any_phrase('STREETS')}",
        r"\s\d{1,4}(?:\s?[a-z])?(?!\w)",
        prose=True,
    ),
    _row(
        "id", "0",
        r"(?<!\w)\d{1,5}[A-Z]?\s(?:[A-Z][a-z]{1,20}\s){1,3}",
        r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Drive|Blvd|Way)(?!\w)",
        prose=True,
    ),
    _row(
        "id", "0",
        rf"(?<![\w-])(?:[{UPPER}]{{2,3}}|[{UPPER}]{{1,3}}-[A-Z]{{1,2}})\s\d{{2,4}}(?![\w%€$:]|[.,]\d)",
        unless=r"(?:in|at|ok|pm|am|ad|bc|ce|no|us|uk|eu|tv|pc|ai|it|the|and|for|all|top|an|ab|um|zu|bis)\s.*",
        prose=True,
    ),
    _row("id", "@", r"(?<![\w.@/])@[A-Za-z]\w{2,30}(?![\w.@/-]\w|\()", prose=True),
    _row("id", "#", r"(?<![\w#&/])#[0-9a-fA-F]{6}(?![\w-])", prose=True),
    _row("id", "0", r"(?<![\w.,+-])\d{3}(?: \d{3}){2,3}(?![\w.,]\d|\d)", prose=True),
    _row("id", "--", r"(?<![^\s`\"'])--[a-z][\w-]{2,40}(?:=[\w./:-]{1,60})?", prose=True),
    _row("id", "#", r"(?<![\w#&/])#[a-z]{2,20}[-_][\w-]{2,30}", prose=True),
    _row("id", "/", r"(?<![\w./-])(?:feature|feat|fix|bugfix|hotfix|release|chore|refactor)/[\w.-]{2,60}"),
    _row("id", "0 =", r"(?<![\w.$-])[A-Za-z][\w.-]{0,30}=\d[\w.+-]{0,15}(?![\w(])", prose=True),
    # Names in code
    _row(
        "id", "`",
        r"`(?P<it>[A-Za-z_$@.-][\w$.:#-]{1,60}(?:\(\)|\([\w, =\"']{0,30}\))?)`",
        unless=r"(?-i:[a-z]+)|[-.:#$@]+",
    ),
    _row("id", "_", r"(?<![\w.$-])[a-z][a-z0-9]{1,30}(?:_[a-z0-9]{1,30}){1,6}(?:\(\))?(?!\w)", prose=True),
    # Numbers that somebody named
    _row(
        "id", "0",
        rf"{_LABEL}(?P<it>(?=[A-Za-z-]{{0,6}}\d)[A-Z0-9][A-Za-z0-9]{{1,14}}",
        r"(?:[-/.][A-Za-z0-9]{1,10}){0,4})(?![\w-]|[.,]\d)",
        unless=r"\d",
    ),
    _row(
        "id", "0",
        r"(?<![\w.,:/$€£#+-])\d{4,16}(?![\w%€$/:-]|[.,]\d)",
        unless=r"(?:1\d|20)\d\d|\d+000",
        prose=True,
    ),
)  # fmt: skip

_SMALL_WORD = _any_of(words_of("SMALL_WORDS"))
# Names that code defines; plain words are skipped.
DEFINITION = late(
    r"(?m)^[ \t]*(?:export |public |async |pub |static ){0,2}(?:def|class|function|fn|func|interface"
    r"|struct)\s"
    r"((?=[a-z]{1,30}[_A-Z]|[A-Z][a-z]{1,30}[A-Z])\w{5,50})"
)
NO_NUMBER = late(_NO_NAME + r"|\d{1,2}(?:st|nd|rd|th|s)|\d+-(?:year|day|week|hour|minute)\S*", re.IGNORECASE)
# Any other number a user writes, except those of chapters and years.
OTHER_NUMBER = late(
    r"(?i:step|schritt|section|abschnitt|table|tabelle|chapter|kapitel|figure|abbildung|page|seite)\s[\d.]+"
    r"|(?<![^\s(\"'„“])(?!(?:1\d|20)\d\ds?(?!\w))"
    r"(?P<it>(?=\S{0,20}\d)\w[\w.,:/+-]{0,40}\w)(?![\w.,:/+-]\w)"
)
# A count of something: 35 employees, 120 Teilnehmer.
COUNT = late(
    r"(?<![\w.,:#/~^\x00-])(?![01]\s|(?:1\d|20)\d\d\s)(?:\d{1,3}(?:[.,]\d{3}){1,3}|\d{1,9})"
    rf"{_TIMES}\s(?:(?!{_SMALL_WORD}\s)[{LOWER}]{{3,14}}\s)?"
    rf"(?!{_SMALL_WORD}\b)(?:[{UPPER}][{LOWER}]{{2,30}}|[a-z]{{3,20}}(?<!s)s)(?![\w-])"
)


_BLANK = "\x00"
# Encoded images and keys, and list numbers: names are not looked for in these.
_NO_TEXT = late(r"[A-Za-z0-9+/=_-]{200,}|(?m:^)[ \t]*[#*-]{0,4}[ \t]?\d{1,2}[.)][ \t]")
# No match crosses a line or the end of a sentence.
_PIECE_END = late(rf"(?<=[{LOWER}]{{4}})[.!?]\s+|\n")
_SIGNS = tuple(dict.fromkeys(sign for row in TABLE for sign in row.needs if sign != "0"))
_DIGIT = late(r"\d")
# In code a single digit is just an index.
_NUMBER_IN_CODE = late(r"\d[\d.]|\d ?[A-Za-z%€]")


def find_matches(text: str, *, code: bool = False, own: bool = False) -> list[LedgerMatch]:
    """Returns the matches of a text, in no particular order.

    `code` skips patterns that only make sense in prose; `own` takes every number, since users write few and
    mean all of them.
    """
    matches = (
        [LedgerMatch("id", match[1], *match.span(1)) for match in DEFINITION.finditer(text)] if code else []
    )
    text = blank_out(text, [match.span() for match in _NO_TEXT.finditer(text)])
    start = 0
    for end in _PIECE_END.finditer(text):
        matches += _find_in_piece(text[start : end.start()], start, code, own)
        start = end.end()
    matches += _find_in_piece(text[start:], start, code, own)
    return matches


def _find_in_piece(text: str, at: int, code: bool, own: bool) -> Iterator[LedgerMatch]:
    number = _NUMBER_IN_CODE if code else _DIGIT
    digits = number.search(text) is not None
    for row in _applicable_patterns(digits, tuple([sign in text for sign in _SIGNS])):
        if (row.prose and code) or (not digits and "0" in row.needs):
            continue
        new = list(row.find(text))
        if new:
            yield from (LedgerMatch(find.kind, find.text, find.start + at, find.end + at) for find in new)
            text = blank_out(text, [(find.start, find.end) for find in new])
            digits = digits and number.search(text) is not None
    if own and digits:
        yield from _find_other_numbers(text, at)


def _find_other_numbers(text: str, at: int) -> Iterator[LedgerMatch]:
    counted = list(COUNT.finditer(text))
    for match in counted:
        yield LedgerMatch("amount", match[0], match.start() + at, match.end() + at)
    for match in OTHER_NUMBER.finditer(blank_out(text, [match.span() for match in counted])):
        if match["it"] and not NO_NUMBER.fullmatch(match["it"]):
            yield LedgerMatch("id", match["it"], match.start("it") + at, match.end("it") + at)


@lru_cache(maxsize=4_096)
def _applicable_patterns(digits: bool, signs: tuple[bool, ...]) -> tuple[LedgerPattern, ...]:
    present = {sign for sign, is_there in zip(_SIGNS, signs, strict=True) if is_there} | (
        {"0"} if digits else set()
    )
    return tuple(row for row in TABLE if present.issuperset(row.needs))


def blank_out(text: str, spans: list[tuple[int, int]]) -> str:
    """Returns the text with these spans blanked out; positions stay the same."""
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], _BLANK * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])
