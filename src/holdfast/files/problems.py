"""Reasons why a file was not attached: a sentence for the person, a few neutral words for the model."""

from holdfast.errors import BadRequest, explain_os_error
from holdfast.i18n import LazyText, lazy, lazy_plural


class FileProblem(BadRequest):
    """A file or folder cannot be attached.

    `short` stands in the file's place for the model: what happened, without instructions.
    """

    def __init__(self, short: str, message: LazyText) -> None:
        super().__init__(message)
        self.short = short


def missing(path: str, near: list[str] | None = None) -> FileProblem:
    names = ", ".join(near or ())
    if not names:
        return FileProblem("not found", lazy("{path} was not found.", path=path))
    message = lazy("{path} was not found. Did you mean {names}?", path=path, names=names)
    return FileProblem("not found", message)


def outside(path: str) -> FileProblem:
    return FileProblem("not available", lazy("{path} is not in a folder that may be read here.", path=path))


def secret(path: str, *, may: bool) -> FileProblem:
    if not may:
        return FileProblem("not available", lazy("{path} looks like a secret and was not read.", path=path))
    message = lazy(
        "{path} looks like a secret and was not read. Name it with :full if you mean it.", path=path
    )
    return FileProblem("not available", message)


def special(path: str) -> FileProblem:
    return FileProblem(
        "no regular file",
        lazy("{path} is neither a file nor a folder, but a device, a pipe or a socket.", path=path),
    )


def unreadable(path: str, error: OSError) -> FileProblem:
    why = explain_os_error(error) or type(error).__name__
    return FileProblem("cannot be read", lazy("{path} cannot be read: {why}.", path=path, why=why))


def path_changed(path: str) -> FileProblem:
    return FileProblem(
        "cannot be read", lazy("{path} was changed while it was read, or is a link in a circle.", path=path)
    )


def too_large(path: str, limit: int) -> FileProblem:
    most = limit // 1_000_000
    return FileProblem(
        "too large", lazy("{path} has more than {most} MB, too much to be read.", path=path, most=most)
    )


def too_much(path: str) -> FileProblem:
    return FileProblem(
        "not brought in",
        lazy(
            "{path} was left out: too many folders would have to be looked through for one message.",
            path=path,
        ),
    )


def and_more(number: int) -> FileProblem:
    message = lazy_plural(
        "The message points at too many files; {number:,} was left out.",
        "The message points at too many files; {number:,} were left out.",
        number,
        number=number,
    )
    return FileProblem(f"{number:,} more {'file' if number == 1 else 'files'}: not brought in", message)


def too_many(pattern: str, number: int, brought: int, *, more: bool) -> FileProblem:
    """A pattern has too many matches. `more`: the search was stopped, so there may be others."""
    values = {"pattern": pattern, "number": number, "brought": brought, "left": number - brought}
    if not more:
        message = lazy(
            "{pattern} names {number:,} files; the first {brought:,} were brought in, {left:,} left out.",
            **values,
        )
        return FileProblem(f"{brought:,} of {number:,} files", message)
    message = lazy(
        "{pattern} names at least {number:,} files; the first {brought:,} were brought in, "
        "{left:,} left out.",
        **values,
    )
    return FileProblem(f"{brought:,} of at least {number:,} files", message)


def no_text(path: str, error: BadRequest) -> FileProblem:
    return FileProblem(
        "no text", lazy("{path} holds no text that can be read: {error}", path=path, error=str(error))
    )


def too_slow(path: str) -> FileProblem:
    return FileProblem(
        "takes too long to read",
        lazy(
            "{path} takes too long to read. A copy with its text alone, or a part of it, may do.", path=path
        ),
    )


def only_ends(path: str, size: int) -> FileProblem:
    return FileProblem(
        "too large",
        lazy(
            "{path} has {size:,} bytes; only its beginning and its end were brought in.", path=path, size=size
        ),
    )


def is_folder(path: str) -> FileProblem:
    return FileProblem(
        "a folder",
        lazy(
            "{path} is a folder, which has no lines or elements; try :tree, :list or :search:WORD.", path=path
        ),
    )


def is_file(path: str) -> FileProblem:
    return FileProblem("a file", lazy("{path} is a file, not a folder.", path=path))


def no_word(path: str) -> FileProblem:
    return FileProblem(
        "nothing to search for", lazy("{path}: what is to be searched for? Write :search:WORD.", path=path)
    )


def which_lines(path: str) -> FileProblem:
    return FileProblem(
        "no lines named",
        lazy("{path}: which lines? Write :lines:100-150; something called lines is :name:lines.", path=path),
    )


def so_few_lines(path: str, number: int) -> FileProblem:
    message = lazy_plural(
        "{path} has only {number:,} line.",
        "{path} has only {number:,} lines.",
        number,
        path=path,
        number=number,
    )
    return FileProblem(f"has {number:,} {'line' if number == 1 else 'lines'}", message)


def no_element(path: str, name: str, near: list[str]) -> FileProblem:
    names = ", ".join(near)
    if not names:
        return FileProblem(
            f"no {name} in it", lazy("{path} has nothing called {name}.", path=path, name=name)
        )
    message = lazy("{path} has nothing called {name}. There are: {names}.", path=path, name=name, names=names)
    return FileProblem(f"no {name} in it", message)
