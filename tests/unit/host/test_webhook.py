"""The webhook against a real loopback server that answers, fails, hangs, redirects or hangs up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.assembly.opening import open_door
from clew.config.errors import SettingsError
from clew.host.request import SessionRequest
from clew.host.workspace import open_workspace, remember_trust
from clew.llm.scripted import Call, Say, ScriptedModel
from clew.parts.notifications.webhook import (
    ATTEMPT_S,
    LEAVE_S,
    MAX_QUEUED,
    PAUSES_S,
    BadAddress,
    Webhook,
    checked_address,
    webhook_of,
)
from clew.protocol.events import ApprovalRequested, ApprovalResolved, Notice, Notified, SessionStarted, TurnEnded
from clew.protocol.ops import AnswerApproval, Close, ReportFocus, SubmitPrompt
from fakes.effort import HANG_S
from fakes.loop_clock import LoopClock
from unit.host.room import Front

SECRET_PATH = "/services/T000/B000/verysecretpath"
KEY = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
Reply = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


class Hook:
    """Answers as it is told, the last answer again and again; keeps what it was sent."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = replies or (OK,)
        self.heads: list[str] = []
        self.documents: list[dict[str, Any]] = []
        self._taken = 0
        self._arrived = asyncio.Condition()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{SECRET_PATH}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()

    async def got(self, count: int) -> None:
        async with asyncio.timeout(HANG_S), self._arrived:
            await self._arrived.wait_for(lambda: len(self.documents) >= count)

    async def read(self, count: int) -> None:
        """So many answers were taken, and their connections dropped."""
        async with asyncio.timeout(HANG_S), self._arrived:
            await self._arrived.wait_for(lambda: self._taken >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(int(line.split(":")[1]) for line in head.lower().splitlines() if "content-length" in line)
            body = await reader.readexactly(length)
            reply = self._replies[min(len(self.documents), len(self._replies) - 1)]
            async with self._arrived:
                self.heads.append(head)
                self.documents.append(msgspec.json.decode(body))
                self._arrived.notify_all()
            if isinstance(reply, bytes):
                writer.write(reply)
                await writer.drain()
                await reader.read()
                async with self._arrived:
                    self._taken += 1
                    self._arrived.notify_all()
            else:
                await reply(writer)
        finally:
            writer.close()


async def hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def trickle(writer: asyncio.StreamWriter) -> None:
    """A head that never ends."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    await hang(writer)


async def never_done(writer: asyncio.StreamWriter) -> None:
    """A good answer whose body never ends."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{")
    await writer.drain()
    await hang(writer)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()


@asynccontextmanager
async def served(*replies: Reply) -> AsyncIterator[Hook]:
    hook = Hook(*replies)
    await hook.start()
    try:
        yield hook
    finally:
        await hook.stop()


class Sending:
    """A webhook whose pauses take no time."""

    def __init__(self, url: str) -> None:
        self.told: list[str] = []
        self.pauses: list[float] = []
        self._told = asyncio.Event()
        address, path = checked_address(url)
        self.webhook = Webhook(address, path, env={}, tell=self._tell, sleep=self._pause)

    def send(self, number: int = 1) -> None:
        notice = Notified(kind="done", text="Done", title="Parcels", notice_id=f"n{number}")
        self.webhook.send(notice, session_id="s-1", cwd="/work/parcels")

    async def failed(self) -> None:
        async with asyncio.timeout(HANG_S):
            await self._told.wait()

    async def close(self, *, hung: bool) -> None:
        """The last moment passes at once where the server hangs, else it never does."""
        clock = LoopClock()
        closing = asyncio.create_task(self.webhook.close())
        await asyncio.sleep(0)
        if hung:
            clock.forward(LEAVE_S)
        else:
            clock.stop()
        await closing

    def _tell(self, text: str) -> None:
        self.told.append(text)
        self._told.set()

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


@asynccontextmanager
async def sending(hook: Hook, *, hung: bool = False) -> AsyncIterator[Sending]:
    sends = Sending(hook.url)
    try:
        yield sends
    finally:
        await sends.close(hung=hung)


async def test_one_document_each_in_order() -> None:
    async with served() as hook, sending(hook) as sends:
        for number in range(5):
            sends.send(number)
        await hook.got(5)
        assert [document["id"] for document in hook.documents] == [f"n{number}" for number in range(5)]
        first = hook.documents[0]
        assert first.pop("at").endswith("Z")
        assert first == {
            "id": "n0",
            "kind": "done",
            "text": "Done",
            "title": "Parcels",
            "session_id": "s-1",
            "cwd": "/work/parcels",
        }
        assert hook.heads[0].startswith(f"POST {SECRET_PATH} HTTP/1.1")
        assert "content-type: application/json" in hook.heads[0].lower()
        assert "authorization" not in hook.heads[0].lower()
    assert sends.told == []


