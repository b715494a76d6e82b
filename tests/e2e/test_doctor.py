"""`clew doctor` and /doctor tell the truth: what was tried, the model in use, its key, and never more than that."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer

ALL_IS_WELL = "Everything works."


class Guarded(BaseHTTPRequestHandler):
    """A server that answers everything with one status."""

    status = 401

    def do_GET(self) -> None:
        body = json.dumps({"error": {"type": "authentication_error", "message": "invalid x-api-key"}}).encode()
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@pytest.fixture
def guarded(request: pytest.FixtureRequest) -> Iterator[str]:
    kind = type("Kind", (Guarded,), {"status": request.param})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def model_row(place: Place, **env: str) -> tuple[dict[str, Any], str]:
    """The row about the model, and what people read."""
    done = place.run("doctor", "--json", env=env)
    assert done.code == 0
    (row,) = [row for row in json.loads(done.out)["checks"] if row["name"] == "model"]
    return row, place.run("doctor", env=env).out


def test_a_server_that_answers(tmp_path: Path) -> None:
    with ModelServer([]) as server:
        row, told = model_row(Place(tmp_path, server.url))
        assert row["state"] == "ok"
        assert "anthropic/" in row["summary"]
        assert "the key in ANTHROPIC_API_KEY" in row["summary"]
        assert f"GET {server.url}/v1/models" in told
        assert server.requests == [], "no model was asked"


@pytest.mark.parametrize("guarded", [401, 403], indirect=True)
def test_a_key_that_is_refused(tmp_path: Path, guarded: str) -> None:
    row, told = model_row(Place(tmp_path, guarded))
    assert row["state"] == "problem"
    assert "refused the key in ANTHROPIC_API_KEY" in row["summary"]
    assert ALL_IS_WELL not in told


@pytest.mark.parametrize("guarded", [404], indirect=True)
def test_a_server_without_a_list_leaves_the_key_untried(tmp_path: Path, guarded: str) -> None:
    row, told = model_row(Place(tmp_path, guarded))
    assert row["state"] == "info"
    assert "the key was not tried" in told
    assert ALL_IS_WELL not in told


def test_a_port_that_is_closed(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    row, told = model_row(Place(tmp_path, url))
    assert row["state"] == "problem"
    assert url.removeprefix("http://") in row["summary"]
    assert ALL_IS_WELL not in told


def test_no_model_is_no_everything(tmp_path: Path) -> None:
    row, told = model_row(Place(tmp_path), ANTHROPIC_API_KEY="", CLEW_MODEL="")
    assert (row["state"], row["data"]["tried"]) == ("warning", None)
    assert ALL_IS_WELL not in told


@pytest.mark.parametrize("home", ["/proc", "/proc/nonexistent", "/proc/nonexistent/deeper"])
def test_a_home_that_cannot_be_written(tmp_path: Path, home: str) -> None:
    with ModelServer([]) as server:
        place = Place(tmp_path, server.url)
        out = place.run("doctor", env={"CLEW_HOME": home}).out
    (line,) = [line for line in out.splitlines() if line[8:].startswith("home ")]
    assert line.startswith("PROBLEM"), line
    assert ALL_IS_WELL not in out


def test_within_a_session_it_is_the_model_of_the_session(tmp_path: Path) -> None:
    with ModelServer([]) as server:
        place = Place(tmp_path, server.url)
        out = place.run("-p", "/doctor", "--model", "claude-haiku-4-5").out
    (line,) = [line for line in out.splitlines() if "model " in line and "claude" in line]
    assert "anthropic/claude-haiku-4-5" in line
