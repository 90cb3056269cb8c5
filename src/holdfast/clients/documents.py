"""Configuration files of every format behind one interface: read, set and delete a value at a path.

What is not touched stays as it was, with comments and order. Whatever a library makes of a file is read again
before it is used: an edit either did what was asked and nothing else, or it is refused.
"""

import copy
import io
import re
import tomllib
from collections.abc import Sequence
from typing import Any, Protocol

from holdfast.clients.base import Each, Entry, Format, Step
from holdfast.clients.json_text import MISSING, JsonText, nest
from holdfast.errors import ConfigError
from holdfast.i18n import lazy

_ENV_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_-]*)\s*=(.*)", re.DOTALL)
_ENV_COMMENT = re.compile(r"(?<!\s)\s+#.*", re.DOTALL)
_ENV_QUOTED = re.compile(r"""(?:"((?:\\.|[^"\\])*)"|'([^']*)')\s*(?:#.*)?""", re.DOTALL)
_ENV_PLAIN = re.compile(r"""[^\s#"'\\]*""")


class Document(Protocol):
    """A configuration file in memory."""

    @property
    def text(self) -> str: ...

    def value(self) -> Any:
        """Return everything as plain dicts, lists and values."""

    def get(self, path: tuple[Step, ...]) -> Any: ...

    def set(self, path: tuple[Step, ...], value: Any) -> None: ...

    def delete(self, path: tuple[Step, ...], value: Any = MISSING) -> None: ...


class YamlText:
    """YAML by ruamel's round trip; the indentation of lists is the one that is there."""

    def __init__(self, text: str) -> None:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        self._before = text
        self._yaml = YAML(typ="rt")
        self._yaml.preserve_quotes = True
        # Long lines stay whole.
        self._yaml.width = 1_000_000
        try:
            self._data = self._yaml.load(text)
            indent, offset = _guess_indent(text)
        except (YAMLError, RecursionError) as error:
            raise ConfigError(
                lazy("It is not the YAML that was expected: {error}", error=_brief(error))
            ) from None
        offset = 2 if offset is None else offset
        self._yaml.indent(mapping=indent or 2, sequence=offset + 2, offset=offset)
        self._changed = False

    @property
    def text(self) -> str:
        if not self._changed:
            return self._before
        stream = io.StringIO()
        self._yaml.dump(self._data, stream)
        # Comments of a file without any value are in none of its parts.
        head = self._before if self._before.strip() and self._is_blank() else ""
        head += "\n" if head and not head.endswith("\n") else ""
        written = head + stream.getvalue()
        return written.replace("\n", "\r\n") if "\r\n" in self._before else written

    def _is_blank(self) -> bool:
        return all(not line.strip() or line.lstrip().startswith("#") for line in self._before.splitlines())

    def value(self) -> Any:
        return plain(self._data)

    def get(self, path: tuple[Step, ...]) -> Any:
        return get_value(self._data, path)

    def set(self, path: tuple[Step, ...], value: Any) -> None:
        if self._data is None:
            self._data = [] if isinstance(path[0], Each) else {}
            if isinstance(path[0], Each):
                self._yaml.indent(mapping=2, sequence=2, offset=0)
        self._changed |= set_value(self._data, path, value)

    def delete(self, path: tuple[Step, ...], value: Any = MISSING) -> None:
        self._changed |= delete_value(self._data, path, value)


