"""The sandbox as a user meets it: commands it holds run without a question, and the settings decide."""

from pathlib import Path
from typing import Any

import pytest

from clew.system.sandbox.status import probe_now
from e2e.command import Done, Place
from e2e.driver import Driven
from fakes.model_server import ModelServer


@pytest.fixture(scope="module", autouse=True)
def needs_a_sandbox() -> None:
    if not probe_now().enforced:
        pytest.skip("this machine enforces no sandbox, so there is none to wire")


def bash(tmp_path: Path, command: str, *args: str, **arguments: Any) -> tuple[Place, Done, str]:
    """One command of the model; the place, the run, and what the model was told."""
    call = {"call": "Bash", "arguments": {"command": command, **arguments}}
    with ModelServer([{"calls": [call]}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        done = place.run("-p", "go", "--output-format", "json", *args)
        told = str(server.requests[1].body["messages"][-1])
    return place, done, told


def test_a_held_command_runs_without_a_question(tmp_path: Path) -> None:
    place, done, told = bash(tmp_path, "python3 -c \"open('made.txt','w').write('x')\"", "--trust")
    assert done.result["permission_denials"] == []
    assert (place.project / "made.txt").read_text() == "x", told


def test_it_really_is_held(tmp_path: Path) -> None:
    outside = tmp_path / "home" / "outside.txt"
    _, done, told = bash(tmp_path, f"echo x > {outside}; test -w /usr || echo refused", "--trust")
    assert done.result["permission_denials"] == []
    assert "refused" in told
    assert not outside.exists()


def test_the_users_state_is_hidden_from_commands(tmp_path: Path) -> None:
    _, _, told = bash(tmp_path, f"python3 -c \"import os; print(os.listdir('{tmp_path}/home/.clew'))\"", "--trust")
    assert "projects" not in told


def test_leaving_it_asks(tmp_path: Path) -> None:
    place, done, _ = bash(tmp_path, "touch made.txt", "--trust", leave_sandbox=True)
    assert [denial["tool_name"] for denial in done.result["permission_denials"]] == ["Bash"]
    assert not (place.project / "made.txt").exists()


@pytest.mark.parametrize("destination", ["session", "localSettings"])
def test_leaving_it_can_be_allowed_for_the_session_or_always_exactly(tmp_path: Path, destination: str) -> None:
    outside = tmp_path / "home" / "outside.txt"

    def leave(command: str) -> dict[str, Any]:
        return {"calls": [{"call": "Bash", "arguments": {"command": command, "leave_sandbox": True}}]}

    again = f"echo x >> {outside}"
    script = [leave(again), leave(again), leave(f"{again}; true"), {"text": "ok"}, leave(again), {"text": "ok"}]
    asked: list[str] = []
    with ModelServer(script) as server:
        place = Place(tmp_path, server.url)
        outside.parent.mkdir(exist_ok=True)
        for _ in range(2):
            with Driven(place, "--trust", "--permission-prompt-tool", "stdio") as run:
                run.say("go")
                while True:
                    line = run.until(lambda line: line["type"] in ("result", "control_request"))
                    if line["type"] == "result":
                        run.end()
                        break
                    asked.append(line["request"]["input"]["command"])
                    (offer,) = line["request"]["permission_suggestions"]
                    if len(asked) > 1:
                        run.answer(line, {"behavior": "deny", "message": "no"})
                        continue
                    assert offer["rules"] == [{"toolName": "Unsandboxed", "ruleContent": again}]
                    kept = [{**offer, "destination": destination}]
                    run.answer(line, {"behavior": "allow", "updatedPermissions": kept})
    later = [again] if destination == "session" else []
    assert asked == [again, f"{again}; true", *later], "only exactly what was allowed runs unasked"
    assert outside.read_text().count("x") == (2 if later else 3)


def test_switched_off_commands_ask(tmp_path: Path) -> None:
    _, done, _ = bash(tmp_path, "touch made.txt", "--trust", "--settings", '{"sandbox": {"mode": "off"}}')
    assert len(done.result["permission_denials"]) == 1


def test_without_trust_even_a_held_command_asks(tmp_path: Path) -> None:
    _, done, _ = bash(tmp_path, "touch made.txt")
    assert len(done.result["permission_denials"]) == 1


def test_more_writable_places_come_from_the_settings(tmp_path: Path) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    settings = f'{{"sandbox": {{"writablePaths": ["{extra}"]}}}}'
    bash(tmp_path, f"cp /etc/hostname {extra}/copy || echo x > {extra}/copy", "--trust", "--settings", settings)
    assert (extra / "copy").exists()
