"""Signing in to an HTTP server through the real command: by way of a browser, refreshed, refused, forgotten."""

import json
import re
import stat
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from e2e.command import CLEW, LIMIT_S, Place
from e2e.driver import Driven, is_asked
from fakes.model_server import ModelServer

SERVER = Path(__file__).parents[1] / "fakes" / "mcp_people_server.py"
CALL = {"calls": [{"call": "CallTool", "arguments": {"tool": "mcp__people__whoami", "arguments": {}}}]}
RUN = ("-p", "who am i?", "--allowed-tools", "mcp__people__whoami", "--mcp-wait", "60", "--output-format", "json")


@contextmanager
def people(*flags: str) -> Iterator[dict[str, str]]:
    """The server, for as long as it is needed."""
    with subprocess.Popen([sys.executable, str(SERVER), "--http", *flags], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()


def get(url: str, **headers: str) -> tuple[int, str]:
    """What a browser gets, wherever it is sent."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=LIMIT_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def seen(at: dict[str, str]) -> dict[str, int]:
    return json.loads(get(f"{at['base']}/_seen")[1])


def configured(tmp_path: Path, at: dict[str, str], model: str, **more: Any) -> Place:
    place = Place(tmp_path, model)
    place.clew_home.mkdir()
    server = {"type": "http", "url": at["url"], **more}
    place.clew_home.joinpath("mcp.json").write_text(json.dumps({"mcpServers": {"people": server}}))
    return place


class Login:
    """`clew mcp login people`, and what it showed."""

    def __init__(self, place: Place) -> None:
        self.process = subprocess.Popen(
            [CLEW, "mcp", "login", "people"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=place.project,
            env=place.env,
        )
        assert self.process.stderr is not None
        self.url = ""
        self.told: list[str] = []
        for line in self.process.stderr:
            self.told.append(line)
            if line.startswith("http"):
                self.url = line.strip()
                break

    def callback(self) -> str:
        """Where the browser would be sent back to."""
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.url).query)
        return query["redirect_uri"][0]

    def ended(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, out, "".join(self.told) + err


def test_a_person_signs_in_by_a_browser_and_nothing_else_begins_it(tmp_path: Path) -> None:
    script = {"replies": [], "last": {"text": "over"}}
    with people("--lasts", "3600") as at, ModelServer(script) as model:
        place = configured(tmp_path, at, model.url)
        alone = place.run(*RUN)
        assert "sign in" in alone.err, "one line says what is missing"
        assert seen(at) == {"given": 0, "refreshed": 0, "refused": 0, "registered": 0}, "nothing begins by itself"

        login = Login(place)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/callback", login.callback())
        code, text = get(login.url)
        assert (code, "You are signed in" in text) == (200, True)
        code, out, err = login.ended()
        assert code == 0, err
        assert out == "signed in to people: 4 tools\n"

        kept = place.clew_home / "mcp-logins.json"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        token = next(iter(json.loads(kept.read_text())["logins"].values()))["tokens"]["access_token"]
        assert token not in out + err


def test_tokens_are_refreshed_across_processes_and_a_lost_login_is_one_line(tmp_path: Path) -> None:
    replies = [CALL, {"text": "one"}, CALL, {"text": "two"}]
    script = {"replies": replies, "last": {"text": "three"}}
    with people("--lasts", "3600") as at, ModelServer(script) as model:
        place = configured(tmp_path, at, model.url)
        login = Login(place)
        get(login.url)
        assert login.ended()[0] == 0
        done = place.run(*RUN)
        assert done.result["result"] == "one", done.err
        assert any("you are in" in json.dumps(request.body) for request in model.requests)
        urllib.request.urlopen(urllib.request.Request(f"{at['base']}/_forget", method="POST"), timeout=LIMIT_S)
        done = place.run(*RUN)
        assert done.result["result"] == "two", done.err
        assert seen(at)["refreshed"] == 1
        assert seen(at)["registered"] == 1, "no second login was begun"
        assert "needs you to sign in" not in done.err
        assert "forgotten" in place.run("mcp", "logout", "people").out
        done = place.run(*RUN)
        assert "sign in" in done.err
        assert "nobody is signed in" in place.run("mcp", "logout", "people").out


def test_whoever_does_not_know_the_state_cannot_end_a_login(tmp_path: Path) -> None:
    with people("--lasts", "3600") as at:
        place = configured(tmp_path, at, "http://127.0.0.1:9")
        login = Login(place)
        back = login.callback()
        for words in ("?code=evil&state=guessed", "?code=evil", "", "/../other?state=x"):
            assert get(back + words)[0] == 400, words
        assert get(f"{back}?code=evil&state=guessed", Host="evil.example")[0] == 403
        state = urllib.parse.parse_qs(urllib.parse.urlsplit(login.url).query)["state"][0]
        assert get(f"{back}?error=access_denied&state={state}")[0] == 200
        code, out, err = login.ended()
        assert (code, out) == (1, "")
        assert "access_denied" in err
        assert not (place.clew_home / "mcp-logins.json").exists()
        assert seen(at)["given"] == 0


def test_what_needs_no_login_and_what_is_no_server(tmp_path: Path) -> None:
    with people() as at:
        place = configured(tmp_path, at, "http://127.0.0.1:9")
        done = place.run("mcp", "login", "people")
        assert (done.code, done.out) == (0, "people lets us in without a login\n")
        assert place.run("mcp", "login", "nobody").code == 2


def test_a_login_within_a_session_is_put_to_whoever_is_there(tmp_path: Path) -> None:
    with people("--lasts", "3600") as at, ModelServer([{"text": "hello"}, CALL, {"text": "let in"}]) as model:
        place = configured(tmp_path, at, model.url)
        flags = ("--permission-prompt-tool", "stdio", "--allowed-tools", "mcp__people", "--mcp-wait", "60")
        with Driven(place, *flags) as run:
            run.say("hi")
            run.result()
            run.say("/mcp login people")
            asked = run.until(is_asked("elicitation"))
            assert (asked["request"]["mcp_server_name"], asked["request"]["mode"]) == ("people", "url")
            run.answer(asked, {"action": "accept"})
            get(asked["request"]["url"])
            assert "signed in to people" in json.dumps(run.result())
            run.say("who am i?")
            assert run.result()["result"] == "let in"
            assert run.end() == 0
        assert any("you are in" in json.dumps(request.body) for request in model.requests)
