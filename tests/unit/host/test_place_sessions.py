"""What sub-commands ask the hub about sessions, kept files, keys and logins, answered for a place."""

import json
from pathlib import Path

import msgspec
import pytest

from clew.assembly.place import answer_at
from clew.host.workspace import Workspace, open_workspace
from clew.protocol.ids import SessionId
from clew.protocol.lookups.auth import ForgetProvider, ProviderWay, ShowAuth, UseProvider
from clew.protocol.lookups.base import LookupMisused, LookupRefused, NothingFits
from clew.protocol.lookups.catalog import (
    ChooseAgents,
    ListCatalog,
    ListRecent,
    MoveSession,
    NamedSession,
    NameSession,
    RecapSession,
)
from clew.protocol.lookups.mcp import AwaitMcpLogin, BeginMcpLogin, DefineMcp, OfferMcpAddress
from clew.protocol.lookups.place import ListSessions
from clew.protocol.lookups.rewind import ListMoments, RestoreFiles
from clew.protocol.lookups.rules_and_models import ForgetTrust
from clew.transcript.log.store import SessionStore
from unit.ledger.talk import Talk

KEY = "sk-canary-000000000000"


def place_at(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir(exist_ok=True)
    env = {"HOME": str(tmp_path), "CLEW_HOME": str(tmp_path / "home")}
    return open_workspace(tmp_path / "project", env, lenient=True, keys=False)


def two_sessions(tmp_path: Path) -> None:
    made = Talk().user("count the beans").agent("There are seven.").ended()
    for number in range(2):
        name = f"0a0a0a0a-0000-4000-8000-00000000000{number}"
        path = SessionStore(tmp_path / "home").session_path(tmp_path / "project", SessionId(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.loads(msgspec.json.encode(entry)) | {"sessionId": name} for entry in made.entries)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


async def test_several_that_fit_are_candidates_for_who_can_choose_and_a_refusal_for_others(tmp_path: Path) -> None:
    two_sessions(tmp_path)
    place = place_at(tmp_path)
    named = await answer_at(place, NameSession(query="beans", choosing=True))
    assert named.session is None
    assert len(named.candidates) == 2
    with pytest.raises(LookupRefused, match="2 sessions fit"):
        await answer_at(place, NameSession(query="beans"))
    with pytest.raises(NothingFits):
        await answer_at(place, NameSession(query="zebras", choosing=True))
    one = await answer_at(place, NameSession(query=named.candidates[1].session_id))
    assert one.session is not None
    assert one.session.path == named.candidates[1].path


async def test_the_list_the_board_and_the_session_tell_of_the_same_sessions(tmp_path: Path) -> None:
    two_sessions(tmp_path)
    place = place_at(tmp_path)
    rows = (await answer_at(place, ListCatalog())).rows
    board = (await answer_at(place, ListRecent(since_s=0.0))).sessions
    listed = (await answer_at(place, ListSessions())).sessions
    assert {row.session_id for row in rows} == {row.session_id for row in board} == {row.session_id for row in listed}
    recap = (await answer_at(place, RecapSession(session=board[0], listed=True))).recap
    assert recap is not None
    assert "beans" in recap.goal
    moved = await answer_at(place, MoveSession(action="trash", session=rows[0].path))
    assert not Path(rows[0].path).exists()
    assert (await answer_at(place, MoveSession(action="restore", session=moved.session))).path == rows[0].path


async def test_a_name_that_nobody_has_is_misuse(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    for lookup in (ChooseAgents(agent="nobody"), ChooseAgents(homes=("claude",))):
        with pytest.raises(LookupMisused):
            await answer_at(place, lookup)
    with pytest.raises(LookupMisused):
        await answer_at(place, BeginMcpLogin(server="nobody"))


async def test_a_session_without_kept_files_lists_moments_and_restores_nothing(tmp_path: Path) -> None:
    two_sessions(tmp_path)
    place = place_at(tmp_path)
    session = (await answer_at(place, ListRecent(since_s=0.0))).sessions[0]
    moments = await answer_at(place, ListMoments(session=session))
    assert [moment.prompt for moment in moments.moments] == ["count the beans"]
    with pytest.raises(LookupRefused, match="no file was changed"):
        await answer_at(place, RestoreFiles(session=session, to="1"))
    missing = NamedSession(agent="clew", path=str(tmp_path / "gone.jsonl"), session_id="gone")
    assert (await answer_at(place, ListMoments(session=missing))).moments == ()


async def test_a_key_is_kept_and_forgotten_and_never_shown(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    lookup = UseProvider(way=ProviderWay(provider="openai", model="gpt-5", key=KEY))
    assert KEY not in repr(lookup)
    assert "saved the key of openai" in (await answer_at(place, lookup)).told
    again = place_at(tmp_path)
    status = (await answer_at(again, ShowAuth())).status
    assert (status.model, status.saved) == ("openai/gpt-5", ("openai",))
    assert KEY not in repr(status)
    assert (await answer_at(again, ForgetProvider(provider="openai"))).told
    assert (await answer_at(place_at(tmp_path), ForgetProvider(provider="openai"))).told == ()


async def test_nobody_signs_in_to_a_program_or_goes_on_with_a_login_that_nobody_began(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    await answer_at(place, DefineMcp(server="prog", definition={"command": "true"}, scope="user"))
    web = {"type": "http", "url": "http://127.0.0.1:9/mcp"}
    await answer_at(place, DefineMcp(server="web", definition=web, scope="user"))
    with pytest.raises(LookupMisused, match="a program on this machine"):
        await answer_at(place, BeginMcpLogin(server="prog"))
    for lookup in (AwaitMcpLogin(server="web"), OfferMcpAddress(server="web", address=f"http://x/?code={KEY}")):
        assert KEY not in repr(lookup)
        with pytest.raises(LookupRefused, match="was begun"):
            await answer_at(place, lookup)


async def test_a_definition_as_text_is_one_server_or_a_refusal(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    with pytest.raises(LookupRefused, match="not JSON"):
        await answer_at(place, DefineMcp(server="one", definition=None, text="{", scope="user"))
    added = await answer_at(place, DefineMcp(server="one", definition=None, text='{"command": "true"}', scope="user"))
    assert not added.removed
    assert (await answer_at(place, DefineMcp(server="one", definition=None))).removed


async def test_trust_is_forgotten_once(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    gone = await answer_at(place, ForgetTrust(directory=str(tmp_path / "project")))
    assert not gone.there_was
    assert gone.place == str(tmp_path / "project")
