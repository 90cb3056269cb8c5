"""What the site has beside docs/: the changelog and the results of the evals, from where they stand.

A hook of mkdocs. Pages link to these files as they lie in the repository, so that the links hold there too;
here the links are bent to where the files come to stand in the site.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(
    r"\]\((?:\.\./)+((?:evals/results/[\w-]+|CHANGELOG|CONTRIBUTING|SECURITY)\.md)(#[\w-]+)?\)"
)
_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
}


def place(source: str) -> str:
    """Where a file of the repository stands in the site."""
    return _PAGES.get(source) or f"results/{Path(source).name}"


def on_files(files: Files, config: Any) -> Files:
    sources = [*ROOT.glob("evals/results/*.md"), *(ROOT / name for name in _PAGES)]
    for source in filter(Path.exists, sources):
        name = place(source.relative_to(ROOT).as_posix())
        files.append(File.generated(config, name, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    up = "../" * page.file.src_uri.count("/")
    if page.file.src_uri in _PAGES.values():
        # These stand at the top of the repository and link down into docs/.
        markdown = markdown.replace("](docs/", "](").replace("](LICENSE)", "](licences.md)")
    return _LINK.sub(lambda found: f"]({up}{place(found[1])}{found[2] or ''})", markdown)
