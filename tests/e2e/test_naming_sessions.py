"""Whatever `clew sessions` prints of a session opens it, or a choice that holds it: through the real command, for every
agent's sessions, and for `/resume` in the front ends."""

import json
import os
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from e2e.command import CLEW, Place
from e2e.screen_person import ScreenPerson
from e2e.test_plain import Person
from fakes.model_server import ModelServer
from unit.foreign.samples import SAMPLES
from unit.foreign.samples_lines import claude_reply, claude_user, codex
from unit.foreign.writing import jsonl

SHARED = [folder / "shared" / "fixtures" / "transcripts" for folder in Path(__file__).parents]
TRANSCRIPTS = next((place for place in SHARED if place.is_dir()), None)
HOMES = {"claude-code": ".claude", "codex": ".codex", "gemini-cli": ".gemini", "kimi-cli": ".kimi"}
TITLES = (
    "Fix the date parser",
    "Fix the date parser",
    "Fix the fetcher, then the date parser",
    "Retry",
    "retry the fetch when it times out",
    "日付の解析を直して、テストも",
    "Größe prüfen: Maße und Straßen",
    "--help me with options",
    "0199",
    "a",
    "'quoted' \"twice\" and $(not run)",
    "One title that is much longer than a line of the list is wide, so that what is printed of it ends early " * 2,
)
CODEX_ID = "0199aaaa"
READY = "sk for something"


def said(place: Place, *prompts: str) -> list[str]:
    """Sessions of clew, one for each; their ids."""
    with ModelServer({"replies": [], "last": {"text": "Done."}}) as server:
        env = {"ANTHROPIC_BASE_URL": server.url}
        return [str(place.run("-p", text, "--output-format", "json", env=env).result["session_id"]) for text in prompts]


def crowd(root: Path) -> None:
    """Sessions of another agent whose titles share words, repeat each other, or look like something else."""
    for number, title in enumerate(TITLES):
        session = f"{number:08x}-2222-4333-8444-{number * 7919:012x}"
        lines = [
            claude_user("u1", None, f"{title} ({number})"),
            claude_reply("a1", "u1", {"type": "text", "text": "Done."}),
            {"type": "custom-title", "customTitle": title},
        ]
        jsonl(
            root / ".claude" / "projects" / "-w" / f"{session}.jsonl",
            [{**line, "sessionId": session} for line in lines],
        )


def filled(place: Place) -> Place:
    """Ours, every agent's, several with one title, and all shared transcripts where they are."""
    said(place, "Fix the date parser", "Fix the date parser in dates.py", "/init", "日付の解析を直して", "retry")
    for name, (_, make) in SAMPLES.items():
        path = make(place.home)
        if name in ("aider", "cursor_export"):
            path.rename(place.project / path.name)
    crowd(place.home)
    if TRANSCRIPTS is not None:
        for name, folder in HOMES.items():
            shutil.copytree(TRANSCRIPTS / name, place.home / folder, dirs_exist_ok=True)
    return place


def names_of(row: dict[str, Any], line: str, chance: random.Random) -> dict[str, str]:
    """What a person may take from a line of the list."""
    session = str(row["session_id"])
    printed = re.split(r"\s{2,}", line.strip())[2]
    title = "" if printed == "(no title)" else printed
    words = title.rstrip("…").split()
    start = chance.randrange(len(words)) if words else 0
    names = {
        "id": line.split()[-2],
        "whole id": session,
        "start of an id": session[: chance.randint(4, max(4, len(session)))],
        "title": title,
        "part": " ".join(words[start : chance.randint(start + 1, max(start + 1, len(words)))]),
        "words": " ".join(chance.sample(words, min(len(words), chance.randint(1, 3)))),
    }
    return {kind: name for kind, name in names.items() if name}


def opened(place: Place, command: str, name: str) -> tuple[tuple[str, str] | None, str]:
    """Agent and file of what a command opens by this name; what it says instead."""
    option = () if command == "show" else ("--to", "json") if command == "export" else ()
    flag = () if command == "export" else ("--json",)
    done = place.run(command, *option, *flag, "--", name)
    if done.code != 0:
        assert "Traceback" not in done.err
        return None, done.err
    told = json.loads(done.out)
    return (told["agent"], told.get("path") or told["file"]), ""


@pytest.mark.parametrize("seed", range(3))
def test_what_is_printed_of_a_session_opens_it_or_a_choice_that_holds_it(tmp_path: Path, seed: int) -> None:
    place = filled(Place(tmp_path))
    chance = random.Random(seed)
    rows = json.loads(place.run("sessions", "--all", "--json").out)
    lines = place.run("sessions", "--all").out.splitlines()
    assert len(rows) == len(lines) >= len(SAMPLES)
    titles = {(row["agent"], row["path"]): str(row["title"] or row["first_prompt"]) for row in rows}
    for row, line in chance.sample(list(zip(rows, lines, strict=True)), 20):
        kind, name = chance.choice(list(names_of(row, line, chance).items()))
        command = chance.choice(["show", "recap", "export"])
        found, words = opened(place, command, name)
        wanted = (row["agent"], row["path"])
        exact = [key for key, title in titles.items() if " ".join(title.split()).casefold() == name.casefold()]
        whole = found in exact or (found is None and len(exact) > 1)  # a whole title wins, and several are a choice
        listed = row["session_id"] in words or " more" in words
        assert found == wanted or whole or listed, (seed, kind, command, name, wanted, found, words)


