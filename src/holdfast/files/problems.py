"""Reasons why a file was not attached: two languages for the person, a few neutral words for the model."""

from holdfast.errors import BadRequest


class FileProblem(BadRequest):
    """A file or folder cannot be attached.

    `short` stands in the file's place for the model: what happened, without instructions.
    """

    def __init__(self, short: str, en: str, de: str) -> None:
        super().__init__(en)
        self.short = short
        self.german = de


def missing(path: str, near: list[str] | None = None) -> FileProblem:
    names = ", ".join(near or ())
    return FileProblem(
        "not found",
        f"{path} was not found." + (f" Did you mean {names}?" if names else ""),
        f"{path} wurde nicht gefunden." + (f" Gemeint vielleicht: {names}?" if names else ""),
    )


def outside(path: str) -> FileProblem:
    return FileProblem(
        "not available",
        f"{path} is not in a folder that may be read here.",
        f"{path} liegt in keinem Ordner, der hier gelesen werden darf.",
    )


def secret(path: str, *, may: bool) -> FileProblem:
    return FileProblem(
        "not available",
        f"{path} looks like a secret and was not read."
        + (" Name it with :full if you mean it." if may else ""),
        f"{path} sieht nach einem Geheimnis aus und wurde nicht gelesen."
        + (" Ist es so gemeint, dann mit :full nennen." if may else ""),
    )


def special(path: str) -> FileProblem:
    return FileProblem(
        "no regular file",
        f"{path} is neither a file nor a folder, but a device, a pipe or a socket.",
        f"{path} ist weder Datei noch Ordner, sondern ein Gerät, eine Pipe oder ein Socket.",
    )


def unreadable(path: str, error: OSError) -> FileProblem:
    why = error.strerror or type(error).__name__
    return FileProblem(
        "cannot be read",
        f"{path} cannot be read: {why}.",
        f"{path} kann nicht gelesen werden: {why}.",
    )


def path_changed(path: str) -> FileProblem:
    return FileProblem(
        "cannot be read",
        f"{path} was changed while it was read, or is a link in a circle.",
        f"{path} wurde beim Lesen verändert oder ist ein Link im Kreis.",
    )


def too_large(path: str, limit: int) -> FileProblem:
    most = limit // 1_000_000
    return FileProblem(
        "too large",
        f"{path} has more than {most} MB, too much to be read.",
        f"{path} hat mehr als {most} MB; das ist zu viel.",
    )


def too_much(path: str) -> FileProblem:
    return FileProblem(
        "not brought in",
        f"{path} was left out: too many folders would have to be looked through for one message.",
        f"{path} wurde weggelassen: Für eine Nachricht wären zu viele Ordner zu durchsuchen.",
    )


def and_more(number: int) -> FileProblem:
    files, were, wurden = ("file", "was", "wurde") if number == 1 else ("files", "were", "wurden")
    return FileProblem(
        f"{number:,} more {files}: not brought in",
        f"The message points at too many files; {number:,} {were} left out.",
        f"Die Nachricht verweist auf zu viele Dateien; {number:,} {wurden} weggelassen.",
    )


def too_many(pattern: str, number: int, brought: int, *, more: bool) -> FileProblem:
    """A pattern has too many matches. `more`: the search was stopped, so there may be others."""
    at_least, mindestens = ("at least ", "mindestens ") if more else ("", "")
    left = number - brought
    return FileProblem(
        f"{brought:,} of {at_least}{number:,} files",
        f"{pattern} names {at_least}{number:,} files; the first {brought:,} were brought in, "
        f"{left:,} left out.",
        f"{pattern} nennt {mindestens}{number:,} Dateien; die ersten {brought:,} sind dabei, {left:,} nicht.",
    )


def no_text(path: str, error: BadRequest) -> FileProblem:
    return FileProblem(
        "no text",
        f"{path} holds no text that can be read: {error}",
        f"{path} enthält keinen lesbaren Text: {error}",
    )


def too_slow(path: str) -> FileProblem:
    return FileProblem(
        "takes too long to read",
        f"{path} takes too long to read. A copy with its text alone, or a part of it, may do.",
        f"{path} zu lesen dauert zu lange. Vielleicht hilft eine Kopie nur mit dem Text oder einem Teil.",
    )


def only_ends(path: str, size: int) -> FileProblem:
    return FileProblem(
        "too large",
        f"{path} has {size:,} bytes; only its beginning and its end were brought in.",
        f"{path} hat {size:,} Bytes; nur Anfang und Ende sind dabei.",
    )


def is_folder(path: str) -> FileProblem:
    return FileProblem(
        "a folder",
        f"{path} is a folder, which has no lines or elements; try :tree, :list or :search:WORD.",
        f"{path} ist ein Ordner und hat keine Zeilen oder Elemente; möglich sind :tree, :list, :search:WORT.",
    )


def is_file(path: str) -> FileProblem:
    return FileProblem(
        "a file",
        f"{path} is a file, not a folder.",
        f"{path} ist eine Datei, kein Ordner.",
    )


def no_word(path: str) -> FileProblem:
    return FileProblem(
        "nothing to search for",
        f"{path}: what is to be searched for? Write :search:WORD.",
        f"{path}: Wonach soll gesucht werden? Etwa :search:WORT.",
    )


def which_lines(path: str) -> FileProblem:
    return FileProblem(
        "no lines named",
        f"{path}: which lines? Write :lines:100-150; something called lines is :name:lines.",
        f"{path}: Welche Zeilen? Etwa :lines:100-150; was wirklich lines heißt, ist :name:lines.",
    )


def so_few_lines(path: str, number: int) -> FileProblem:
    lines, zeilen = ("line", "Zeile") if number == 1 else ("lines", "Zeilen")
    return FileProblem(
        f"has {number:,} {lines}",
        f"{path} has only {number:,} {lines}.",
        f"{path} hat nur {number:,} {zeilen}.",
    )


def no_element(path: str, name: str, near: list[str]) -> FileProblem:
    names = ", ".join(near)
    return FileProblem(
        f"no {name} in it",
        f"{path} has nothing called {name}." + (f" There are: {names}." if names else ""),
        f"{path} enthält nichts namens {name}." + (f" Es gibt: {names}." if names else ""),
    )
