"""Questions at the door: background shells, memory, changes, export, status, checks, colours, models, previews."""

import asyncio
import json
from pathlib import Path

import pytest

from clew.assembly.opening import open_door
from clew.config.schema import Provider
from clew.host.request import SessionRequest
from clew.llm.models.connect import resolve
from clew.llm.scripted import Call, ReplyOf, Say
from clew.parts.models.at_place import model_rows
from clew.parts.sessions.preview import last_exchange
from clew.protocol.events import (
    PartCompleted,
    PromptAccepted,
    ShellEnded,
    TaskEnded,
    ThemeChanged,
)
from clew.protocol.ids import EntryId, MessageId
from clew.protocol.lookups.place import (
    ListMemory,
    ListSessions,
    PreviewSession,
    Remember,
    RunChecks,
)
from clew.protocol.lookups.rules_and_models import ListModels
from clew.protocol.lookups.session import ExportSession, RequestStatus, ShowDiff
from clew.protocol.lookups.tasks import ListTasks, ShowTask, StopTask
from clew.protocol.messages import TextPart
from clew.protocol.ops import RunShell, SetTheme
from clew.protocol.standing import Standing
from clew.transcript.past.reader import load
from engine.harness import SESSION
from unit.host.lab import Lab, lab
from unit.host.room import Front

KEY = "sk-ant-api03-" + "Zb3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2


def background(command: str) -> ReplyOf:
    return ReplyOf([Call("Bash", {"command": command, "run_in_background": True})])


async def until_running(place: Lab, count: int) -> None:
    """Until so many run."""
    while sum(row.standing.open for row in place.door.session.journal.main.state.tasks) != count:
        await place.front.until(TaskEnded, len(place.front.of(TaskEnded)) + 1)


async def test_background_commands_are_listed_looked_at_and_stopped(tmp_path: Path) -> None:
    script = background(f"echo started; echo {KEY}; sleep 3606"), background("exit 4"), Say("ok")
    async with lab(tmp_path, *script) as place:
        assert (await place.look_up(ListTasks())).tasks == ()
        await place.say("start them")
        await until_running(place, 1)
        first_row, second_row = place.door.session.journal.main.state.tasks
        assert (first_row.title, first_row.standing) == ("echo started; echo [redacted]; sleep 3606", Standing.WORKING)
        assert (second_row.standing, second_row.exit_code) == (Standing.FAILED, 4)
        first, second = (await place.look_up(ListTasks())).tasks
        assert (first.standing, first.exit_code, first.tail[0]) == (Standing.WORKING, None, "started")
        assert (second.standing, second.exit_code) == (Standing.FAILED, 4)
        shown = await place.look_up(ShowTask(task_id="1"))
        assert shown.output.startswith("started\n")
        assert "no task" in await place.refused(ShowTask(task_id="bash_9"))
        assert "ended already" in await place.refused(StopTask(task_id="bash_2"))
        stopped = await place.look_up(StopTask(task_id="bash_1"))
        assert stopped.tasks[0].standing is Standing.STOPPED
        await until_running(place, 0)
        assert KEY not in str(place.front.events[-1])
        assert KEY not in shown.output


async def test_looking_at_a_command_leaves_its_output_new_for_the_model(tmp_path: Path) -> None:
    look = ReplyOf([Call("BashOutput", {"bash_id": "bash_1"})])
    async with lab(tmp_path, background("echo unread"), Say("started"), look, Say("seen")) as place:
        await place.say("start")
        await until_running(place, 0)
        await place.look_up(ShowTask(task_id="bash_1"))
        await place.say("look")
        assert "unread" in str(place.model.requests[-1].messages[-1])


async def test_a_line_goes_to_the_projects_file_where_it_has_one(tmp_path: Path) -> None:
    async with lab(tmp_path, Say("ok")) as place:
        file = place.project / "CLAUDE.md"
        file.write_text("- be brief")
        told = await place.look_up(Remember(line="  run\u200b make  check\n first "))
        assert (told.path, told.scope, told.created, told.line) == (
            str(file),
            "project",
            False,
            "run make check first",
        )
        assert file.read_text() == "- be brief\n- run make check first\n"
        listed = await place.look_up(ListMemory())
        assert [(row.path, row.scope) for row in listed.files] == [(str(file), "project")]
        assert listed.adds_to == str(file)
        await place.say("what now?")
        assert "run make check first" in str(place.model.requests[0].messages)


