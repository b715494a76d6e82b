"""What tool processes inherit, and which programs we run ourselves."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from clew.composing.outside import EditorProblem, editor_command
from clew.llm.errors import MissingCredential
from clew.llm.keys.credentials import printed
from clew.llm.models.target import KeyCommand
from clew.system import environment
from clew.system.environment import (
    bash_version,
    find_program,
    find_shell,
    is_secret_name,
    own_program,
    platform_words,
    secret_values,
    tool_environment,
)

STEERING = [
    "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "RIPGREP_CONFIG_PATH", "BASH_ENV", "ENV", "NODE_OPTIONS",
    "GIT_DIR", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "GIT_EXTERNAL_DIFF", "LD_PRELOAD", "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS",
    "PROMPT_COMMAND", "BASH_FUNC_ls%%", "SHELLOPTS", "EDITOR", "MAKEFLAGS", "CLEW_HOME", "CDPATH",
    "npm_config_script_shell", "TMUX",
]  # fmt: skip
SECRETS = [
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "DB_PASSWORD", "PGPASSWORD", "MY_SECRET",
    "SLACK_BOT_TOKEN", "client_secret", "SSH_KEY_PASSPHRASE", "SERVICE_CREDENTIALS", "AZURE_STORAGE_CONNECTION_STRING",
    "API_KEY_2", "SENTRY_DSN", "SESSION_COOKIE", "GITLAB_PAT",
]  # fmt: skip
ORDINARY = [
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SHELL", "VIRTUAL_ENV", "JAVA_HOME", "GOPATH",
    "CARGO_HOME", "XDG_CONFIG_HOME", "TOKENIZERS_PARALLELISM", "SSH_AUTH_SOCK", "DISPLAY", "http_proxy", "CI",
]  # fmt: skip
UNKNOWN = ["KEYBOARD", "MONKEY", "AUTHOR", "STRIPE_LIVE", "MAILGUN", "JWT", "OTP_SEED", "HOMEPAGE", "lc_all", "PATHS"]


@pytest.mark.parametrize("name", STEERING)
def test_steering_variables_do_not_pass(name: str) -> None:
    found = tool_environment({name: "evil", "PATH": "/bin"}, keep=[name])
    assert found.get(name) != "evil"


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_do_not_pass_unless_the_user_says_so(name: str) -> None:
    assert is_secret_name(name)
    assert name not in tool_environment({name: "CANARY-1234"})
    assert tool_environment({name: "CANARY-1234"}, keep=[name])[name] == "CANARY-1234"


def test_provider_keys_never_pass() -> None:
    env = {"LAB_LOGIN": "CANARY-1234"}
    assert "LAB_LOGIN" in tool_environment(env, keep=["LAB_*"])
    assert "LAB_LOGIN" not in tool_environment(env, key_variables=["LAB_LOGIN"], keep=["LAB_LOGIN"])


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_variables_pass(name: str) -> None:
    assert tool_environment({name: "/value"})[name] == "/value"


def test_the_name_of_the_directory_is_not_inherited() -> None:
    assert "PWD" not in tool_environment({"PWD": "/somewhere/else"})


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_known_does_not_pass_unless_named(name: str) -> None:
    """A secret needs no telling name, so names are let through one by one."""
    assert name not in tool_environment({name: "CANARY"})
    assert tool_environment({name: "CANARY"}, keep=[name])[name] == "CANARY"


def test_a_final_star_lets_a_family_through() -> None:
    env = {"APP_A": "1", "APP_B": "2", "APPLE": "3", "OTHER": "4"}
    found = tool_environment(env, keep=["APP_*", "*"])
    assert {name for name in found if name in env} == {"APP_A", "APP_B"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/a:.:/b", "/a:/b"), (":/a", "/a"), ("/a:", "/a"), ("bin:/a:node_modules/.bin", "/a"),
        ("", "/usr/local/bin:/usr/bin:/bin"),        (".", "/usr/local/bin:/usr/bin:/bin"), ("~/bin:/a", "/a"),
    ],
)  # fmt: skip
def test_the_path_has_no_relative_element(given: str, kept: str) -> None:
    assert tool_environment({"PATH": given})["PATH"] == kept


def test_urls_with_a_password_do_not_pass() -> None:
    env = {"DATABASE_URL": "postgres://u:hunter2@db/x", "HTTPS_PROXY": "http://proxy:3128"}
    found = tool_environment(env)
    assert "DATABASE_URL" not in found
    assert found["HTTPS_PROXY"] == "http://proxy:3128"
    assert "HTTP_PROXY" not in tool_environment({"HTTP_PROXY": "http://u:hunter2@proxy/"})


def test_nothing_pages_colours_or_prompts() -> None:
    found = tool_environment({"TERM": "xterm-256color", "PAGER": "less"})
    fixed = {
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "NO_COLOR": "1",
        "CLEW": "1",
    }
    assert {name: found[name] for name in fixed} == fixed
    assert found["PATH"]
    assert found["LANG"]


def test_secret_values_for_redaction() -> None:
    env = {"A_TOKEN": "CANARY-1234", "B_TOKEN": "short", "HOME": "/home/someone", "LAB_LOGIN": "CANARY-5678"}
    assert sorted(secret_values(env, key_variables=["LAB_LOGIN"])) == ["CANARY-1234", "CANARY-5678"]


@pytest.fixture
def no_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "SYSTEM_DIRS", ())


def program(directory: Path, name: str = "tool") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


@pytest.mark.usefixtures("no_system")
def test_programs_do_not_come_from_the_project(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "bin"
    program(project / "bin")
    good = program(elsewhere)
    (tmp_path / "linked").symlink_to(project / "bin")
    relay = tmp_path / "relay"
    relay.mkdir()
    (relay / "tool").symlink_to(project / "bin" / "tool")
    path = f"bin::.:{project}/bin:{tmp_path}/linked:{relay}:{elsewhere}"
    assert find_program("tool", env={"PATH": path}, outside=[project]) == str(good)
    assert find_program("tool", env={"PATH": f"{project}/bin"}, outside=[project]) == ""


@pytest.mark.usefixtures("no_system")
def test_only_files_that_can_run_count(tmp_path: Path) -> None:
    (tmp_path / "a" / "tool").mkdir(parents=True)
    plain = program(tmp_path / "b")
    plain.chmod(0o644)
    assert find_program("tool", env={"PATH": f"{tmp_path}/a:{tmp_path}/b"}) == ""


def test_system_directories_come_first(tmp_path: Path) -> None:
    program(tmp_path, "sh")
    found = find_program("sh", env={"PATH": str(tmp_path)}, outside=[Path("/")])
    assert found in ("/usr/bin/sh", "/bin/sh")


def test_bash_and_its_version_are_the_real_ones() -> None:
    shell = find_shell(os.environ)
    assert shell is not None
    command = [shell.path, "--noprofile", "--norc", "-c", 'echo "${BASH_VERSION%%(*}"']
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == shell.version


def test_the_version_is_read_without_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    bash = shutil.which("bash")
    assert bash is not None

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(environment.subprocess, "run", forbidden)
    assert bash_version(bash)[0].isdigit()


def test_a_bash_without_the_mark_is_asked(tmp_path: Path) -> None:
    odd = tmp_path / "bash"
    odd.write_text("#!/bin/sh\necho 'GNU bash, version 9.8.7(1)-release'\n")
    odd.chmod(0o755)
    assert bash_version(str(odd)) == "9.8.7"
    odd.write_text("#!/bin/sh\nexit 1\n")
    assert bash_version(str(odd)) == ""
    assert bash_version(str(tmp_path / "missing")) == ""


def test_platform_is_one_line() -> None:
    assert os.uname().machine in platform_words()
    assert "\n" not in platform_words()


@pytest.mark.parametrize("way", ["a folder on the path", "a link on the path", "a link in a folder on the path"])
def test_a_program_of_ours_is_never_one_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """An activated environment of the project comes first on PATH, and commands can write it."""
    project, own = tmp_path / "project", tmp_path / "own"
    for folder in (project / ".git", project / ".venv" / "bin", own):
        folder.mkdir(parents=True)
    for folder in (project / ".venv" / "bin", own):
        (folder / "viewer").write_text("#!/bin/sh\n")
        (folder / "viewer").chmod(0o755)
    first = project / ".venv" / "bin"
    if way == "a link on the path":
        first = tmp_path / "linked"
        first.symlink_to(project / ".venv" / "bin")
    elif way == "a link in a folder on the path":
        first = tmp_path / "links"
        first.mkdir()
        (first / "viewer").symlink_to(project / ".venv" / "bin" / "viewer")
    monkeypatch.chdir(project)
    env = {"PATH": f"{first}:bin::{own}"}
    assert own_program("viewer", env) == str(own / "viewer")
    assert own_program(str(first / "viewer"), env) == ""
    assert editor_command({**env, "EDITOR": "viewer -n"}) == [str(own / "viewer"), "-n"]
    (own / "viewer").unlink()
    assert own_program("viewer", env) == ""
    with pytest.raises(EditorProblem):
        editor_command({**env, "EDITOR": "viewer"})


async def test_a_key_command_of_the_project_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    script = project / "key.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran; echo key\n")
    script.chmod(0o755)
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f"{project}:/usr/bin:/bin")
    for name in (str(script), "key.sh", "./key.sh"):
        with pytest.raises(MissingCredential):
            await printed(KeyCommand(argv=(name,), timeout_s=60), "somebody")
    assert not (tmp_path / "ran").exists()
