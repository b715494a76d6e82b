"""What the model is told of skills: bounded, and what it knows already is not told again."""

from pathlib import Path

from clew.config.skill_places import Folder
from clew.parts.skills.part import BUNDLED
from clew.skills.definitions import SkillDefinition, read_body
from clew.skills.finding import BUNDLED_FOLDER, Finder
from clew.skills.skill_words import (
    HEADING,
    KEPT_ANNOUNCED,
    MAX_ANNOUNCED,
    MAX_WORDS_BYTES,
    Announced,
    block,
    delta,
    names_in,
    search,
)

FOLDER = Folder(path="/s", kind="skill", level="user", source="user")


def one(name: str, description: str = "", when: str = "") -> SkillDefinition:
    path = f"/s/{name}/SKILL.md"
    return SkillDefinition(
        name=name, folder=FOLDER, path=path, real=path, description=description, when_to_use=when, for_model=True
    )


def test_the_list_is_bounded_and_says_how_many_more() -> None:
    many = [one(f"group:skill-{number}", "中文 words " * 40) for number in range(300)]
    words = block(many)
    assert len(words.encode()) <= MAX_WORDS_BYTES
    told = names_in(words)
    assert told == tuple(skill.name for skill in many[: len(told)])
    assert words.endswith(f"and {300 - len(told)} more: call Skill with a search")
    assert words.startswith(HEADING)


def test_what_changed_is_told_once() -> None:
    assert (
        delta([one("new", "fresh")], ["old"])
        == "[There are new skills:\n- new: fresh]\n[These skills are no longer there: old]"
    )
    known = Announced(["a", "b"])
    assert known.gone(["a"]) == ["b"]
    assert known.gone(["a"]) == []
    known.add(one(f"x{number}") for number in range(MAX_ANNOUNCED + 1))
    assert sum(f"x{number}" in known for number in range(MAX_ANNOUNCED + 1)) == KEPT_ANNOUNCED
    assert "a" not in known


def test_the_name_counts_more_than_when_to_use_it_and_that_more_than_the_description() -> None:
    found = search("invoice", [one("c", "an invoice"), one("b", "", "an invoice"), one("invoice-a"), one("d", "other")])
    assert [skill.name for skill in found] == ["invoice-a", "b", "c"]
    assert [skill.name for skill in search("发票", [one("x", "处理发票的技能"), one("y", "天气")])] == ["x"]


def test_bundled_skills_are_told_as_their_files_say_and_are_for_people() -> None:
    found = Finder().look((BUNDLED_FOLDER,))
    assert not found.problems
    told = {row.name: row for row in BUNDLED}
    assert sorted(told) == sorted(skill.name for skill in found.definitions)
    for skill in found.definitions:
        row = told[skill.name]
        assert (skill.description, skill.argument_hint) == (row.description, row.argument_hint)
        assert not skill.for_model
        assert not skill.notes
        assert "$ARGUMENTS" in read_body(skill)
        assert Path(skill.path).stat().st_size < 5_000
