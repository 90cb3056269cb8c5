"""How kinds of byte-level vocabularies cut a text into words: one table, by the names GGUF gives as `pre`.

The patterns state what llama.cpp does, since that is what answers: where it departs from a model's published
pattern (combining marks in `tekken` and `gpt-4o`), the served rule is here. It knows no vocabulary. A name
that is not in the table has no rule, and nobody guesses one. (`deepseek-llm` is left out for that reason: its
pattern names letters that some builds of the server do not match.)
"""

from dataclasses import dataclass

# llama.cpp's character tables end with Unicode 15.1; the regex libraries know 16. What 16 added is nothing in
# particular to the server, so it is nothing in particular here.
_NEWER = (
    r"\x{0897}\x{1B4E}\x{1B4F}\x{1B7F}\x{1C89}\x{1C8A}\x{2427}-\x{2429}\x{31E4}\x{31E5}\x{A7CB}-\x{A7CD}"
    r"\x{A7DA}-\x{A7DC}\x{105C0}-\x{105FF}\x{10D40}-\x{10D8F}\x{10EC2}-\x{10EC4}\x{10EFC}\x{11380}-\x{113FF}"
    r"\x{116D0}-\x{116E3}\x{11BC0}-\x{11BFF}\x{11F5A}\x{13460}-\x{143FF}\x{16100}-\x{1613F}\x{16D40}-\x{16D7F}"
    r"\x{18CFF}\x{1CC00}-\x{1CEB3}\x{1E5D0}-\x{1E5FF}\x{1F8B2}-\x{1F8BB}\x{1F8C0}\x{1F8C1}\x{1FA89}\x{1FA8F}"
    r"\x{1FABE}\x{1FAC6}\x{1FADC}\x{1FADF}\x{1FAE9}\x{1FBCB}-\x{1FBEF}"
)
_L = rf"[\p{{L}}&&[^{_NEWER}]]"
_N = rf"[\p{{N}}&&[^{_NEWER}]]"
_M = rf"[\p{{M}}&&[^{_NEWER}]]"
_P = rf"[\p{{P}}&&[^{_NEWER}]]"
_S = rf"[\p{{S}}&&[^{_NEWER}]]"

_OTHER = rf"[^\s{_L}{_N}]"
_BEFORE_WORD = rf"[^\r\n{_L}{_N}]?"
_SHORT = "'s|'t|'re|'ve|'m|'ll|'d"
_SHORT_ANY_CASE = "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"
_LINES = r"\s*[\r\n]+"
# White space before a word leaves its last character to the word.
_SPACES = r"\s+(?!\S)|\s+"

_GPT2 = rf"{_SHORT}| ?{_L}+| ?{_N}+| ?{_OTHER}+|{_SPACES}"


def _modern_pattern(
    digits: str,
    *,
    short: str = _SHORT_ANY_CASE + "|",
    letters: str = _L,
    other: str = _OTHER,
    lines: str = _LINES,
) -> str:
    """The shape that began with GPT-4: a word takes one character before it, marks the line breaks after."""
    return rf"{short}{_BEFORE_WORD}{letters}+|{digits}| ?{other}+[\r\n]*|{lines}|{_SPACES}"


def _case_pattern(digits: str, suffix: str = "") -> str:
    """Words end where lower case turns to upper; only ASCII has case here, other letters count as both."""
    upper, lower = rf"[{_L}&&[^a-z]]", rf"[{_L}&&[^A-Z]]"
    return (
        rf"{_BEFORE_WORD}{upper}*{lower}+{suffix}|{_BEFORE_WORD}{upper}+{lower}*{suffix}|{digits}"
        rf"| ?{_OTHER}+[\r\n/]*|{_LINES}|{_SPACES}"
    )


