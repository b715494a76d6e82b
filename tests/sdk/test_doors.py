"""How a run ends, as the SDK tells it: denied calls, money, failures of the API, empty prompts."""

import json
from typing import Any

import pytest
from claude_agent_sdk import HookMatcher, PermissionResultDeny, ResultError, ToolPermissionContext, query

from sdk.conftest import MakeLab
from sdk.lab import bash, collect, collect_failing, exchange, result_of, words


async def deny(tool: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultDeny:
    return PermissionResultDeny(message="not here")


async def deny_by_hook(given: Any, call_id: str | None, context: Any) -> Any:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "not here"}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}


@pytest.mark.parametrize(
    "options",
    [{"can_use_tool": deny}, {"hooks": {"PreToolUse": [HookMatcher(hooks=[deny_by_hook])]}}],
    ids=["callback", "hook"],
)
async def test_calls_that_the_program_denied_make_no_failure(lab: MakeLab, options: dict[str, Any]) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "It was not allowed, so I stop."}])
    result = result_of(await collect(query(prompt="go", options=here.options(**options))))
    assert (result.subtype, result.is_error) == ("success", False)
    assert result.result == "It was not allowed, so I stop."
    assert [denial["tool_name"] for denial in result.permission_denials or []] == ["Bash"]


async def test_calls_that_nobody_could_allow_are_a_failure(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "I could not."}])
    seen, _ = await collect_failing(query(prompt="go", options=here.options()))
    assert result_of(seen).is_error


@pytest.mark.parametrize("budget_usd", [0.0001, 100.0])
async def test_a_request_that_costs_more_than_the_budget(lab: MakeLab, budget_usd: float) -> None:
    here = lab([{"text": "four", "usage": {"input": 10_000, "output": 1_000}}])
    async with here.client(max_budget_usd=budget_usd) as client:
        result = result_of(await exchange(client, "what is 2 + 2?"))
    over = budget_usd < 1
    assert (result.subtype, result.is_error) == (("error_max_budget_usd", True) if over else ("success", False))
    assert result.result == "four"
    assert bool(result.errors) is over


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ({"fault": "status", "status": 400, "message": "the tool names are wrong"}, 400),
        ({"fault": "unauthorized"}, 401),
    ],
)
async def test_a_failure_of_the_api(lab: MakeLab, fault: dict[str, Any], status: int) -> None:
    here = lab({"replies": [], "last": fault})
    seen, error = await collect_failing(query(prompt="hi", options=here.options()))
    result = result_of(seen)
    assert (result.subtype, result.is_error, result.api_error_status) == ("success", True, status)
    assert (result.result or "").startswith("API Error: ")
    assert not result.errors
    assert result.terminal_reason == "api_error"
    assert isinstance(error, ResultError)
    assert error.api_error_status == status
    assert error.result == result.result
    assert "success" not in str(error)


async def test_the_same_in_print_mode(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {"fault": "unauthorized"}})
    done = here.place.run("-p", "hi", "--output-format", "json")
    told = json.loads(done.out)
    assert (done.code, told["is_error"], told["api_error_status"]) == (1, True, 401)
    assert told["result"] == f"API Error: {told['error']}"


async def test_an_empty_prompt_has_a_result(lab: MakeLab) -> None:
    here = lab([{"text": "hello"}])
    async with here.client() as client:
        result = result_of(await exchange(client, ""))
        assert (result.is_error, result.errors) == (True, ["the prompt is empty"])
        assert words(await exchange(client, "hi")) == "hello"
    seen, _ = await collect_failing(query(prompt="  ", options=here.options()))
    assert result_of(seen).errors == ["the prompt is empty"]
    assert len(here.server.requests) == 1
