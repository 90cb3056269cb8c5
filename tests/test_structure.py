"""The layout shows the architecture: imports go down only, files stay small, few modules are exceptions."""

import ast
from functools import cache
from pathlib import Path

from holdfast import extras

SOURCE = Path(__file__).parent.parent / "src" / "holdfast"

# From the bottom up. A package may import from the rows below its own, and from itself.
LAYERS = (
    (
        "errors",
        "config",
        "events",
        "extras",
        "i18n",
        "messages",
        "projects",
        "text",
        "thinking",
    ),
    ("protocols", "tokens"),
    ("store",),
    ("upstreams",),
    ("clients", "conversations", "files", "memory"),
    ("recall", "research"),
    ("window",),
    ("compaction",),
    ("brief",),
    ("context", "transfer"),
    ("background",),
    ("turn",),
    # Backends are reached through the table in `extras` alone, fakes by whoever wants one.
    ("wiring", "backends", "testing"),
    ("server", "mcp", "cli", "demo", "library", "__init__", "__main__"),
)
OUTERMOST = {"server", "mcp", "cli", "demo", "library", "__init__", "__main__"}
# `window` is pure: it sees values and counts, nothing that stores or sends.
WINDOW_MAY_IMPORT = {*LAYERS[0], "tokens", "window"}

# Longer than the rule allows, because they read better whole. Each needs a reason.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}

MODULES = sorted(SOURCE.rglob("*.py"))


@cache
def parse_module(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def package_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def level_of(package: str) -> int:
    return next(level for level, names in enumerate(LAYERS) if package in names)


def imports_of(path: Path) -> set[str]:
    """The packages of ours that a module imports, late imports included."""
    results = set()
    for node in ast.walk(parse_module(path)):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [node.module]
                if node.module != "holdfast"
                else [f"holdfast.{alias.name}" for alias in node.names]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        results |= {name.split(".")[1] for name in names if name.startswith("holdfast.")}
    return {name for name in results if (SOURCE / name).exists() or (SOURCE / f"{name}.py").exists()}


def ids(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_imports_go_down_only() -> None:
    faults = []
    for path in MODULES:
        package = package_of(path)
        for imported in imports_of(path) - {package}:
            lower = level_of(imported) < level_of(package)
            bottom = level_of(imported) == level_of(package) == 0
            if not (lower or bottom or {imported, package} <= OUTERMOST):
                faults.append(f"{ids(path)}: {package} must not import {imported}")
            if package == "window" and imported not in WINDOW_MAY_IMPORT:
                faults.append(f"{ids(path)}: window must not import {imported}")
    assert faults == []


def test_a_module_is_small_and_says_what_it_is() -> None:
    faults = []
    for path in MODULES:
        tree, name = parse_module(path), ids(path)
        if not ast.get_docstring(tree):
            faults.append(f"{name} does not say what it is")
        if path.read_text().count("\n") > 800 and name not in LONG_FILES:
            faults.append(f"{name} is over 800 lines")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > 60 and f"{name}:{node.name}" not in LONG_FUNCTIONS:
                    faults.append(f"{name}:{node.name} has {length} lines")
    assert faults == []


def test_broad_excepts_are_outermost_and_the_environment_is_for_config() -> None:
    faults = []
    for path in MODULES:
        package = package_of(path)
        for node in ast.walk(parse_module(path)):
            if isinstance(node, ast.ExceptHandler) and package not in OUTERMOST:
                broad = node.type is None or getattr(node.type, "id", "") in ("Exception", "BaseException")
                faults += [f"{ids(path)}:{node.lineno} catches everything"] if broad else []
            if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv") and package != "config":
                faults.append(f"{ids(path)}:{node.lineno} reads the environment")
    assert faults == []


def test_names_of_tests_are_short() -> None:
    names = (
        node.name
        for path in Path(__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )
    assert [name for name in names if name.count("_") > 11] == []


def test_the_exceptions_are_still_needed() -> None:
    assert {name for name in LONG_FILES if not (SOURCE / name).exists()} == set()
    assert {name for name in LONG_FUNCTIONS if not (SOURCE / name.split(":")[0]).exists()} == set()


def test_every_backend_of_the_table_can_be_loaded() -> None:
    modules = {path.stem for path in (SOURCE / "backends").glob("*.py")} - {"__init__", "qmd_process"}
    assert {entry.partition(":")[0] for entry in extras.BACKENDS.values()} == modules
    for name in extras.BACKENDS:
        assert callable(extras.load_backend(name))
