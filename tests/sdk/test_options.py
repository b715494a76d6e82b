"""`ClaudeAgentOptions`, one by one: what each does here, or how it is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    ClaudeSDKError,
    InMemorySessionStore,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    TextBlock,
    ToolUseBlock,
    query,
)

from sdk.conftest import MakeLab
from sdk.lab import OURS, bash, collect, exchange, result_of, words


def system_of(body: dict[str, Any]) -> str:
    system = body.get("system", "")
    return system if isinstance(system, str) else "\n".join(block["text"] for block in system)


async def test_system_prompts(lab: MakeLab, tmp_path: Path) -> None:
    here = lab({"replies": [], "last": {"text": "hi"}})
    in_a_file = tmp_path / "prompt.md"
    in_a_file.write_text("You are a file.")
    variants: list[tuple[Any, str, bool]] = [
        ("You are a pirate.", "You are a pirate.", False),
        ({"type": "custom", "prompt": "You are custom."}, "You are custom.", False),
        ({"type": "file", "path": str(in_a_file)}, "You are a file.", False),
        ({**OURS, "append": "Rhyme."}, "Rhyme.", True),
        (OURS, "", True),
        (None, "", False),
    ]
    for given, holds, ours in variants:
        await collect(query(prompt="hi", options=here.options(system_prompt=given)))
        system = system_of(here.sent())
        assert holds in system
        assert ("clew" in system) is ours, given


async def test_tools_that_there_are(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {"text": "hi"}})
    for given, names in ((["Read", "Grep"], ["Read", "Grep"]), ([], [])):
        messages = await collect(query(prompt="hi", options=here.options(tools=given)))
        init = messages[0]
        assert isinstance(init, SystemMessage)
        assert init.data["tools"] == names
        assert [spec["name"] for spec in here.sent().get("tools", [])] == names
    await collect(query(prompt="hi", options=here.options(tools={"type": "preset", "preset": "claude_code"})))
    assert "Bash" in [spec["name"] for spec in here.sent()["tools"]]


async def test_allowed_and_disallowed_tools(lab: MakeLab) -> None:
    here = lab([bash("touch a.txt"), {"text": "done"}, bash("touch b.txt"), {"text": "no"}])
    here.place.run("-p", "/version", "--trust")
    allowed = result_of(await collect(query(prompt="go", options=here.options(allowed_tools=["Bash(touch a.txt)"]))))
    assert allowed.permission_denials == []
    assert (here.project / "a.txt").exists()
    async with here.client(disallowed_tools=["Bash"], permission_mode="bypassPermissions") as client:
        await exchange(client, "go")
    assert not (here.project / "b.txt").exists()


async def test_where_it_works_and_what_else_it_may_touch(lab: MakeLab, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "note.txt").write_text("from elsewhere")
    read = {"calls": [{"call": "Read", "arguments": {"file_path": str(elsewhere / "note.txt")}}]}
    here = lab([read, {"text": "done"}])
    messages = await collect(query(prompt="go", options=here.options(add_dirs=[elsewhere])))
    init = messages[0]
    assert isinstance(init, SystemMessage)
    assert init.data["cwd"] == str(here.project)
    assert "from elsewhere" in str(here.sent()["messages"])


async def test_the_environment_of_the_process(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    await collect(query(prompt="hi", options=here.options(env={"CLEW_MODEL": "anthropic/claude-haiku-4-5"})))
    assert here.sent()["model"] == "claude-haiku-4-5"


async def test_models(lab: MakeLab) -> None:
    here = lab([*[{"fault": "overloaded"}] * 3, {"text": "hi"}])
    messages = await collect(
        query(prompt="hi", options=here.options(model="claude-opus-4-5", fallback_model="claude-haiku-4-5"))
    )
    assert words(messages) == "hi"
    assert here.server.requests[0].body["model"] == "claude-opus-4-5"
    assert here.sent()["model"] == "claude-haiku-4-5"


async def test_settings_inline_and_from_a_file(lab: MakeLab, tmp_path: Path) -> None:
    here = lab({"replies": [], "last": {"text": "hi"}})
    settings = json.dumps({"maxOutputTokens": 1234})
    await collect(query(prompt="hi", options=here.options(settings=settings)))
    path = tmp_path / "more.json"
    path.write_text(settings)
    await collect(query(prompt="hi", options=here.options(settings=str(path))))
    assert [request.body["max_tokens"] for request in here.server.requests] == [1234, 1234]


async def test_setting_sources_leave_files_out(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {"text": "hi"}})
    here.place.clew_home.mkdir(parents=True)
    (here.place.clew_home / "settings.json").write_text('{"maxOutputTokens": 4321}')
    await collect(query(prompt="hi", options=here.options()))
    await collect(query(prompt="hi", options=here.options(setting_sources=[])))
    with_file, without = [request.body["max_tokens"] for request in here.server.requests]
    assert with_file == 4321
    assert without != 4321


async def test_thinking_and_effort(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {"text": "hi"}})
    await collect(query(prompt="hi", options=here.options(thinking={"type": "enabled", "budget_tokens": 5000})))
    assert here.sent()["thinking"] == {"type": "enabled", "budget_tokens": 5000}
    await collect(query(prompt="hi", options=here.options(thinking={"type": "disabled"})))
    assert here.sent().get("thinking", {}).get("type") in (None, "disabled")
    await collect(query(prompt="hi", options=here.options(effort="high")))
    assert here.sent()["thinking"]["type"] == "enabled"


async def test_betas(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    await collect(query(prompt="hi", options=here.options(betas=["context-1m-2025-08-07"])))
    assert "context-1m-2025-08-07" in here.server.requests[0].headers["anthropic-beta"]


async def test_an_answer_of_a_given_shape(lab: MakeLab) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    here = lab([{"calls": [{"call": "StructuredOutput", "arguments": {"n": 7}}]}, {"text": "there you are"}])
    options = here.options(output_format={"type": "json_schema", "schema": schema})
    assert result_of(await collect(query(prompt="a number", options=options))).structured_output == {"n": 7}


async def test_hook_events_in_the_stream(lab: MakeLab) -> None:
    here = lab([bash("echo hi"), {"text": "done"}])
    settings = json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}})
    options = here.options(settings=settings, include_hook_events=True, permission_mode="bypassPermissions")
    messages = await collect(query(prompt="go", options=options))
    told = [message for message in messages if type(message).__name__ == "HookEventMessage"]
    assert [getattr(message, "hook_event_name", "") for message in told] == ["PreToolUse"]


async def test_agents_of_a_program_are_kinds_of_its_session(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    agents = {"reviewer": AgentDefinition(description="reviews", prompt="Review.")}
    async with here.client(agents=agents) as client:
        info = await client.get_server_info()
        told = await exchange(client, "hi")
        assert words(told) == "hi"
        first = next(one for one in told if isinstance(one, SystemMessage) and one.subtype == "init")
        assert {"reviewer", "Explore", "general-purpose"} <= set(first.data["agents"])
    assert info is not None
    assert info["notes"] == []
    assert "- reviewer: reviews" in json.dumps(here.server.requests[0].body["system"])


@pytest.mark.parametrize("forwards", [True, False])
async def test_what_an_agent_says_is_forwarded_where_the_program_wants_it(lab: MakeLab, forwards: bool) -> None:
    start = {"call": "Agent", "arguments": {"description": "d", "prompt": "TASK", "subagent_type": "greeter"}}
    inner = {
        "match": '"text":"TASK',
        "parts": [{"text": "inner words"}, {"call": "Glob", "arguments": {"pattern": "*"}}],
    }
    here = lab([{"calls": [start]}, inner, {"text": "inner end"}, {"text": "out"}])
    agents = {"greeter": AgentDefinition(description="greets", prompt="Greet.")}
    options = here.options(agents=agents, forward_subagent_text=forwards, include_partial_messages=True)
    messages = await collect(query(prompt="go", options=options))
    theirs = [one for one in messages if isinstance(one, AssistantMessage) and one.parent_tool_use_id is not None]
    blocks = [block for one in theirs for block in one.content]
    assert [block.name for block in blocks if isinstance(block, ToolUseBlock)] == ["Glob"]
    said = [block.text for block in blocks if isinstance(block, TextBlock)]
    assert said == (["inner words", "inner end"] if forwards else [])


async def test_stop_task_ends_an_agent_in_the_background_and_its_end_is_told(lab: MakeLab) -> None:
    start = {"call": "Agent", "arguments": {"description": "d", "prompt": "TASK", "run_in_background": True}}
    inner = {"match": '"text":"TASK', "parts": [{"wait": "for ever"}, {"text": "never"}]}
    here = lab([{"calls": [start]}, inner, {"text": "started"}, {"text": "heard"}])
    async with here.client() as client:
        await client.query("go")
        told: list[Any] = []
        async for message in client.receive_messages():
            told.append(message)
            if isinstance(message, TaskStartedMessage):
                await client.stop_task(message.task_id)
            if isinstance(message, ResultMessage):
                break
    (ended,) = (message for message in told if isinstance(message, TaskNotificationMessage))
    assert ended.status == "stopped"


@pytest.mark.parametrize(
    "more",
    [
        {"strict_mcp_config": True},
        {"skills": "all"},
        {"forward_subagent_text": True},
        {"client_app": "my-app/1.0"},
        {"enable_file_checkpointing": True},
        {"sandbox": {"mode": "off"}},
        {"system_prompt": {**OURS, "exclude_dynamic_sections": True, "snapshot": True}},
        {"thinking": {"type": "adaptive"}, "model": "claude-opus-4-6"},
        {"max_thinking_tokens": 4000},
        {"extra_args": {"trust": None}},
    ],
    ids=lambda more: ",".join(f"{name}={value}" for name, value in more.items())[:40],
)
async def test_what_is_accepted_does_not_keep_a_run_from_its_answer(lab: MakeLab, more: dict[str, Any]) -> None:
    here = lab([{"text": "hi"}])
    assert words(await collect(query(prompt="hi", options=here.options(**more)))) == "hi"


@pytest.mark.parametrize(
    ("chosen", "told"), [(["pdf"], ["pdf"]), ([], []), ("all", ["ocr", "pdf"]), (None, ["ocr", "pdf"])]
)
async def test_only_the_skills_that_were_chosen_are_the_models(lab: MakeLab, chosen: Any, told: list[str]) -> None:
    wants = {
        "calls": [{"call": "Skill", "arguments": {"name": "ocr"}}, {"call": "Skill", "arguments": {"name": "pdf"}}]
    }
    here = lab([wants, {"text": "read"}, {"text": "read"}])
    for name in ("ocr", "pdf"):
        file = here.place.clew_home / "skills" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\ndescription: about {name}\n---\nthe words of {name}")
    messages = await collect(query(prompt="hi", options=here.options(skills=chosen)))
    assert words(messages) == "read"
    system, results = json.dumps(here.sent(0)["system"]), json.dumps(here.sent(1)["messages"])
    assert [name for name in ("ocr", "pdf") if f"- {name}: about" in system] == told
    assert [name for name in ("ocr", "pdf") if f"the words of {name}" in results] == told
    assert "no longer there" not in results
    resumed = await collect(
        query(prompt="again", options=here.options(skills=chosen, resume=result_of(messages).session_id))
    )
    assert words(resumed) == "read"
    assert here.sent(-1)["system"] == here.sent(0)["system"]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"session_store": InMemorySessionStore()}, "session-mirror"),
        ({"plugins": [{"type": "local", "path": "/tmp"}]}, "plugin-dir"),
        ({"task_budget": {"total": 1000}}, "task-budget"),
        ({"permission_mode": "auto"}, "auto"),
        ({"permission_prompt_tool_name": "ask"}, "permission-prompt-tool"),
    ],
)
async def test_what_is_not_there_is_refused_by_its_name(lab: MakeLab, more: dict[str, Any], named: str) -> None:
    here = lab([])
    with pytest.raises(ClaudeSDKError):
        await collect(query(prompt="hi", options=here.options(**more)))
    assert [line for line in here.stderr if named in line], here.stderr


async def test_lines_longer_than_the_sdk_reads_are_told_by_the_sdk(lab: MakeLab) -> None:
    here = lab([{"text": "x" * 200_000}])
    with pytest.raises(ClaudeSDKError, match="maximum buffer size"):
        await collect(query(prompt="hi", options=here.options(max_buffer_size=100_000)))


async def test_without_partial_messages_there_are_none(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    messages = await collect(query(prompt="hi", options=here.options()))
    assert not [message for message in messages if isinstance(message, StreamEvent)]


async def test_stderr_has_only_words_for_people(lab: MakeLab) -> None:
    here = lab([{"fault": "overloaded"}, {"text": "hi"}])
    await collect(query(prompt="hi", options=here.options()))
    assert [line for line in here.stderr if "trying again" in line]
    assert all(line.startswith("clew: ") for line in here.stderr)