class TomlText:
    """TOML by tomlkit, which keeps what it does not change."""

    def __init__(self, text: str) -> None:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            self._data = tomlkit.parse(text)
            tomllib.loads(text)
        except (TOMLKitError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(
                lazy("It is not the TOML that was expected: {error}", error=_brief(error))
            ) from None
        self._before = text
        self._changed = False

    @property
    def text(self) -> str:
        return self._data.as_string() if self._changed else self._before

    def value(self) -> Any:
        return self._data.unwrap()

    def get(self, path: tuple[Step, ...]) -> Any:
        return get_value(self._data, path)

    def set(self, path: tuple[Step, ...], value: Any) -> None:
        self._changed |= set_value(self._data, path, value)

    def delete(self, path: tuple[Step, ...], value: Any = MISSING) -> None:
        self._changed |= delete_value(self._data, path, value)


class EnvText:
    """Lines of `NAME=value`, as Docker, dotenv and npm read them."""

    def __init__(self, text: str) -> None:
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._lines = text.splitlines(keepends=True)

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def value(self) -> Any:
        matches = (_ENV_LINE.match(line.strip()) for line in self._lines)
        return {match[1]: _unquote(match[2].strip()) for match in matches if match}

    def get(self, path: tuple[Step, ...]) -> Any:
        return self.value().get(path[0], MISSING)

    def set(self, path: tuple[Step, ...], value: Any) -> None:
        if self.get(path) == value:
            return
        written = value if _ENV_PLAIN.fullmatch(value) else quote_env(value)
        line = f"{path[0]}={written}{self._newline}"
        places = self._find(path[0])
        if places:
            # The last of two lines counts; a comment beside the value stays.
            before = self._lines[places[-1]]
            # What is quoted may have such a sign in it.
            rest = before[max(before.rfind('"'), before.rfind("'")) + 1 :]
            comment = _ENV_COMMENT.search(rest)
            self._lines[places[-1]] = line.removesuffix(self._newline) + comment[0] if comment else line
            return
        if self._lines and not self._lines[-1].endswith(("\n", "\r")):
            self._lines[-1] += self._newline
        self._lines.append(line)

    def delete(self, path: tuple[Step, ...], value: Any = MISSING) -> None:  # noqa: ARG002
        for place in reversed(self._find(path[0])):
            del self._lines[place]

    def _find(self, name: Step) -> list[int]:
        matches = ((at, _ENV_LINE.match(line.strip())) for at, line in enumerate(self._lines))
        return [at for at, match in matches if match and match[1] == name]


class WholeText:
    """A file that is ours alone: its value is its text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def value(self) -> Any:
        return self.text

    def get(self, path: tuple[Step, ...]) -> Any:  # noqa: ARG002
        return self.text or MISSING

    def set(self, path: tuple[Step, ...], value: Any) -> None:  # noqa: ARG002
        self.text = value

    def delete(self, path: tuple[Step, ...], value: Any = MISSING) -> None:  # noqa: ARG002
        self.text = ""


def open_document(text: str, format_: Format) -> Document:
    """Parse a file; raise `ConfigError` if it is not of its format."""
    match format_:
        case "json":
            return JsonText(text)
        case "yaml":
            return YamlText(text)
        case "toml":
            return TomlText(text)
        case "env":
            return EnvText(text)
        case "text":
            return WholeText(text)


def apply_entries(text: str, format_: Format, entries: Sequence[Entry]) -> str:
    """Return the text with all entries in it; the same text if they are there already."""
    document = open_document(text, format_)
    wanted = copy.deepcopy(document.value())
    for entry in entries:
        if not entry.if_missing or document.get(entry.path) is MISSING:
            wanted = expect_value(wanted, entry)
            document.set(entry.path, entry.value)
    written = document.text
    if open_document(written, format_).value() != wanted:
        raise ConfigError(lazy("It could not be edited without changing more than was meant."))
    return written


def expect_value(value: Any, entry: Entry) -> Any:
    """Return the plain value of a document as it has to be after an entry was set."""
    if not entry.path:
        return entry.value
    if value is None:
        value = [] if isinstance(entry.path[0], Each) else {}
    set_value(value, entry.path, copy.deepcopy(entry.value))
    return value


def read_earlier(text: str, format_: Format, entries: Sequence[Entry]) -> list[tuple[int, Any]]:
    """Return for each entry how much of its path is there, and its value if all of it is (else None)."""
    document = open_document(text, format_)
    earlier = []
    for entry in entries:
        depths = range(len(entry.path), -1, -1)
        depth = next(at for at in depths if at == 0 or _is_there(document, entry, at))
        whole = depth == len(entry.path) and (entry.path or text)
        earlier.append((depth, plain(document.get(entry.path)) if whole and _keyed(entry) else None))
    return earlier


def _is_there(document: Document, entry: Entry, depth: int) -> bool:
    path = entry.path[:depth]
    last = path[-1]
    if isinstance(last, Each) and not last.key:
        parent = document.get(path[:-1])
        return isinstance(parent, list) and entry.value in plain(parent)
    return document.get(path) is not MISSING


def _keyed(entry: Entry) -> bool:
    return not entry.path or not isinstance(entry.path[-1], Each) or bool(entry.path[-1].key)


def revert_entries(
    text: str, format_: Format, entries: Sequence[Entry], earlier: Sequence[tuple[int, Any]]
) -> str:
    """Take our entries out of a text that others have changed since; what was there before comes back."""
    document = open_document(text, format_)
    for entry, (depth, value) in zip(reversed(entries), reversed(earlier), strict=True):
        if depth == len(entry.path):
            if _keyed(entry):
                document.set(entry.path, value)
            continue
        document.delete(entry.path, entry.value)
        # Containers that were made for it go when nothing is left in them.
        for above in range(len(entry.path) - 1, depth, -1):
            if document.get(entry.path[:above]) in ({}, []):
                document.delete(entry.path[:above])
    return document.text


def get_value(data: Any, path: Sequence[Step]) -> Any:
    for step in path:
        if isinstance(step, str):
            data = data.get(step, MISSING) if isinstance(data, dict) else MISSING
        else:
            index = _index(data, step)
            data = MISSING if index is None else data[index]
    return data


def set_value(data: Any, path: Sequence[Step], value: Any) -> bool:
    """Set a value in nested dicts and lists; return whether anything changed."""
    for depth, step in enumerate(path):
        rest = tuple(path[depth + 1 :])
        if not (isinstance(data, dict) if isinstance(step, str) else isinstance(data, list)):
            name = step if isinstance(step, str) else step.name
            raise ConfigError(lazy("There is something else where {step} should go.", step=name))
        key: Any = step if isinstance(step, str) else _index(data, step, value)
        if isinstance(step, Each) and key is None:
            data.append(nest(rest, value))
            return True
        if isinstance(step, str) and (step not in data or (rest and data[step] is None)):
            data[step] = nest(rest, value)
            return True
        if rest:
            data = data[key]
        elif plain(data[key]) == value:
            return False
        else:
            data[key] = value
    return True


def delete_value(data: Any, path: Sequence[Step], value: Any = MISSING) -> bool:
    parent = get_value(data, path[:-1])
    last = path[-1]
    if isinstance(last, str):
        if not isinstance(parent, dict) or last not in parent:
            return False
        del parent[last]
        return True
    index = _index(parent, last, value)
    if index is None:
        return False
    del parent[index]
    return True


def _index(data: Any, step: Each, value: Any = MISSING) -> int | None:
    if not isinstance(data, list):
        return None
    for at, item in enumerate(data):
        if step.key and isinstance(item, dict) and item.get(step.key) == step.name:
            return at
        if not step.key and value is not MISSING and plain(item) == value:
            return at
    return None


def plain(value: Any) -> Any:
    """Return a value of a library as plain dicts, lists and values."""
    if hasattr(value, "unwrap"):
        return value.unwrap()
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    # Strings of ruamel remember their quotes.
    return str(value) if isinstance(value, str) else value


def _guess_indent(text: str) -> tuple[int | None, int | None]:
    """Return how far mappings and the dashes of lists are indented in YAML; None where it does not show."""
    from ruamel.yaml.util import load_yaml_guess_indent

    try:
        _loaded, indent, offset = load_yaml_guess_indent(text) if text.strip() else (None, None, None)
    except IndexError:
        # A line that is nothing but a dash is too much for it.
        return None, None
    return indent, offset


def _unquote(text: str) -> str:
    quoted = _ENV_QUOTED.fullmatch(text)
    if quoted is None:
        return _ENV_COMMENT.sub("", text)
    if quoted[2] is not None:
        return str(quoted[2])
    return str(quoted[1]).replace('\\"', '"').replace("\\\\", "\\")


def quote_env(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
