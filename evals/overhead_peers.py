"""How other proxies are started in front of the same upstream, if somebody installed them.

Each with what its own documents say for one model behind one address, and without what calls elsewhere.
"""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from evals.overhead_client import OPENAI
from evals.overhead_serving import Command, Contestant, program
from evals.overhead_upstream import MODEL

_LITELLM = """\
model_list:
  - model_name: {model}
    litellm_params:
      model: openai/{model}
      api_base: {upstream}/v1
      api_key: none
litellm_settings:
  telemetry: false
"""


def _litellm(executable: str) -> Callable[[int, str, Path], Command]:
    def command(port: int, upstream: str, home: Path) -> Command:
        settings = home / "litellm.yaml"
        settings.write_text(_LITELLM.format(model=MODEL, upstream=upstream))
        started = [executable, "--host", "127.0.0.1", "--port", str(port), "--config", str(settings)]
        # On this machine nobody else asks it, and keys are no part of what is compared.
        open_to_all = {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
        return started, {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "WARNING", **open_to_all}

    return command


def _context_guardian(executable: str) -> Callable[[int, str, Path], Command]:
    def command(port: int, upstream: str, home: Path) -> Command:
        settings = {"PORT": str(port), "UPSTREAM_URL": f"{upstream}/v1", "DATA_DIR": str(home)}
        given = {f"GUARDIAN_{name}": value for name, value in settings.items()}
        return [executable], {**given, "GUARDIAN_VERSION_CHECK": "0"}

    return command


KNOWN = {"litellm": _litellm, "context-guardian": _context_guardian}


def peers(folders: Sequence[Path], named: Sequence[str]) -> tuple[list[Contestant], list[str]]:
    """Those that are there, and the names of those that are not.

    Known ones are looked for in these folders; others are `named` with their command: NAME=COMMAND, in which
    {port}, {upstream} and {home} are filled in.
    """
    results, missing = [], []
    for name, prepared in KNOWN.items():
        executable = program(name, folders)
        if executable is None:
            missing.append(name)
        else:
            results.append(Contestant(name, OPENAI, prepared(executable)))
    for text in named:
        name, _, command = text.partition("=")
        results.append(Contestant(name, OPENAI, _parse_command(command)))
    return results, missing


def _parse_command(text: str) -> Callable[[int, str, Path], Command]:
    def command(port: int, upstream: str, home: Path) -> Command:
        places = {"port": str(port), "upstream": upstream, "home": str(home)}
        return [word.format(**places) for word in shlex.split(text)], {}

    return command
