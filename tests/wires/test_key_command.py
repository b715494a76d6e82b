"""Keys that a command prints: run without a shell, kept until they end or are refused, never shown."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.config.schema import Provider, ProviderAuth
from clew.llm.errors import AuthenticationFailed, LLMError, MissingCredential
from clew.llm.keys import credentials
from clew.llm.keys.credentials import MAX_OUTPUT_BYTES, Issued, read_key
from clew.llm.models.connect import configured_providers, target_of
from clew.llm.remote import RemoteModel
from clew.llm.retry import RetryPolicy
from clew.text.redact import redact
from fakes.model_server import ModelServer
from unit.tools.conftest import until
from wires.support import Sleeps, ask, collect, failure

NOW_S = 1_800_000_000.0


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside the clone: the interpreter of this run may lie in it, and no program of a project gives keys."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    monkeypatch.chdir(place)


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """What an earlier test's command printed is of no use to the next."""
    credentials._KEPT.clear()
    yield
    credentials._KEPT.clear()


def model_of(argv: list[str], url: str, *, name: str = "corp/big", **auth: Any) -> RemoteModel:
    provider = name.partition("/")[0]
    settings = Provider(base_url=url, auth=ProviderAuth(command=tuple(argv), **auth))
    target = target_of(name, providers={provider: settings}, env={})
    return RemoteModel(target, RetryPolicy(), sleep=Sleeps(), random=lambda: 0.0, now_s=lambda: 0.0)


def script(folder: Path, code: str) -> list[str]:
    """A program that counts how often it ran, in `runs` beside it."""
    path = folder / "helper.py"
    runs = folder / "runs"
    path.write_text(f"import sys, os, json, time\nopen({str(runs)!r}, 'a').write('x')\n{code}\n")
    return [sys.executable, str(path)]


def runs(folder: Path) -> int:
    path = folder / "runs"
    return len(path.read_text()) if path.exists() else 0


async def asked(model: RemoteModel) -> None:
    await collect(model, ask("hi"))
    await model.close()


async def test_the_key_is_sent_and_asked_for_once(tmp_path: Path):
    argv = script(tmp_path, "print('short-lived-key-1')")
    with ModelServer([{"text": "a"}] * 3) as server:
        first = model_of(argv, server.url)
        await collect(first, ask("hi"))
        await asked(first)
        await asked(model_of(argv, server.url, name="corp/small"))
    assert [one.headers["authorization"] for one in server.requests] == ["Bearer short-lived-key-1"] * 3
    assert runs(tmp_path) == 1, "the models of a provider share what was printed"
    assert "short-lived-key-1" not in redact("it said short-lived-key-1")


async def test_a_refused_key_is_replaced_once_and_nobody_need_know(tmp_path: Path):
    argv = script(tmp_path, f"print('key-number-' + str(len(open({str(tmp_path / 'runs')!r}).read())))")
    with ModelServer([{"fault": "unauthorized"}, {"text": "a"}]) as server:
        events = await collect(model_of(argv, server.url), ask("hi"))
    assert [one.headers["authorization"] for one in server.requests] == ["Bearer key-number-1", "Bearer key-number-2"]
    assert not [event for event in events if type(event).__name__ == "Retrying"]


async def test_a_key_that_stays_refused_is_told_with_what_to_check(tmp_path: Path):
    argv = script(tmp_path, "print('key-that-nobody-wants')")
    with ModelServer([{"fault": "unauthorized", "message": "bad key-that-nobody-wants"}] * 3) as server:
        error = await failure(model_of(argv, server.url), ask("hi"))
    assert isinstance(error, AuthenticationFailed)
    assert "providers.corp.auth.command" in str(error)
    assert "key-that-nobody-wants" not in str(error)
    assert (len(server.requests), runs(tmp_path)) == (2, 2)