@pytest.mark.parametrize(
    "bad",
    [b"HTTP/1.1 503 Busy\r\n\r\n", b"HTTP/1.1 429 Slow\r\n\r\n", b"no http at all\r\n\r\n", hang_up],
    ids=["503", "429", "garbage", "hang-up"],
)
async def test_what_may_pass_is_tried_again_with_the_same_id(bad: Reply) -> None:
    async with served(bad, bad, OK) as hook, sending(hook) as sends:
        sends.send()
        await hook.got(3)
        assert {document["id"] for document in hook.documents} == {"n1"}
        assert sends.pauses == [*PAUSES_S]
    assert sends.told == []


@pytest.mark.parametrize(
    "bad",
    [b"HTTP/1.1 404 None\r\n\r\n", b"HTTP/1.1 401 No\r\n\r\n", b"HTTP/1.1 302 There\r\nlocation: %s\r\n\r\n"],
    ids=["404", "401", "302"],
)
async def test_what_will_not_pass_is_not_tried_again_and_no_redirect_is_followed(bad: bytes) -> None:
    async with served() as other, served(bad.replace(b"%s", other.url.encode())) as hook, sending(hook) as sends:
        sends.send()
        await sends.failed()
        assert len(hook.documents) == 1
        assert other.documents == []
        assert bad.split()[1].decode() in sends.told[0]


@pytest.mark.parametrize("slow", [hang, trickle])
async def test_a_server_that_hangs_is_given_up_and_told_once_by_its_host_alone(slow: Reply) -> None:
    attempts = len(PAUSES_S) + 1
    async with served(slow) as hook, sending(hook, hung=True) as sends:
        clock = LoopClock()
        sends.send(1)
        sends.send(2)
        for attempt in range(1, 2 * attempts + 1):
            await hook.got(attempt)
            clock.forward(ATTEMPT_S)
        await sends.failed()
    assert len(sends.told) == 1
    assert "127.0.0.1" in sends.told[0]
    assert "secret" not in sends.told[0]
    assert [document["id"] for document in hook.documents] == ["n1"] * attempts + ["n2"] * attempts


async def test_the_body_of_an_answer_is_not_waited_for() -> None:
    async with served(never_done) as hook, sending(hook) as sends:
        LoopClock().stop()  # whoever waited for the body would wait for ever
        for number in range(3):
            sends.send(number)
        await hook.got(3)
    assert sends.told == []


async def test_nobody_there_is_told_once() -> None:
    async with served() as hook:
        url = hook.url
    sends = Sending(url)
    sends.send(1)
    sends.send(2)
    await sends.failed()
    await sends.close(hung=False)
    assert len(sends.told) == 1


async def test_what_is_under_way_at_the_end_gets_a_moment_and_no_more() -> None:
    async with served(hang) as hook:
        sends = Sending(hook.url)
        sends.send()
        await hook.got(1)
        await sends.close(hung=True)
        assert len(sends.told) == 1


async def test_a_flood_before_a_server_that_hangs_is_bounded() -> None:
    async with served(hang) as hook, sending(hook, hung=True) as sends:
        for number in range(MAX_QUEUED * 3):
            sends.send(number)
        await hook.got(1)
        assert len(sends.told) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "http://localhost.example.com/",
        "http://127.example.com/",
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://169.254.169.254/",
        "ftp://127.0.0.1/",
        "https://user:pass@example.com/",
        "https://",
        "example.com",
        "file:///etc/passwd",
        "https://example.com/a b",
        "https://[::1",
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(BadAddress):
        checked_address(url)


@pytest.mark.parametrize(
    "url",
    ["https://example.com/x?y=1", "http://127.0.0.1:1/", "http://localhost/", "http://[::1]:8/", "http://LOCALHOST/"],
)
def test_addresses_that_are_taken(url: str) -> None:
    checked_address(url)


# With a session.


class Opened:
    """A real session in a project of its own, with settings of the user."""

    def __init__(self, base: Path, *script: Any, settings: dict[str, Any], headless: bool = False) -> None:
        self.project = base / "project"
        self.home = base / "home"
        self.project.mkdir()
        self.home.mkdir()
        (self.home / "settings.json").write_text(msgspec.json.encode(settings).decode())
        remember_trust(self.home, self.project)
        request = SessionRequest(
            cwd=self.project,
            env={"HOME": str(base), "CLEW_HOME": str(self.home), "PATH": "/usr/bin:/bin"},
            flags={"model": "scripted/model", "fastModel": "none", "sandbox.mode": "off"},
            headless=headless,
            connect=lambda name: ScriptedModel(script, name=name),
        )
        self.front = Front(open_door(request))

    async def close(self) -> None:
        await self.front.submit(Close())
        await self.front.task


