"""Functions of the program as hooks, through the real host: they refuse, change and see what is asked."""

from pathlib import Path
from typing import Any

from clew.sdk import Allow, Hook, Session, ToolRequest
from unit.sdk.conftest import Serve

WRITE = {"call": "Write", "arguments": {"file_path": "a.txt", "content": "one"}}


def said(**output: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **output}}


async def test_a_function_refuses_a_call(serve: Serve, tmp_path: Path) -> None:
    seen: list[tuple[Any, ...]] = []

    async def look(document: dict[str, Any], call_id: str | None) -> dict[str, Any]:
        seen.append((document["hook_event_name"], document["tool_name"], document["tool_input"]["content"]))
        return said(permissionDecision="deny", permissionDecisionReason="not by me")

    hooks = {"PreToolUse": [Hook(callback=look, matcher="Write")]}
    script = [{"calls": [WRITE]}, {"text": "ok"}]
    options, server = serve(script, hooks=hooks, permission_mode="bypassPermissions")
    async with Session(options) as session:
        await session.ask("write")
    assert seen == [("PreToolUse", "Write", "one")]
    assert not (tmp_path / "project" / "a.txt").exists()
    assert "not by me" in str(server.requests[1].body["messages"][-1])


async def test_what_a_hook_changed_is_what_is_asked_and_the_answer_may_change_it_again(
    serve: Serve, tmp_path: Path
) -> None:
    asked: list[ToolRequest] = []

    def allow(request: ToolRequest) -> Allow:
        asked.append(request)
        return Allow(arguments={"file_path": "c.txt", "content": "three"})

    def change(document: dict[str, Any], call_id: str | None) -> dict[str, Any]:
        return said(updatedInput={"file_path": "b.txt", "content": "two"})

    hooks = {"PreToolUse": [Hook(callback=change)]}
    options, _ = serve([{"calls": [WRITE]}, {"text": "ok"}], hooks=hooks, can_use_tool=allow)
    async with Session(options) as session:
        await session.ask("write")
    assert [request.arguments for request in asked] == [{"file_path": "b.txt", "content": "two"}]
    assert (tmp_path / "project" / "c.txt").read_text() == "three"
    assert not (tmp_path / "project" / "a.txt").exists()