async def test_a_key_whose_time_is_over_is_replaced_before_it_is_sent(tmp_path: Path):
    argv = script(tmp_path, "print(json.dumps({'token': 'tok-0123456789', 'expires_at': time.time() - 5}))")
    with ModelServer([{"text": "a"}] * 2) as server:
        model = model_of(argv, server.url)
        await collect(model, ask("hi"))
        await asked(model)
    assert runs(tmp_path) == 2


async def test_lifetime_of_the_settings_beats_what_the_command_says(tmp_path: Path):
    argv = script(tmp_path, "print(json.dumps({'token': 'tok-0123456789', 'expires_at': time.time() - 5}))")
    with ModelServer([{"text": "a"}] * 2) as server:
        model = model_of(argv, server.url, lifetime_s=3600.0)
        await collect(model, ask("hi"))
        await asked(model)
    assert runs(tmp_path) == 1


async def test_aws_keys_of_a_command_sign_the_request(tmp_path: Path):
    keys = {"Version": 1, "AccessKeyId": "AKIDFROMCOMMAND", "SecretAccessKey": "z" * 40, "SessionToken": "st-0123456"}
    argv = script(tmp_path, f"print({json.dumps(json.dumps(keys))})")
    settings = Provider(location="eu-west-1", auth=ProviderAuth(command=tuple(argv)))
    with ModelServer([{"text": "a"}]) as server:
        env = {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.url}
        target = target_of("bedrock/x-v1:0", providers={"bedrock": settings}, env=env)
        await asked(RemoteModel(target, RetryPolicy()))
    headers = server.requests[0].headers
    assert "Credential=AKIDFROMCOMMAND/" in headers["authorization"]
    assert headers["x-amz-security-token"] == "st-0123456"


@pytest.mark.parametrize(
    ("name", "auth", "header"),
    [
        ("anthropic/claude-opus-5-5", {}, "x-api-key"),
        ("anthropic/claude-opus-5-5", {"send_as": "bearer"}, "authorization"),
        ("gemini/gemini-3.8-flash", {}, "x-goog-api-key"),
        ("azure/gpt", {}, "authorization"),
        ("azure/gpt", {"send_as": "api-key"}, "api-key"),
        ("corp/big", {}, "authorization"),
    ],
)
async def test_the_header_is_the_providers_unless_the_settings_say_otherwise(
    tmp_path: Path, name: str, auth: dict[str, Any], header: str
):
    argv = script(tmp_path, "print('k-0123456789')")
    with ModelServer([{"text": "a"}]) as server:
        await asked(model_of(argv, server.url, name=name, **auth))
    assert server.requests[0].headers[header].endswith("k-0123456789")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('not logged in: run login first', file=sys.stderr); sys.exit(3)", "exit code 3: not logged in"),
        ("print('two words')", "no key"),
        ("print('line-one\\nline-two')", "no key"),
        ("pass", "no key"),
        ("print('{\"token\": 5}')", "no key"),
        ("print('{broken')", "no key"),
        ("print('x' * 20_000)", "no key"),
        (f"print('x' * {MAX_OUTPUT_BYTES + 1})", "more than"),
    ],
)
async def test_what_goes_wrong_is_one_line_that_says_where_to_look(tmp_path: Path, code: str, words: str):
    with ModelServer([{"text": "a"}]) as server:
        error = await failure(model_of(script(tmp_path, code), server.url), ask("hi"))
    assert isinstance(error, MissingCredential)
    assert words in str(error)
    assert "providers.corp.auth.command" in str(error)
    assert "\n" not in str(error)
    assert not server.requests, "nothing is sent without the key"
    assert runs(tmp_path) == 1, "a command that fails is not repeated"


async def test_a_secret_on_stderr_is_not_repeated(tmp_path: Path):
    secret = "sk-ant-" + "api03-" + "a1B2c3D4" * 6
    code = f"print('denied for token {secret}', file=sys.stderr); sys.exit(1)"
    error = await failure(model_of(script(tmp_path, code), "http://127.0.0.1:9"), ask("hi"))
    assert "denied for" in str(error)
    assert secret not in str(error)


