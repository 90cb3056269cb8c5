"""A `qmd` that needs nothing but Python, for tests and trials: run it as `python fake.py COMMAND …`.

It takes the options of QMD's commands and writes what QMD writes, to the letter where a program reads it; it
finds by words alone. A file `trouble` beside its index makes it ill, in the way that is named in it: `hang`,
`nonsense`, `empty`, `exit`, `flood`, `stranger`, `old`, `no models`. It imports nothing of ours, so that it
runs with the small environment that QMD gets.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

_AROUND = 300


def main(arguments: list[str]) -> int:
    words, options = parse_arguments(arguments)
    # A program of its own, which is told by its environment where its things are.
    qmd = FakeQmd(Path(os.path.expandvars("$XDG_CACHE_HOME"), "qmd"))
    if "--version" in options:
        say("qmd 0.9.0" if qmd.trouble == "old" else "qmd 2.8.3 (fake)")
        return 0
    command, operands = words[0], words[1:]
    if command == "collection":
        return qmd.collection(
            operands[0], operands[1:], *options.get("--name", [""]), *options.get("--mask", ["**/*.md"])
        )
    if command in ("update", "embed"):
        return qmd.update() if command == "update" else qmd.embed()
    return qmd.find(" ".join(operands), options.get("-c", []), int(*options.get("-n", ["20"])))


def parse_arguments(arguments: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Words, and options with what was given to each."""
    words: list[str] = []
    options: dict[str, list[str]] = {}
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            words += remaining
        elif argument in ("--json", "--version"):
            options[argument] = []
        elif argument in ("-c", "-n", "--index", "--name", "--mask"):
            options.setdefault(argument, []).append(next(remaining))
        else:
            words.append(argument)
    return words, options


class FakeQmd:
    """Collections and the texts that were read, in one file."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.file = home / "index.json"
        self.trouble = read_text(home / "trouble").strip()
        self.kept: dict[str, dict[str, dict[str, str]]] = json.loads(read_text(self.file) or "{}")

    def keep(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.kept), encoding="utf-8")

    def collection(self, verb: str, operands: list[str], name: str, mask: str) -> int:
        if verb == "list":
            say(f"Collections ({len(self.kept)}):\n")
            for each, collection in self.kept.items():
                mask, number = collection["of"]["mask"], len(collection["texts"])
                say(f"{each} (qmd://{each}/)\n  Pattern:  {mask}\n  Files:    {number}\n")
        elif verb == "remove":
            if self.kept.pop(operands[0], None) is None:
                return fail(f"Collection not found: {operands[0]}")
            say(f"✓ Removed collection '{operands[0]}'")
        elif name in self.kept:
            return fail(f"Collection '{name}' already exists.\nUse a different name with --name <name>")
        elif not Path(operands[0]).is_dir():
            return fail(f"Collection path does not exist.\n  Received: {operands[0]}")
        else:
            self.kept[name] = {
                "of": {"path": operands[0], "mask": mask},
                "texts": read_texts(operands[0], mask),
            }
            say(f"✓ Collection '{name}' created successfully")
        self.keep()
        return 0

    def update(self) -> int:
        for collection in self.kept.values():
            collection["texts"] = read_texts(**collection["of"])
        self.keep()
        say("✓ All collections updated.")
        return 0

    def embed(self) -> int:
        if self.trouble == "no models":
            return fail("Error: getaddrinfo ENOTFOUND huggingface.co")
        (self.home / "embedded").touch()
        say("Model: embeddinggemma-300M-Q8_0.gguf\n")
        return 0

    def find(self, query: str, names: list[str], limit: int) -> int:
        for name in names:
            if name not in self.kept:
                return fail(f"Collection not found: {name}")
        if "\n" in query or re.match(r"(lex|vec|hyde|expand):\s*$|intent:", query):
            return fail("Line 1 is missing a lex:/vec:/hyde:/intent: prefix, or the text after it.")
        if self.trouble:
            code = self._fall_ill(names)
            if code is not None:
                return code
        wanted = set(re.findall(r"\w+", query.lower()))
        results = []
        for name in names or list(self.kept):
            for path, text in self.kept[name]["texts"].items():
                shared = wanted & set(re.findall(r"\w+", text.lower()))
                if shared:
                    results.append(
                        build_result(f"qmd://{name}/{path}", text, wanted, len(shared) / len(wanted))
                    )
        results.sort(key=lambda result: (-result[0], str(result[1]["file"])))
        sys.stderr.write("Warning: 2 documents need embeddings. Run 'qmd embed' for better results." + "\n")
        say(json.dumps([result for _, result in results[:limit]], indent=2, ensure_ascii=False))
        return 0

    def _fall_ill(self, names: list[str]) -> int | None:
        if self.trouble == "hang":
            # Only who hangs needs it, and it takes long to load.
            import subprocess

            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            (self.home / "child").write_text(str(child.pid))
            time.sleep(600)
        elif self.trouble == "nonsense":
            say('Expanding query...\n[{"file": 7, "score": "high"}, 12]')
        elif self.trouble == "empty":
            say("No results found.")
        elif self.trouble == "exit":
            return fail("Error: database disk image is malformed", 3)
        elif self.trouble == "flood":
            while True:
                say("x" * 10_000)
        elif self.trouble == "stranger":
            strangers = [name for name in self.kept if name not in names]
            texts = self.kept[strangers[0]]["texts"]
            path = next(iter(texts))
            say(json.dumps([build_result(f"qmd://{strangers[0]}/{path}", texts[path], set(), 0.9)[1]]))
        else:
            return None
        return 0


def build_result(file: str, text: str, wanted: set[str], score: float) -> tuple[float, dict[str, object]]:
    lines = text.split("\n")
    best = max(range(len(lines)), key=lambda at: sum(word in lines[at].lower() for word in wanted))
    first, last = max(0, best - 1), min(len(lines), best + 3)
    shown = "\n".join(lines[first:last])
    shown = shown if len(shown) <= _AROUND else f"{shown[: _AROUND - 3]}..."
    head = f"@@ -{first + 1},{last - first} @@ ({first} before, {len(lines) - last} after)"
    title = next((line.lstrip("# ") for line in lines if line.startswith("#")), file)
    result = {"docid": "#abc123", "score": round(score, 2), "file": file, "line": best + 1, "title": title}
    return score, {**result, "snippet": f"{head}\n{shown}"}


def read_texts(path: str, mask: str) -> dict[str, str]:
    pattern = re.compile(mask_pattern(mask), re.DOTALL)
    files = sorted(file for file in Path(path).rglob("*") if file.is_file())
    named = {file.relative_to(path).as_posix(): file for file in files}
    return {name: read_text(file) for name, file in named.items() if pattern.fullmatch(name)}


def mask_pattern(mask: str) -> str:
    """The little of fast-glob's patterns that is used."""
    pattern, remaining = "", mask
    signs = {"**/": "(?:[^/]+/)*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}
    while remaining:
        negated = re.match(r"!\(([^)]*)\)", remaining)
        sign = next((candidate for candidate in signs if remaining.startswith(candidate)), "")
        taken = negated[0] if negated else sign or remaining[0]
        pattern += rf"(?!(?:{negated[1]})/)[^/]*" if negated else signs.get(sign) or re.escape(taken)
        remaining = remaining[len(taken) :]
    return pattern


def read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def fail(text: str, code: int = 1) -> int:
    sys.stderr.write(text + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
