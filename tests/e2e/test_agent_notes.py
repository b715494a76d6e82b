"""Agents with a memory of their own, and with skills that their definition names, through the real command."""

import json
from pathlib import Path
from typing import Any

from e2e.command import Serve


def agent(task: str = "TASK") -> dict[str, Any]:
    given = {"description": "d", "prompt": task, "subagent_type": "keeper"}
    return {"calls": [{"call": "Agent", "arguments": given}]}


def at_work(task: str = "TASK", **reply: Any) -> dict[str, Any]:
    return {"match": f'"text":"{task}', **reply}


def write(path: Path, text: str = "- the tests need a server\n") -> dict[str, Any]:
    return {"calls": [{"call": "Write", "arguments": {"file_path": str(path), "content": text}}]}


def define(folder: Path, fields: str, name: str = "keeper") -> None:
    path = folder / "agents" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: keeps\n{fields}---\nYou are {name}.\n")


def system(request: Any) -> str:
    return "\n\n".join(block["text"] for block in request.body["system"])


def results(request: Any) -> str:
    return json.dumps(request.body["messages"][-1])


def notes_of(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".clew" / "agent-memory" / "keeper" / "MEMORY.md"


def test_an_agent_writes_its_notes_without_asking_and_is_told_them_the_next_time(serve: Serve, tmp_path: Path) -> None:
    outside = Path("other.md")
    index = notes_of(tmp_path)
    place, server = serve(
        [
            agent(),
            at_work(**write(index)),
            write(outside),
            {"text": "inner"},
            {"text": "out"},
            agent("LATER"),
            at_work("LATER", text="again"),
            {"text": "out"},
        ]
    )
    define(place.clew_home, "memory: user\ntools: Grep\n")
    assert place.run("-p", "go").out == "out\n"
    first = system(server.requests[1])
    assert f"You keep notes over your runs in {index.parent}" in first
    assert "MEMORY.md is not there yet" in first
    assert sorted(tool["name"] for tool in server.requests[1].body["tools"]) == ["Edit", "Grep", "Read", "Write"]
    assert index.read_text() == "- the tests need a server\n"
    assert "writes in" in results(server.requests[3])
    assert not (place.project / outside).exists()
    assert place.run("-p", "go").out == "out\n"
    assert "<notes>\n- the tests need a server\n</notes>" in system(server.requests[6])


def test_nobody_else_writes_there_nor_does_the_agent_against_a_rule_or_in_plan_mode(
    serve: Serve, tmp_path: Path
) -> None:
    index = notes_of(tmp_path)
    place, _ = serve([write(index), agent(), at_work(**write(index)), {"text": "inner"}, {"text": "out"}] * 2)
    define(place.clew_home, "memory: user\n")
    place.run("-p", "go", "--permission-mode", "plan")
    place.run("-p", "go", "--disallowed-tools", f"Edit({index.parent}/**)")
    assert not index.exists()


def test_the_memory_of_a_project_lies_in_it_and_one_of_a_project_keeps_nothing_for_others(
    serve: Serve, tmp_path: Path
) -> None:
    inside = tmp_path / "project" / ".clew" / "agent-memory" / "keeper" / "MEMORY.md"
    place, _ = serve([agent(), at_work(**write(inside)), {"text": "inner"}, {"text": "out"}])
    define(place.project / ".clew", "memory: project\n")
    define(place.project / ".clew", "memory: user\n", "greedy")
    assert place.run("-p", "go", "--trust").out == "out\n"
    assert inside.exists()
    checked = place.run("agents", "check").out
    assert "greedy" in checked
    assert "its memory is for this project only (local)" in checked


def test_a_memory_that_leads_out_of_the_project_is_neither_read_nor_written(serve: Serve, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "MEMORY.md").write_text("do as I say")
    folder = tmp_path / "project" / ".clew" / "agent-memory"
    place, server = serve([agent(), at_work(**write(folder / "keeper" / "new.md")), {"text": "inner"}, {"text": "out"}])
    folder.mkdir(parents=True)
    (folder / "keeper").symlink_to(away)
    define(place.project / ".clew", "memory: project\n")
    place.run("-p", "go", "--trust")
    assert "do as I say" not in system(server.requests[1])
    assert "leads outside the project" in system(server.requests[1])
    assert not (away / "new.md").exists()


def test_skills_of_a_definition_are_told_with_its_prompt_and_unknown_ones_are_warned_of(serve: Serve) -> None:
    place, server = serve([agent(), at_work(text="inner"), {"text": "out"}])
    skill = place.clew_home / "skills" / "beans" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: beans\ndescription: about beans\n---\nCount every bean twice.\n")
    define(place.clew_home, "skills: beans, nothing\ntools: Read\n")
    assert place.run("-p", "go").out == "out\n"
    words = system(server.requests[1])
    assert f"# Skill beans\n[Its folder is {skill.parent}" in words
    assert "Count every bean twice." in words
    assert "Count every bean twice." not in system(server.requests[0])
    assert "there is no skill 'nothing' here" in place.run("agents", "check").out
