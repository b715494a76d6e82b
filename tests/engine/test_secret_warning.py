"""A secret that is about to leave is told once, before the request, and nothing is held back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from clew.engine.middleware import secret_warning
from clew.engine.middleware.secret_warning import SecretWarning
from clew.engine.ports import Ask
from clew.llm.scripted import Call, Say, ScriptedModel
from clew.protocol.events import AttemptEnded, Notice, TurnEnded
from clew.protocol.ids import CallId
from clew.protocol.ops import SubmitPrompt
from clew.text import redact
from clew.tools.base import ToolContext
from clew.tools.registry import builtin_tools
from clew.tools.session import ToolSession
from engine.harness import TestHost
from unit.host.room import session_with

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


class InProject(TestHost):
    """Allows everything; calls start in the project."""

    def __init__(self, session: ToolSession) -> None:
        super().__init__()
        self._session = session

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        return ToolContext(call_id=call_id, cwd=self._session.cwd, progress=progress, ask=ask)


async def played(project: Path, *script: Call | Say, prompts: tuple[str, ...] = ("go",)) -> list[str]:
    """What was told, `request` where one had left."""
    model = ScriptedModel(script)
    session = ToolSession(cwd=str(project))
    more = {"tools": builtin_tools(session), "host": InProject(session), "middlewares": [SecretWarning()]}
    async with session_with(model, **more) as front:
        for number, prompt in enumerate(prompts, 1):
            await front.submit(SubmitPrompt(content=prompt))
            await front.until(TurnEnded, number)
        told = [event for event in front.events if isinstance(event, Notice | AttemptEnded)]
        return [event.text if isinstance(event, Notice) else "request" for event in told]


async def test_a_token_in_a_prompt_is_told_before_the_request(tmp_path: Path) -> None:
    told = await played(tmp_path, Say("done"), prompts=(f"use {TOKEN} for it",))
    assert len(told) == 2
    assert "what you wrote seems to hold a secret" in told[0]
    assert "scripted/model" in told[0]
    assert TOKEN not in told[0]
    assert told[1] == "request"


async def test_a_secret_in_a_result_is_told_once_and_the_turn_goes_on(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text(f'DB_PASSWORD = "hunter2secret99"\nTOKEN = "{TOKEN}"\n')
    read = Call("Bash", {"command": "cat settings.py"})
    told = await played(tmp_path, read, read, Say("done"), Say("again"), prompts=("go", "more"))
    warnings = [text for text in told if text != "request"]
    assert len(warnings) == 1, warnings
    assert "a tool's result" in warnings[0]
    assert "DB_PASSWORD" in warnings[0]
    assert "hunter2" not in warnings[0]
    assert told == ["request", warnings[0], "request", "request", "request"]


async def test_ordinary_talk_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("password = input()\ntoken: str\n")
    told = await played(
        tmp_path, Call("Bash", {"command": "cat a.py"}), Say("done"), prompts=("set the password field",)
    )
    assert told == ["request", "request"]


async def test_only_what_is_new_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    find = redact.find_secrets

    def watch(text: str) -> tuple[redact.FoundSecret, ...]:
        searched.append(text)
        return find(text)

    monkeypatch.setattr(secret_warning, "find_secrets", watch)
    calls = [Call("Bash", {"command": f"echo {number}"}) for number in range(5)]
    await played(tmp_path, *calls, Say("done"), Say("done"), prompts=("one", "two"))
    assert [text.strip() for text in searched] == ["one", "0", "1", "2", "3", "4", "two"]