def hooked(hook: Hook, **more: Any) -> dict[str, Any]:
    return {"notifications": {"webhook": hook.url, "minTurnS": 0, **more}}


async def test_a_run_that_nobody_watches_tells_its_end_before_it_is_over(tmp_path: Path) -> None:
    async with served() as hook:
        opened = Opened(tmp_path, Say("done"), settings=hooked(hook), headless=True)
        await opened.front.submit(SubmitPrompt(content="go"))
        await opened.front.until(TurnEnded)
        await opened.close()
        (document,) = hook.documents
        started: SessionStarted = opened.front.of(SessionStarted)[0]
        assert (document["kind"], document["session_id"]) == ("done", started.session_id)
        assert document["cwd"] == str(opened.project)
        assert [notice.notice_id for notice in opened.front.of(Notified)] == [document["id"]]


async def test_a_hook_that_hangs_holds_up_no_turn_and_its_answer_grants_nothing(tmp_path: Path) -> None:
    granted = b'HTTP/1.1 200 OK\r\ncontent-length: 46\r\n\r\n{"decision": "allow", "behavior": "allow",  1: 1}'
    async with served(granted, hang) as hook:
        script = (Call("Bash", {"command": f"touch made; echo {KEY}"}), Say("one"), Say("two"))
        opened = Opened(tmp_path, *script, settings=hooked(hook))
        front = opened.front
        await front.submit(ReportFocus(focused=False))
        await front.submit(SubmitPrompt(content="go"))
        request: ApprovalRequested = await front.until(ApprovalRequested)
        await hook.got(1)
        await hook.read(1)
        assert not front.of(ApprovalResolved)
        assert not (opened.project / "made").exists()
        told = str(hook.documents)
        assert "Ab3d" not in told
        assert request.request_id not in told
        await front.submit(AnswerApproval(request_id=request.request_id, decision="deny"))
        await front.until(TurnEnded, 1)
        await hook.got(2)  # and now it hangs
        await front.submit(SubmitPrompt(content="again"))
        await front.until(TurnEnded, 2)
        assert not front.of(Notice)
        clock = LoopClock()
        closing = asyncio.create_task(opened.close())
        while not closing.done():
            await asyncio.wait({closing}, timeout=0.01)
            clock.forward(LEAVE_S / 4)
        assert [notice.code for notice in front.of(Notice)] == ["webhook"]


async def test_who_looks_at_the_session_keeps_the_webhook_quiet(tmp_path: Path) -> None:
    async with served() as hook:
        opened = Opened(tmp_path, Say("one"), Say("two"), settings=hooked(hook))
        for focused in (True, False):
            await opened.front.submit(ReportFocus(focused=focused))
            await opened.front.submit(SubmitPrompt(content="go"))
            await opened.front.until(TurnEnded, 2 - focused)
        await opened.close()
        assert len(hook.documents) == 1


def test_only_the_user_may_set_it(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".clew").mkdir(parents=True)
    home.mkdir()
    remember_trust(home, project)
    env = {"CLEW_HOME": str(home)}
    theirs = '{"notifications": {"webhook": "https://evil.example/", "terminal": "off", "unansweredS": 1}}'
    for name in ("settings.json", "settings.local.json"):
        (project / ".clew" / name).write_text(theirs)
    workspace = open_workspace(project, env)
    assert workspace.settings.notifications.webhook == ""
    assert workspace.settings.notifications.terminal == "auto"
    refused = [refusal.key for refusal in workspace.loaded.refused]
    assert refused.count("notifications.webhook") == 2
    given = open_workspace(project, env, settings='{"notifications": {"webhook": "https://mine.example/"}}')
    assert webhook_of(given) is not None


def test_an_address_it_cannot_be_is_an_error_that_names_the_key_and_not_the_address(tmp_path: Path) -> None:
    settings = '{"notifications": {"webhook": "http://example.com/verysecretpath"}}'
    workspace = open_workspace(tmp_path, {"CLEW_HOME": str(tmp_path)}, settings=settings)
    with pytest.raises(SettingsError, match=r"notifications\.webhook.*https://") as raised:
        webhook_of(workspace)
    assert "verysecretpath" not in str(raised.value)