async def test_without_one_or_without_trust_it_goes_to_the_users_own(tmp_path: Path) -> None:
    async with lab(tmp_path, trusted=False) as place:
        (place.project / "AGENTS.md").write_text("- from a stranger\n")
        told = await place.look_up(Remember(line="tabs are wide"))
        own = place.home / "AGENTS.md"
        assert (told.path, told.scope, told.created) == (str(own), "user", True)
        assert own.read_text() == "- tabs are wide\n"
        assert own.stat().st_mode & 0o077 == 0
        assert (place.project / "AGENTS.md").read_text() == "- from a stranger\n"


async def test_a_memory_file_that_leads_out_of_the_project_is_not_written_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    async with lab(tmp_path) as place:
        (place.project / "AGENTS.md").symlink_to(outside)
        told = await place.look_up(Remember(line="x"))
        assert told.scope == "user"
        assert outside.read_text() == "mine\n"


async def test_what_cannot_be_remembered_is_refused(tmp_path: Path) -> None:
    async with lab(tmp_path) as place:
        assert "no line" in await place.refused(Remember(line=" \u200b "))
        assert "characters" in await place.refused(Remember(line="x" * 5_000))
        (place.home / "AGENTS.md").mkdir()
        assert "nothing was saved" in await place.refused(Remember(line="x"))


async def test_the_diff_shows_what_the_session_changed_as_it_is_now(tmp_path: Path) -> None:
    script = ReplyOf([Call("Write", {"file_path": "new.py", "content": "one\ntwo\n"})]), Say("done")
    async with lab(tmp_path, *script) as place:
        (place.project / "old.txt").write_text("a\nb\nc\n")
        assert (await place.look_up(ShowDiff())).files == ()
        await place.say("write")
        await place.ask(RunShell(command="printf 'a\\nB\\nc\\n' > old.txt"), ShellEnded)
        shown = await place.look_up(ShowDiff())
        new, old = shown.files
        assert (Path(new.path).name, new.created, new.added, new.removed) == ("new.py", True, 2, 0)
        assert "+one" in new.patch
        assert (Path(old.path).name, old.created, old.added, old.removed) == ("old.txt", False, 1, 1)
        assert "-b" in old.patch.splitlines()
        assert "+B" in old.patch.splitlines()
        only = await place.look_up(ShowDiff(path="old"))
        assert [Path(block.path).name for block in only.files] == ["old.txt"]
        (place.project / "old.txt").write_text("a\nb\nc\n")
        assert [Path(block.path).name for block in (await place.look_up(ShowDiff())).files] == ["new.py"]


@pytest.mark.parametrize("to", ["markdown", "json", "jsonl", "claude-code"])
async def test_a_session_is_exported_without_secrets(tmp_path: Path, to: str) -> None:
    async with lab(tmp_path, Say("the answer is 42"), env={"ANTHROPIC_API_KEY": KEY}) as place:
        await place.say(f"what is it? {KEY}")
        op = ExportSession(path="out/there", to=to)  # pyright: ignore[reportArgumentType] one of the four
        assert "cannot be written" in await place.refused(op)
        (place.project / "out").mkdir()
        written = await place.look_up(op)
        text = Path(written.path).read_text()
        assert Path(written.path) == place.project / "out" / "there"
        assert written.bytes == len(text.encode())
        assert "42" in text
        assert KEY not in text
        assert "exists" in await place.refused(op)


async def test_an_export_without_a_name_finds_one_that_is_free(tmp_path: Path) -> None:
    async with lab(tmp_path, Say("yes")) as place:
        await place.say("hello")
        first = await place.look_up(ExportSession())
        second = await place.look_up(ExportSession())
        assert first.path != second.path
        assert Path(first.path).suffix == ".md"
        assert Path(first.path).parent == place.home / "exports"


async def test_status_tells_what_is_in_force_and_where_things_lie(tmp_path: Path) -> None:
    async with lab(tmp_path) as place:
        shown = await place.look_up(RequestStatus())
        rows = {row.name: row.value for row in shown.rows}
        assert rows["Session"] == SESSION
        assert rows["Permission mode"] == "default"
        assert rows["Directory"] == str(place.project)
        assert rows["Transcript"] == str(place.path)
        assert "trusted" in rows["Project"]


async def test_checks_are_run_now(tmp_path: Path) -> None:
    async with lab(tmp_path) as place:
        shown = await place.look_up(RunChecks())
        names = {check.name: check.state for check in shown.checks}
        assert {"git", "sandbox", "search", "home", "providers"} <= set(names)
        assert names["search"] != "problem"


