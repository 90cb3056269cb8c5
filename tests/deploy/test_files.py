"""What is written for Docker, systemd and proxies is true of Holdfast: parsed, and compared with it."""

import re
import shlex
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from typer.main import get_command

from holdfast import config
from holdfast.backends.s3 import S3Workspace
from holdfast.cli import app
from holdfast.config import Settings
from holdfast.memory.folder import build_workspace
from holdfast.memory.private import MemoryGate
from holdfast.memory.remote_vectors import choose_vectors
from holdfast.memory.vectors import StoredVectors
from holdfast.server.guard import HEALTH
from holdfast.wiring import build_upstreams, vector_options
from tests.deploy.installed import EXTRAS

ROOT = Path(__file__).parents[2]
SETTINGS = {f"HOLDFAST_{item.name.upper()}" for item in fields(Settings)}
COMMANDS = set(get_command(app).commands)
COMPOSE = YAML(typ="safe").load(ROOT / "docker-compose.yml")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, each with its words on one line."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    return [
        (name, rest.strip()) for name, _, rest in (line.partition(" ") for line in text.split("\n") if line)
    ]


def words_of(name: str) -> list[list[str]]:
    return [shlex.split(rest) for instruction, rest in instructions() if instruction == name]


def environment() -> dict[str, str]:
    """What the image sets."""
    return dict(pair.split("=", 1) for words in words_of("ENV") for pair in words)


def in_compose(service: str, **env: str) -> dict[str, str]:
    """A service's environment, with what `.env` would say."""
    environment = COMPOSE["services"][service]["environment"]
    return {name: fill_in(str(value), env) for name, value in environment.items()}


def fill_in(text: str, env: dict[str, str]) -> str:
    return re.sub(r"\$\{(\w+)(?::-([^}]*))?\}", lambda got: env.get(got[1]) or got[2] or "", text)


def env_example(**passwords: str) -> dict[str, str]:
    """What `.env` says when somebody has chosen their passwords; a line may name the ones above it."""
    results: dict[str, str] = {}
    for line in (ROOT / "deploy" / "env.example").read_text().splitlines():
        if line and not line.startswith("#"):
            name, value = line.split("=", 1)
            results[name] = passwords.get(name) or fill_in(value, results)
    return results


def test_everything_that_the_image_copies_is_there_and_not_ignored():
    copied = [word for words in words_of("COPY") if not words[0].startswith("--from") for word in words[:-1]]
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert "src" in copied
    assert {name for name in copied if not (ROOT / name).exists()} == set()
    assert set(copied) == set(allowed)


def test_image_runs_unprivileged_and_starts_existing_command():
    named = [name for name, _ in instructions()]
    assert named.count("FROM") == 2
    assert words_of("USER") == [["holdfast"]]
    assert named.index("USER") > len(named) - 1 - named[::-1].index("RUN")
    assert words_of("VOLUME") == [[environment()["HOLDFAST_HOME"]]]
    (entry,), (command,) = words_of("ENTRYPOINT"), words_of("CMD")
    assert entry == ["[holdfast]"]
    assert command[0].strip("[]") in COMMANDS


def test_the_image_asks_how_it_is_where_nobody_needs_a_key():
    (check,) = (rest for name, rest in instructions() if name == "HEALTHCHECK")
    assert f"'{HEALTH}'" in check
    code = re.search(r'"-c", "(.*)"\]', check)[1]
    compile(code, "healthcheck", "exec")


def test_image_and_compose_settings_exist_and_are_valid(tmp_path):
    (port,) = words_of("EXPOSE")
    assert port == [str(Settings().port)]
    given = {**environment(), **in_compose("holdfast")}
    ours = {name: value for name, value in given.items() if name.startswith("HOLDFAST_")}
    assert ours.keys() <= SETTINGS
    loaded = config.load({"home": tmp_path}, ours).settings
    assert loaded.host == "0.0.0.0"
    assert loaded.store.startswith("sqlite:///")
    # The name of the other container is one of the local network: memories may be told to it.
    assert MemoryGate.parse(loaded.memory_gate).allows(loaded.upstream)
    assert build_upstreams(loaded) is not None


def test_compose_opens_nothing_to_others():
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", ())]
    assert ports == [f"127.0.0.1:{Settings().port}:{Settings().port}"]


def test_ollama_has_one_model_one_request_and_a_small_cache():
    assert in_compose("ollama") == {
        "OLLAMA_FLASH_ATTENTION": "1",
        "OLLAMA_KV_CACHE_TYPE": "q8_0",
        "OLLAMA_NUM_PARALLEL": "1",
        "OLLAMA_MAX_LOADED_MODELS": "1",
        "OLLAMA_KEEP_ALIVE": "60m",
    }
    assert in_compose("holdfast")["HOLDFAST_PARALLEL"] == in_compose("ollama")["OLLAMA_NUM_PARALLEL"]


