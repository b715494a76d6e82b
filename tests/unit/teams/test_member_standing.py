"""How a member in a pane writes down its standing: the last thing that happened is what its file says."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from clew.teams.member_team import MemberTeam
from clew.teams.roster import Member, Roster, Team


def seated(tmp_path: Path) -> tuple[Roster, MemberTeam]:
    roster = Roster(tmp_path, "blue")
    roster.create(Team(name="blue", lead_session="s"))
    roster.add(Member(name="scout", backend="pane"))

    def known(name: str) -> Member:
        found = roster.read().find(name)
        assert found is not None
        return found

    seen = cast("Any", SimpleNamespace(roster=roster, main="scout", known=known))
    return roster, MemberTeam(seen, cast("Any", SimpleNamespace(asked="")))


@pytest.mark.parametrize("quick", [("idle", "active"), ("waiting", "active"), ("waiting", "active", "idle")])
async def test_what_follows_at_once_is_what_the_file_says(tmp_path: Path, quick: tuple[str, ...]) -> None:
    roster, team = seated(tmp_path)
    await asyncio.gather(*(asyncio.ensure_future(team.note(state)) for state in quick))
    member = roster.read().find("scout")
    assert member is not None
    assert member.state == quick[-1]