async def test_a_theme_is_told_to_everybody(tmp_path: Path) -> None:
    async with lab(tmp_path) as place:
        changed: ThemeChanged = await place.ask(SetTheme(theme="terminal"), ThemeChanged)
        assert changed.theme == "terminal"
        if changed.saved_in:
            assert json.loads(Path(changed.saved_in).read_text())["screen"]["theme"] == "terminal"


async def test_models_of_connected_providers_with_their_short_names() -> None:
    rows = {row.name: row for row in await model_rows({"ANTHROPIC_API_KEY": "k", **UNREACHED}, {})}
    assert len(rows) > 5
    assert all(name.startswith("anthropic/") for name in rows)
    newest = resolve("opus", {}, {"ANTHROPIC_API_KEY": "k"})[1]
    assert "opus" in rows[f"anthropic/{newest}"].aliases
    assert rows[f"anthropic/{newest}"].input_usd


async def test_a_server_on_this_machine_is_asked_for_its_models() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"data": [{"id": "qwen3:8b"}, {"id": "llama"}]}'
        writer.write(b"HTTP/1.0 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        env = UNREACHED | {"OLLAMA_BASE_URL": f"http://127.0.0.1:{port}/v1"}
        rows = await model_rows(env, {"ollama": Provider(base_url=f"http://127.0.0.1:{port}/v1")})
    assert [(row.name, row.local, row.aliases) for row in rows] == [
        ("ollama/qwen3:8b", True, ()),
        ("ollama/llama", True, ()),
    ]


UNREACHED = {
    f"{name}_BASE_URL": "http://127.0.0.1:9/v1" for name in ("OLLAMA", "LLAMACPP", "VLLM", "LMSTUDIO", "LOCAL_MODEL")
}


@pytest.mark.parametrize(
    ("alias", "env", "provider"),
    [
        ("sonnet", {"ANTHROPIC_API_KEY": "k"}, "anthropic"),
        ("Opus", {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "anthropic"),
        ("gpt", {"OPENAI_API_KEY": "k"}, "openai"),
        ("gemini", {"GEMINI_API_KEY": "k"}, "gemini"),
        ("sonnet", {"OPENROUTER_API_KEY": "k"}, "openrouter"),
        ("haiku", {}, "anthropic"),
    ],
)
def test_a_family_means_its_newest_model_of_a_connected_provider(
    alias: str, env: dict[str, str], provider: str
) -> None:
    row, model = resolve(alias, {}, env)
    assert row.name == provider
    assert alias.lower() in model


def test_the_newest_is_by_number_not_by_letters() -> None:
    assert resolve("gpt", {}, {"OPENAI_API_KEY": "k"})[1].startswith("gpt-6.1")
    assert resolve("opus", {}, {"ANTHROPIC_API_KEY": "k"})[1] == "claude-opus-5-5"


async def test_the_door_lists_models_with_names_and_rows(tmp_path: Path) -> None:
    async with lab(tmp_path) as place:
        listed = await place.look_up(ListModels())
        assert listed.models == ("local/a", "local/b") == tuple(row.name for row in listed.rows)


async def test_the_last_exchange_of_a_session_is_previewed(tmp_path: Path) -> None:
    async with lab(tmp_path, Say("It was one.\nSecond line."), Say("the end")) as place:
        await place.say("what was it?")
        await place.say("and\nthen?")
        await place.ask(RunShell(command="true"), ShellEnded)
    env = {"CLEW_HOME": str(place.home), "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "k", "PATH": "/usr/bin:/bin"}
    door = open_door(SessionRequest(cwd=place.project, env=env, persist=False))
    front = Front(door)
    shown = await front.look_up(PreviewSession(session=SESSION))
    assert (shown.session, shown.lines) == (SESSION, ("> and", "  then?", "the end"))
    assert [row.session_id for row in (await front.look_up(ListSessions())).sessions] == [SESSION]
    place.path.rename(place.path.with_name("moved.jsonl"))
    gone = await front.look_up(PreviewSession(session=SESSION))
    assert gone.lines == ()  # a list named the file, so nobody looked for it again
    place.path.with_name("moved.jsonl").rename(place.path)
    await door.session.close()
    await front.task
    assert load(place.path, session_id=SESSION).entries


def test_a_preview_is_bounded() -> None:
    asked = PromptAccepted(entry_id=EntryId("1"), parent_id=None, content="x" * 10_000)
    part = TextPart(text="\n".join(["line"] * 1_000))
    said = PartCompleted(
        entry_id=EntryId("2"), parent_id=None, reply_id=MessageId("m"), part_number=0, model="m", part=part
    )
    lines = list(last_exchange([asked, said]))
    assert len(lines) < 30
    assert max(map(len, lines)) < 500
    assert lines[-1] == "…"