def test_one_variable_says_how_long_a_model_stays():
    for given, expected in (({}, "60m"), ({"HOLDFAST_KEEP_ALIVE": "2h"}, "2h")):
        assert in_compose("holdfast", **given)["HOLDFAST_KEEP_ALIVE"] == expected
        assert in_compose("ollama", **given)["OLLAMA_KEEP_ALIVE"] == expected


def test_the_profile_for_scale_leads_holdfast_to_its_services(tmp_path):
    written = env_example(POSTGRES_PASSWORD="postgres-password", MINIO_ROOT_PASSWORD="minio-password")
    started = set(written["COMPOSE_PROFILES"].split(","))
    scaled = {name for name, item in COMPOSE["services"].items() if started & set(item.get("profiles", ()))}
    assert scaled == {"postgres", "minio", "bucket"}
    settings = config.load({"home": tmp_path}, in_compose("holdfast", **written)).settings

    user, database = (in_compose("postgres")[name] for name in ("POSTGRES_USER", "POSTGRES_DB"))
    assert settings.store == f"postgresql://{user}:postgres-password@postgres/{database}"
    assert in_compose("postgres", **written)["POSTGRES_PASSWORD"] == "postgres-password"
    assert choose_vectors(vector_options(settings)) is not StoredVectors

    minio, bucket = (in_compose(name, **written) for name in ("minio", "bucket"))
    assert (settings.s3_key, settings.s3_secret) == (minio["MINIO_ROOT_USER"], minio["MINIO_ROOT_PASSWORD"])
    assert bucket["MC_HOST_minio"] == f"http://{settings.s3_key}:{settings.s3_secret}@minio:9000"
    assert settings.s3_endpoint == "http://minio:9000"
    assert settings.s3_path_style
    partition = COMPOSE["services"]["bucket"]["command"][-1].partition("/")[2]
    assert settings.workspace.startswith(f"s3://{partition}/")
    assert isinstance(build_workspace(settings), S3Workspace)


def test_what_compose_asks_for_is_in_the_example_of_its_settings():
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
    assert asked - {"HOLDFAST_LANGUAGE", "HOLDFAST_KEEP_ALIVE"} <= env_example().keys()


def test_qdrant_can_take_the_place_of_pgvector(tmp_path):
    lines = (ROOT / "deploy" / "env.example").read_text().splitlines()
    other = dict(line[2:].split("=", 1) for line in lines if re.match(r"# [A-Z_]+=", line))
    assert set(other["COMPOSE_PROFILES"].split(",")) == {"scale", *COMPOSE["services"]["qdrant"]["profiles"]}
    given = in_compose("holdfast", **{**env_example(), **other})
    settings = config.load({"home": tmp_path}, given).settings
    assert "qdrant" in settings.vectors
    assert choose_vectors(vector_options(settings)) is not StoredVectors


def test_the_image_has_the_packages_that_the_profile_needs():
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', (ROOT / "Dockerfile").read_text())
    assert set(extras.split(",")) == EXTRAS


def test_every_volume_is_declared_and_every_service_named():
    mounted = {
        volume.split(":")[0]
        for service in COMPOSE["services"].values()
        for volume in service.get("volumes", ())
    }
    assert mounted == COMPOSE["volumes"].keys()
    assert set(COMPOSE["services"]["holdfast"]["depends_on"]) <= COMPOSE["services"].keys()


def test_the_unit_starts_a_command_that_exists_with_settings_that_exist():
    unit = (ROOT / "deploy" / "holdfast.service").read_text()
    (started,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    assert started.split()[0].endswith("/bin/holdfast")
    assert started.split()[1] in COMMANDS
    named = set(re.findall(r"^Environment=(\w+)=", unit, re.MULTILINE))
    assert named
    assert named <= SETTINGS


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze here")
def test_systemd_has_nothing_to_say_against_the_unit(tmp_path):
    unit = tmp_path / "holdfast.service"
    text = (ROOT / "deploy" / "holdfast.service").read_text()
    # It looks whether the program is there, which it is only after the installation.
    unit.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE))
    result = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
    ours = [line for line in result.stderr.splitlines() if "holdfast.service" in line]
    assert (result.returncode, ours) == (0, [])


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_a_proxy_leads_to_holdfast_and_does_not_hold_answers_back(name):
    text = (ROOT / "deploy" / name).read_text()
    assert text.count("{") == text.count("}")
    assert f"127.0.0.1:{Settings().port}" in text
    assert "flush_interval -1" in text or "proxy_buffering off" in text
    for setting in ("allowed_hosts", "require_key"):
        assert setting in text


@pytest.mark.parametrize("page", ["docs/deploy.md", "docker-compose.yml", "Dockerfile"])
def test_every_command_of_ours_that_is_written_there_exists(page):
    text = (ROOT / page).read_text()
    run = re.findall(r"docker compose (?:run --rm|exec) holdfast (?:holdfast )?(\w+)", text)
    direct = re.findall(r"bin/holdfast (\w+)", text)
    assert run
    assert set(run) | set(direct) <= COMMANDS