async def test_a_program_that_is_not_there_is_named():
    error = await failure(model_of(["no-such-program-anywhere"], "http://127.0.0.1:9"), ask("hi"))
    assert "no-such-program-anywhere" in str(error)
    assert "cannot be run" in str(error)


async def test_a_command_that_hangs_is_given_up(tmp_path: Path):
    argv = script(tmp_path, "time.sleep(600)")
    error = await failure(model_of(argv, "http://127.0.0.1:9", timeout_s=0.2), ask("hi"))
    assert "did not end within 0.2 s" in str(error)


async def test_an_interrupt_ends_the_command_with_all_it_started(tmp_path: Path):
    pid_file = tmp_path / "pid"
    code = (
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid_file) + '.new'!r}, 'w').write(str(child.pid))\n"
        f"os.rename({str(pid_file) + '.new'!r}, {str(pid_file)!r})\n"
        "child.wait()"
    )
    asking = asyncio.create_task(collect(model_of(script(tmp_path, code), "http://127.0.0.1:9"), ask("hi")))
    assert await until(pid_file.exists)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await until(lambda: not _lives(int(pid_file.read_text())))


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def test_nothing_is_interpreted(tmp_path: Path):
    argv = [*script(tmp_path, "print(sys.argv[1].encode().hex())"), "$(touch made) `id` ; | ~ *"]
    with ModelServer([{"text": "a"}]) as server:
        await asked(model_of(argv, server.url))
    sent = server.requests[0].headers["authorization"].removeprefix("Bearer ")
    assert bytes.fromhex(sent).decode() == "$(touch made) `id` ; | ~ *"


async def test_it_runs_where_no_project_lies_and_without_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:rel")
    argv = script(tmp_path, "print((os.getcwd() + '|' + os.environ['PATH']).encode().hex())")
    with ModelServer([{"text": "a"}]) as server:
        await asked(model_of(argv, server.url))
    sent = bytes.fromhex(server.requests[0].headers["authorization"].removeprefix("Bearer ")).decode()
    where, _, path = sent.partition("|")
    assert where == str(home)
    assert all(entry.startswith("/") for entry in path.split(":"))


@pytest.mark.parametrize(
    ("data", "left_s"),
    [
        ({"expires_at": NOW_S + 3600}, 3540),
        ({"expires_on": str(int(NOW_S + 3600))}, 3540),
        ({"expiry": (NOW_S + 3600) * 1000}, 3540),
        ({"expiration": "2027-01-15T09:00:00Z"}, 3540),
        ({"expires_in": 3600}, 3540),
        ({"expires_in": 60}, 30),
        ({"expires_at": NOW_S - 10}, -10),
        ({}, float("inf")),
        ({"expires_at": True}, float("inf")),
        ({"expires_at": "some day"}, float("inf")),
        ({"expires_at": [1]}, float("inf")),
    ],
    ids=str,
)
def test_moments_in_all_their_spellings(data: dict[str, Any], left_s: float):
    issued = read_key(json.dumps({"token": "t-0123456789"} | data), "corp", now_s=NOW_S)
    assert issued.until_s - NOW_S == pytest.approx(left_s)
    assert isinstance(issued, Issued)
    assert "t-0123456789" not in repr(issued)


def test_a_command_makes_a_provider_ready_without_being_run(tmp_path: Path):
    argv = script(tmp_path, "print('k')")
    settings = {"vertex": Provider(project="p", auth=ProviderAuth(command=tuple(argv)))}
    (status,) = [one for one in configured_providers({}, settings) if one.name == "vertex"]
    assert (status.ready, status.method) == (True, "command")
    assert runs(tmp_path) == 0
    with pytest.raises(LLMError, match="GOOGLE_CLOUD_PROJECT"):
        target_of("vertex/x", providers={"vertex": Provider(auth=ProviderAuth(command=("a",)))}, env={})
