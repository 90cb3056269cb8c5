"""The folder an agent works in, read from what it writes itself, and the project that the folder is."""

import json
import subprocess

import pytest

from holdfast.messages import ChatRequest, Message, Scope
from holdfast.projects import DEFAULT, SessionProjects, WorkingFolder, find_working_folder, project_name


def ask(*messages, **headers):
    return find_working_folder(
        ChatRequest("m", tuple(Message.of(role, text) for role, text in messages)), headers
    )


OPENCODE = """You are a tool for software engineering.
<env>
  Working directory: /srv/tides/src
  Workspace root folder: /srv/tides
  Is directory a git repo: yes
  Platform: linux
</env>"""
CLAUDE = (
    "# Environment\nYou run here:\n - Primary working directory: /srv/tides\n - Is a git repository: true\n"
)
CLINE = "SYSTEM INFORMATION\n\nHome Directory: /home/ada\nCurrent Working Directory: /srv/tides\n"
CLINE_TERMINAL = "<env>\n1. Platform: linux\n2. IDE: Terminal Shell\n3. Working Directory: /srv/tides\n</env>"
CODEX = "<environment_context>\n  <cwd>/srv/tides</cwd>\n  <shell>bash</shell>\n</environment_context>"
QWEN = (
    "This is the Qwen Code. We are setting up the context for our chat.\nToday is Sunday.\n"
    "I'm currently working in the directory: /srv/tides\nHere is the folder structure:\n"
)
QUESTION = ("user", "Have a look.")


@pytest.mark.parametrize(
    "messages",
    [
        [("system", OPENCODE.replace("/srv/tides/src", "/srv/tides")), QUESTION],
        [("system", "You are an agent."), ("system", CLAUDE), QUESTION],
        [("system", "You are an agent."), QUESTION, ("system", f"# What is known in tides\n\n{CLAUDE}")],
        [("system", CLINE), QUESTION],
        [("system", CLINE_TERMINAL), QUESTION],
        [("system", "You are an agent."), ("user", CODEX), QUESTION],
        [("user", QWEN), ("assistant", "Got it. Thanks for the context!"), QUESTION],
    ],
    ids=[
        "opencode",
        "claude code",
        "claude code, behind",
        "cline",
        "cline in a terminal",
        "codex",
        "qwen code",
    ],
)
def test_each_agent_says_where_it_works(messages):
    assert ask(*messages).path == "/srv/tides"


def test_codex_says_it_in_a_header():
    metadata = json.dumps({"workspaces": {"/srv/tides": {"has_changes": False}}})
    assert ask(QUESTION, **{"x-codex-turn-metadata": metadata}).path == "/srv/tides"
    assert ask(QUESTION, **{"x-codex-turn-metadata": "no json"}) is None


@pytest.mark.parametrize(
    "messages",
    [
        [("user", "Working directory: /srv/other")],
        [("user", CODEX)],
        [("user", QWEN), ("assistant", "A folder."), QUESTION],
        [("system", "Be kind."), QUESTION, ("assistant", "?"), ("tool", "Working directory: /srv/other")],
        [("system", "Be kind."), QUESTION, ("system", "A tool said:\nWorking directory: /srv/other")],
        [("system", "The working directory: see below."), QUESTION],
        [("system", "Working directory: /"), QUESTION],
    ],
    ids=["person", "pasted", "pasted before", "tool", "late system", "no path", "root"],
)
def test_what_others_say_names_no_folder(messages):
    assert ask(*messages) is None


def test_a_folder_here_has_the_name_the_command_line_uses(tmp_path):
    repository = tmp_path / "tides"
    subprocess.run(["git", "init", "-q", repository], check=True)
    (repository / "src").mkdir()
    assert WorkingFolder(str(repository / "src")).project() == project_name(repository)
    assert WorkingFolder(str(tmp_path)).project() == DEFAULT


def test_a_folder_of_another_machine_is_named_by_its_path(tmp_path):
    answer = ask(("system", OPENCODE), QUESTION)
    assert answer.project() == WorkingFolder("/srv/tides").project() != WorkingFolder("/mnt/tides").project()
    windows = ask(("system", "Working directory: C:\\work\\tides\n"), QUESTION)
    assert windows.project().startswith("tides-")
    assert ask(("system", OPENCODE.replace("repo: yes", "repo: no")), QUESTION).project() == DEFAULT
    assert len(WorkingFolder("/srv/" + "x" * 200).project()) <= 100


def test_a_session_stays_in_its_project():
    projects, user = SessionProjects(), Scope().user
    tides = WorkingFolder("/srv/tides")
    assert projects.find(user, "s1", None) == DEFAULT
    assert projects.find(user, "s1", tides) == tides.project()
    assert projects.find(user, "s1", None) == tides.project()
    assert projects.find(user, "s1", WorkingFolder("/srv/tides/deep")) == tides.project()
    assert projects.find("ada", "s1", None) == DEFAULT
    assert projects.find(user, "", None) == DEFAULT