def test_an_agents_own_id_finds_a_session_that_the_list_knows_by_its_file(tmp_path: Path) -> None:
    place = Place(tmp_path)
    SAMPLES["gemini_cli"][1](place.home)
    told = json.loads(place.run("recap", "--json", "session-2026").out)
    done = place.run("show", told["session"])
    assert done.code == 0, done.err
    assert told["session"] in done.out


def test_resume_finds_what_the_list_shows_where_the_user_keeps_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    codex(tmp_path / "elsewhere")
    place.clew_home.mkdir(parents=True)
    homes = {"foreign": {"homes": {"codex": str(tmp_path / "elsewhere" / ".codex")}}}
    (place.clew_home / "settings.json").write_text(json.dumps(homes))
    assert CODEX_ID in place.run("sessions").out
    with ModelServer({"replies": [], "last": {"text": "Gone on."}}) as server:
        done = place.run("-p", "go on", "--resume", CODEX_ID, env={"ANTHROPIC_BASE_URL": server.url})
        assert (done.code, done.out) == (0, "Gone on.\n"), done.err


def test_resume_finds_nothing_of_others_where_the_user_leaves_them_out(tmp_path: Path) -> None:
    place = Place(tmp_path)
    codex(place.home)
    place.clew_home.mkdir(parents=True)
    (place.clew_home / "settings.json").write_text(json.dumps({"foreign": {"enabled": False}}))
    for command in (["-p", "go on", "--resume"], ["show"], ["recap"], ["export"]):
        done = place.run(*command, CODEX_ID)
        assert (done.code, done.out) == (1, ""), command
        assert "no session fits" in done.err
    person = ScreenPerson(place)
    person.sees(READY)
    person.type("/sessions\r")
    person.sees("0 found")
    person.leave()


def test_several_that_fit_open_the_picker_on_the_full_screen(tmp_path: Path) -> None:
    place = Place(tmp_path)
    _, _, third = said(place, "Fix the date parser", "Fix the date parser in dates.py", "Explain the fig tree")
    person = ScreenPerson(place, "-r", third)
    person.sees("Explain the fig tree")
    person.sees(READY)
    person.type("/resume date fix\r")
    person.sees("Resume a session")
    person.sees("Fix the date parser in dates.py")
    person.type("\x1b[B\r")
    person.sees("▌ Fix the date parser")
    person.sees(READY)
    person.type("/resume nothing like that\r")
    person.sees("no session fits")
    person.leave()


def test_after_a_session_of_another_agent_any_other_can_be_gone_on_with(tmp_path: Path) -> None:
    place = Place(tmp_path)
    codex(place.home)
    (ours,) = said(place, "Explain the fig tree")
    person = ScreenPerson(place, "-r", CODEX_ID)
    person.sees("retry")
    person.sees(READY)
    person.type(f"/resume {ours}\r")
    person.sees("▌ Explain the fig tree")
    person.leave()


def test_the_list_of_sessions_finds_what_nobody_touched_for_long(tmp_path: Path) -> None:
    place = Place(tmp_path)
    path = codex(place.home)
    os.utime(path, (1_600_000_000, 1_600_000_000))
    assert CODEX_ID in place.run("sessions").out
    person = ScreenPerson(place)
    person.sees(READY)
    person.type("/sessions\r")
    person.sees("0 found")
    person.type("retry fetch")
    person.sees("1 found")
    person.type("\r")
    person.sees("▌ Add a retry")
    person.leave()


def test_several_that_fit_are_listed_line_by_line(tmp_path: Path) -> None:
    place = Place(tmp_path)
    _, second, third = said(place, "Fix the date parser", "Fix the date parser in dates.py", "Explain the fig tree")
    env = {name: value for name, value in place.env.items() if name != "PATH"}
    person = Person([CLEW, "--plain", "--trust", "--resume", third], place.project, columns=120, **env)
    person.sees("Explain the fig tree")
    person.type("/resume date fix\r")
    person.sees("Go on with one by /resume ID")
    assert second[:8] in person.seen
    person.type(f"/resume {second[:8]}\r")
    person.sees("Recap: project: Fix the date parser in dates.py")
    person.type("/exit\r")
    assert person.exits() == 0


def at_terminal(place: Place, *args: str) -> Person:
    env = {name: value for name, value in place.env.items() if name not in ("PATH", "LANG")}
    return Person([CLEW, *args], place.project, columns=120, **env)


def test_several_that_fit_are_asked_about_at_a_terminal(tmp_path: Path) -> None:
    place = Place(tmp_path)
    said(place, "Fix the date parser", "Fix the date parser in dates.py")
    for args in (
        ("--plain", "--trust", "--resume", "date fix"),
        ("show", "--no-pager", "date fix"),
        ("recap", "date fix"),
    ):
        person = at_terminal(place, *args)
        person.sees("2 sessions fit 'date fix':")
        person.sees("Which one? [1-2, Enter for none]")
        person.type("2\r")
        person.sees("Fix the date parser", times=3)
        if args[0] == "--plain":
            person.type("/exit\r")
        assert person.exits() == 0


def test_resume_without_a_name_lists_whose_sessions_the_user_wants(tmp_path: Path) -> None:
    place = Place(tmp_path)
    codex(place.home)
    said(place, "Explain the fig tree")
    for enabled in (True, False):
        place.clew_home.mkdir(parents=True, exist_ok=True)
        (place.clew_home / "settings.json").write_text(json.dumps({"foreign": {"enabled": enabled}}))
        person = at_terminal(place, "--plain", "--trust", "--resume")
        person.sees("Go on with which?")
        assert ("(codex · " in person.seen) == enabled
        person.type("\r")
        assert person.exits() == 1
