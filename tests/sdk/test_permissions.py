"""`can_use_tool`: the program answers for a person."""

import asyncio
from typing import Any

from claude_agent_sdk import (
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ToolPermissionContext,
    query,
)

from sdk.conftest import MakeLab
from sdk.lab import bash, collect, collect_failing, exchange, result_of, words

Answer = PermissionResultAllow | PermissionResultDeny


class Decider:
    """A callback that answers as it is told and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, dict[str, Any], ToolPermissionContext]] = []

    async def __call__(self, tool: str, given: dict[str, Any], context: ToolPermissionContext) -> Answer:
        self.asked.append((tool, given, context))
        answer: Any = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Answer) else answer(context)


async def test_allow(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "done"}])
    decide = Decider(PermissionResultAllow())
    messages = await collect(query(prompt="go", options=here.options(can_use_tool=decide)))
    ((tool, given, context),) = decide.asked
    assert (tool, given) == ("Bash", {"command": "echo yes > a.txt"})
    assert context.tool_use_id
    assert "echo yes > a.txt" in (context.title or "")
    assert (context.display_name, bool(context.decision_reason)) == ("Bash", True)
    assert (here.project / "a.txt").read_text() == "yes\n"
    assert result_of(messages).permission_denials == []


async def test_deny_with_words_for_the_model(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "I see"}])
    decide = Decider(PermissionResultDeny(message="use the other branch"))
    messages = await collect(query(prompt="go", options=here.options(can_use_tool=decide)))
    assert not (here.project / "a.txt").exists()
    assert "use the other branch" in str(here.sent()["messages"])
    (denial,) = result_of(messages).permission_denials or []
    assert (denial["tool_name"], denial["tool_input"]) == ("Bash", {"command": "echo yes > a.txt"})


async def test_deny_and_stop(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "never asked for"}])
    async with here.client(can_use_tool=Decider(PermissionResultDeny(message="stop it", interrupt=True))) as client:
        messages = await exchange(client, "go")
        assert result_of(messages).stop_reason == "stopped_by_denial"
        assert len(here.server.requests) == 1
        assert words(await exchange(client, "and now?")) == "never asked for"


async def test_another_input_runs_instead(lab: MakeLab) -> None:
    here = lab([bash("echo model > a.txt"), {"text": "done"}])
    decide = Decider(PermissionResultAllow(updated_input={"command": "echo person > a.txt"}))
    await collect(query(prompt="go", options=here.options(can_use_tool=decide)))
    assert (here.project / "a.txt").read_text() == "person\n"


async def test_a_rule_that_was_suggested_is_kept_for_the_session(lab: MakeLab) -> None:
    here = lab([bash("touch a"), {"text": "one"}, bash("touch a"), {"text": "two"}])
    here.place.run("-p", "/version", "--trust")
    decide = Decider(lambda context: PermissionResultAllow(updated_permissions=context.suggestions))
    async with here.client(can_use_tool=decide, settings='{"sandbox": {"mode": "off"}}') as client:
        await exchange(client, "a")
        await exchange(client, "b")
    assert len(decide.asked) == 1
    (suggestion, *_) = decide.asked[0][2].suggestions
    assert isinstance(suggestion, PermissionUpdate)
    assert (suggestion.type, suggestion.behavior) == ("addRules", "allow")
    assert suggestion.rules
    assert suggestion.rules[0].tool_name == "Bash"


async def test_a_mode_can_come_with_the_answer(lab: MakeLab) -> None:
    here = lab([bash("echo 1 > a.txt"), {"text": "one"}, bash("echo 2 > b.txt"), {"text": "two"}])
    mode = PermissionUpdate(type="setMode", mode="bypassPermissions", destination="session")
    decide = Decider(PermissionResultAllow(updated_permissions=[mode]))
    async with here.client(can_use_tool=decide) as client:
        await exchange(client, "a")
        await exchange(client, "b")
    assert len(decide.asked) == 1
    assert (here.project / "b.txt").exists()


async def test_a_callback_that_raises_allows_nothing_and_the_run_goes_on(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "I see"}])
    decide = Decider(RuntimeError("boom"))
    messages, _ = await collect_failing(query(prompt="go", options=here.options(can_use_tool=decide)))
    assert result_of(messages).result == "I see"
    assert "boom" in str(here.sent()["messages"])
    assert not (here.project / "a.txt").exists()


async def test_several_calls_are_asked_about_each(lab: MakeLab) -> None:
    several = {"calls": [*bash("echo 1 > a.txt")["calls"], *bash("echo 2 > b.txt")["calls"]]}
    here = lab([several, {"text": "done"}])
    decide = Decider(PermissionResultAllow(), PermissionResultDeny(message="not this one"))
    await collect(query(prompt="go", options=here.options(can_use_tool=decide)))
    assert [given["command"] for _, given, _ in decide.asked] == ["echo 1 > a.txt", "echo 2 > b.txt"]
    assert ((here.project / "a.txt").exists(), (here.project / "b.txt").exists()) == (True, False)


async def test_what_is_allowed_by_a_rule_is_not_asked_about(lab: MakeLab) -> None:
    here = lab([bash("touch a.txt"), {"text": "done"}])
    here.place.run("-p", "/version", "--trust")
    decide = Decider(PermissionResultDeny(message="never"))
    options = here.options(can_use_tool=decide, allowed_tools=["Bash(touch a.txt)"])
    await collect(query(prompt="go", options=options))
    assert decide.asked == []


async def test_a_question_with_choices(lab: MakeLab) -> None:
    question = {
        "question": "Which colour?",
        "header": "Colour",
        "options": [{"label": "red"}, {"label": "blue"}],
        "multiSelect": False,
    }
    here = lab([{"calls": [{"call": "AskUser", "arguments": {"questions": [question]}}]}, {"text": "blue it is"}])

    async def answer(tool: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
        assert tool == "AskUserQuestion"
        assert [option["label"] for option in given["questions"][0]["options"]] == ["red", "blue"]
        return PermissionResultAllow(updated_input={**given, "answers": {"Which colour?": "blue"}})

    await collect(query(prompt="go", options=here.options(can_use_tool=answer)))
    assert "Which colour?: blue" in str(here.sent()["messages"])


async def test_a_callback_is_told_when_nobody_waits_for_it(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "next"}])
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def forever(tool: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError("unreachable")

    async with here.client(can_use_tool=forever) as client:
        await client.query("go")
        await asked.wait()
        await client.interrupt()
        stopped = await collect(client.receive_response())
        await cancelled.wait()
        assert words(await exchange(client, "and now?")) == "next"
    assert result_of(stopped).is_error
    assert not (here.project / "a.txt").exists()


async def test_without_a_callback_what_would_ask_is_denied_and_listed(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "I see"}])
    async with here.client() as client:
        result = result_of(await exchange(client, "go"))
    assert [denial["tool_name"] for denial in result.permission_denials or []] == ["Bash"]


async def test_an_answer_that_never_comes_is_a_no_after_its_time(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "I see"}])

    async def never(tool: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    settings = '{"headless": {"approvalTimeoutS": 0.05}}'
    async with here.client(can_use_tool=never, settings=settings) as client:
        assert words(await exchange(client, "go")) == "I see"
    assert "within 0.05 s" in str(here.sent()["messages"])
