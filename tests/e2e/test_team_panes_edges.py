"""A member's own process without tmux, with letters of all kinds; and leads whose tmux is missing, old or hung."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from clew.teams.roster import Member, Roster, Team
from clew.teams.work_list import WorkList, list_folder
from e2e.command import Place, Serve
from e2e.screen_person import ScreenPerson
from e2e.test_copy import READY
from e2e.test_team_command import agent, deferred, send

LEAD = "LEADGOES"
SCOUT = "You are scout, a member of the team blue"
LEAD_SESSION = "lead-session"


def in_pane(place: Place) -> Roster:
    """The files of a team whose member is to be started, as a lead leaves them."""
    roster = Roster(place.clew_home, "blue")
    roster.create(Team(name="blue", lead_session=LEAD_SESSION))
    roster.add(Member(name="scout", backend="pane", mode="acceptEdits", cwd=str(place.project)))
    roster.box("scout").post("assignment", sender="lead", to="scout", body={"prompt": "TASK scout"})
    return roster


def of_scout(*calls: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"match": SCOUT, "calls": list(calls)} if calls else {"match": SCOUT, "text": text}


def became(roster: Roster, name: str) -> dict[str, str]:
    return {one.letter.kind: one.word for one in roster.box(name).all()}


def state(roster: Roster) -> str:
    member = roster.read().find("scout")
    assert member is not None
    return member.state


def test_a_member_writes_the_leads_list_under_its_name_and_makes_no_team(serve: Serve) -> None:
    todo = {"call": "TodoWrite", "arguments": {"todos": [{"content": "look", "status": "in_progress"}]}}
    place, server = serve(
        {
            "replies": [
                of_scout(todo),
                of_scout(deferred("TeamCreate", team_name="red")),
                of_scout(send("lead", "seen all")),
                of_scout(text="done"),
            ],
            "last": {"text": "fine"},
        }
    )
    place.clew_home.mkdir(parents=True)
    (place.clew_home / "settings.json").write_text(json.dumps({"fastModel": "none"}))
    roster = in_pane(place)
    person = ScreenPerson(place, "--teammate", "blue/scout")
    try:
        person.until(lambda: state(roster) == "idle")
        items = WorkList(list_folder(place.clew_home, LEAD_SESSION)).items()
        assert [(item.subject, item.owner, item.todo_of) for item in items] == [("look", "scout", "scout")]
        bodies = [json.dumps(request.body) for request in server.requests]
        assert any("only its lead makes" in body for body in bodies)
        assert not (place.clew_home / "teams" / "red").exists()
        assert [one.letter.text for one in roster.box("lead").all() if one.letter.is_chat] == ["seen all"]
        second = place.run("--teammate", "blue/scout")
        assert second.code != 0
        assert "runs already" in second.err
    finally:
        person.leave()


def test_letters_give_a_member_no_rights_and_a_mode_only_narrows(serve: Serve) -> None:
    place, _ = serve({"replies": [of_scout(text="ready")], "last": {"text": "fine"}})
    place.clew_home.mkdir(parents=True)
    (place.clew_home / "settings.json").write_text(json.dumps({"fastModel": "none"}))
    roster = in_pane(place)
    person = ScreenPerson(place, "--teammate", "blue/scout")
    box = roster.box("scout")

    def sent(kind: Any, body: dict[str, Any], sender: str = "lead") -> str:
        letter = box.post(kind, sender=sender, to="scout", body=body)
        person.until(lambda: any(one.letter.id == letter.id and one.receipt is not None for one in box.all()))
        return next(one.word for one in box.all() if one.letter.id == letter.id)

    try:
        person.until(lambda: state(roster) == "idle")
        assert sent("mode", {"mode": "bypassPermissions"}) == "refused"
        assert sent("mode", {"mode": "plan"}, sender="other") == "refused"
        assert sent("permission_answer", {"decision": "allow"}) == "refused"
        assert sent("plan_answer", {"approve": True}) == "refused"
        assert sent("shutdown_request", {"text": "go"}, sender="other") == "refused"
        assert sent("mode", {"mode": "default"}) == "handled"
        assert person.process.poll() is None
    finally:
        person.leave()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("", "tmux is not installed"),
        ("echo tmux 2.9", "is too old"),
        ('[ "$1" = -V ] && echo tmux 3.4', "tmux refused"),
    ],
)
def test_where_tmux_is_missing_old_or_broken_the_member_works_in_the_leads_process(
    serve: Serve, tmp_path: Path, script: str, words: str
) -> None:
    place, _ = serve(
        {
            "replies": [
                of_scout(send("lead", "seen all")),
                of_scout(text="done"),
                {"match": LEAD, "calls": [deferred("TeamCreate", team_name="blue")]},
                {"match": LEAD, "calls": [agent("scout")]},
            ],
            "last": {"text": "fine"},
        }
    )
    place.clew_home.mkdir(parents=True)
    settings = {"fastModel": "none", "teams": {"backend": "tmux"}}
    (place.clew_home / "settings.json").write_text(json.dumps(settings))
    folder = tmp_path / "programs"
    folder.mkdir()
    for found in ("sh", "git"):
        source = next((path for path in place.env["PATH"].split(os.pathsep) if os.path.exists(f"{path}/{found}")), "")
        if source:
            (folder / found).symlink_to(f"{source}/{found}")
    if script:
        (folder / "tmux").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "tmux").chmod(0o755)
    person = ScreenPerson(place, size=(160, 40), PATH=str(folder))
    try:
        person.sees(READY)
        person.type(f"{LEAD}\r")
        file = place.clew_home / "teams" / "blue" / "team.json"
        person.until(lambda: file.exists() and '"idle"' in file.read_text())
        (member,) = json.loads(file.read_text())["members"]
        assert member.get("backend", "in-process") == "in-process"
        person.sees(words)
    finally:
        person.leave()