_CJK = r"[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]"
_OLD_CJK = r"[\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+"
_ASCII_MARK = r"[!-/:-@\[-`\{-~]"
_DEEPSEEK3 = (
    rf"{_ASCII_MARK}[A-Za-z]+|[^\r\n{_L}{_P}{_S}]?[{_L}{_M}]+| ?[{_P}{_S}]+[\r\n]*|{_LINES}|{_SPACES}"
)
_DEEPSEEK3_WORD = rf"[[{_L}{_M}]&&[^{_CJK}]]"
_DEEPSEEK3_REST = rf"[^\s{_L}{_M}{_P}{_S}{_N}]"
_DEEPSEEK3_JOINED = (
    rf"{_N}{{1,3}}|{_CJK}+|{_ASCII_MARK}[A-Za-z]+|[^\r\n{_L}{_P}{_S}{_N}]?{_DEEPSEEK3_WORD}+"
    rf"| ?[{_P}{_S}]+[\r\n]*|{_LINES}|\s+(?![^\s{_N}{_CJK}])|\s+|(?:{_DEEPSEEK3_REST}(?!{_DEEPSEEK3_WORD}))+"
)
_DIGIT_FIRST_JOINED = rf"{_N}|{_SHORT}| ?{_L}+| ?{_OTHER}+|\s+(?![^\s{_N}])|\s+"
_BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"


@dataclass(frozen=True, slots=True)
class SplitRule:
    """`patterns` are applied one after the other, each to the pieces the last one left.

    `joined` is one pattern with the same effect, where there is one: it lets a faster library do the work.
    `whole_words` says that a word found in the vocabulary is taken as it is, whatever its merges say.
    """

    patterns: tuple[str, ...]
    joined: str | None = None
    whole_words: bool = False


def _single_rule(pattern: str, *, whole_words: bool = False) -> SplitRule:
    return SplitRule((pattern,), joined=pattern, whole_words=whole_words)


_GPT2_RULE = _single_rule(_GPT2)
_DIGIT_FIRST = SplitRule((_N, _GPT2), joined=_DIGIT_FIRST_JOINED)
_LLAMA3 = _modern_pattern(rf"{_N}{{1,3}}")
_QWEN2 = _modern_pattern(_N)
_GPT4O = _single_rule(_case_pattern(rf"{_N}{{1,3}}", f"(?:{_SHORT_ANY_CASE})?"))
_DEEPSEEK3_RULE = SplitRule((rf"{_N}{{1,3}}", rf"{_CJK}+", _DEEPSEEK3), joined=_DEEPSEEK3_JOINED)

_BY_NAMES: dict[str, SplitRule] = {
    "gpt-2 phi-2 mpt olmo jais trillion exaone4 gigachat mellum a.x-4.0 granite-docling jina-es jina-de "
    "jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe modern-bert": _GPT2_RULE,
    "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2": _DIGIT_FIRST,
    "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano": _single_rule(
        _LLAMA3, whole_words=True
    ),
    "dbrx smaug-bpe glm4 chatglm-bpe": _single_rule(_LLAMA3),
    "qwen2 stablelm2 deepseek-r1-qwen megrez hunyuan solar-open grok-2 kormo f2llmv2": _single_rule(_QWEN2),
    "qwen35": _single_rule(_modern_pattern(_N, letters=rf"[{_L}{_M}]", other=rf"[^\s{_L}{_M}{_N}]")),
    "bailingmoe bailingmoe2 llada-moe": _single_rule(_modern_pattern(_N, lines=r"\s*[\r\n]")),
    "tekken": _single_rule(_case_pattern(_N), whole_words=True),
    "gpt-4o llama4 kanana2 talkie minimax-m2": _GPT4O,
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": _DEEPSEEK3_RULE,
    "deepseek-coder": SplitRule((r"[\r\n]", rf"\s?{_L}+", rf"\s?{_P}+", _OLD_CJK, _N)),
    "falcon": SplitRule((rf"[{_P}$+<=>^~|`]+", _GPT2, "[0-9][0-9][0-9]")),
    "default": SplitRule((rf"[{_P}$+<=>^~|]+", _GPT2, rf"{_N}+", "[0-9][0-9][0-9]")),
    "bloom poro-chat gpt3-finnish": SplitRule((_BLOOM,)),
    "viking": SplitRule((_BLOOM, _N)),
}
_RULES: dict[str, SplitRule] = {name: rule for names, rule in _BY_NAMES.items() for name in names.split()}
# Files from before the name existed: the server falls back to its default rule, and so do we.
_RULES[""] = _RULES["default"]


def find_split_rule(pre: str) -> SplitRule | None:
    """The rule by its GGUF name, or None if it is not known for certain."""
    return _RULES.get(pre)


def list_split_rules() -> frozenset[str]:
    return frozenset(_RULES)
