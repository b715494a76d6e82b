"""Folders of skills and commands as people, and enemies, fill them: each broken file is one line, the rest works."""

import os
from pathlib import Path

import pytest

from clew.config.skill_places import Folder, around, folders
from clew.skills import finding
from clew.skills.definitions import MAX_FILE_BYTES, SkillProblem, read_body, tools_of
from clew.skills.finding import MAX_FILES, Finder
from fakes.effort import calls_in


def commands(path: Path, **more: str) -> Folder:
    return Folder(path=str(path), kind="command", level="user", source="user", **more)


def skills(path: Path, **more: str) -> Folder:
    return Folder(path=str(path), kind="skill", level="user", source="user", **more)


def put(path: Path, text: str | bytes = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def names(found: finding.FoundSkills) -> list[str]:
    return [definition.name for definition in found.definitions]


def test_folders_make_names_and_the_front_matter_names_a_skill(tmp_path: Path) -> None:
    put(tmp_path / "c" / "git" / "fix.md")
    put(tmp_path / "c" / "plain.md")
    put(tmp_path / "c" / "notes.txt")
    put(tmp_path / "s" / "office" / "pdf" / "SKILL.md", "---\nname: pdfs\n---\nbody")
    put(tmp_path / "s" / "office" / "pdf" / "deep" / "SKILL.md")
    found = Finder().look((commands(tmp_path / "c"), skills(tmp_path / "s", prefix="tools")))
    assert names(found) == ["git:fix", "plain", "tools:office:pdfs"]
    assert not found.problems


@pytest.mark.parametrize(
    ("name", "usable"),
    [
        *((name, True) for name in ("fix-it", "Fix_2.0", "été", "修复")),
        *((name, False) for name in ("two words", "bell\x07", "-dash", "a\u202eb", "x" * 129, "@at")),
    ],
)
def test_names_that_can_be_typed(tmp_path: Path, name: str, usable: bool) -> None:
    put(tmp_path / f"{name}.md", "words")
    found = Finder().look((commands(tmp_path),))
    assert bool(found.definitions) is usable
    assert len(found.problems) == (not usable)
    assert all(problem.isprintable() or name in problem for problem in found.problems)


def test_a_name_that_cannot_be_typed_is_the_folders(tmp_path: Path) -> None:
    put(tmp_path / "pdf" / "SKILL.md", "---\nname: Work with PDF\n---\nx")
    (one,) = Finder().look((skills(tmp_path),)).definitions
    assert (one.name, len(one.notes)) == ("pdf", 1)


def test_each_broken_file_is_one_line_and_the_others_work(tmp_path: Path) -> None:
    put(tmp_path / "good" / "SKILL.md", "---\ndescription: Good\n---\nx")
    put(tmp_path / "open" / "SKILL.md", "---\nname: open\n")
    put(tmp_path / "latin" / "SKILL.md", b"---\nname: latin\n---\n" + b"caf\xe9")
    put(tmp_path / "huge" / "SKILL.md", b"x" * 10_000_000)
    put(tmp_path / "long" / "SKILL.md", "---\n" + "a: b # " + "x" * 20_000 + "\n---\n")
    (tmp_path / "dir" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "dangling").mkdir()
    (tmp_path / "dangling" / "SKILL.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    found = Finder().look((skills(tmp_path),))
    assert names(found) == ["good"]
    told = {os.path.basename(os.path.dirname(line.split("SKILL.md")[0] + "x")): line for line in found.problems}
    assert sorted(told) == ["dangling", "dir", "huge", "latin", "long", "open", "pipe"]
    assert "line 4: is not UTF-8" in told["latin"]
    assert f"larger than {MAX_FILE_BYTES // 1000} kB" in told["huge"]
    assert "line 1" in told["open"]


def test_what_leads_out_of_a_project_is_refused_wherever_the_link_is(tmp_path: Path) -> None:
    outside = put(tmp_path / "out" / "evil" / "SKILL.md", "---\ndescription: evil\n---\nx").parent
    root = tmp_path / "project"
    put(root / "a" / "ok" / "SKILL.md")
    (root / "a" / "folder").symlink_to(outside)
    (root / "a" / "file").mkdir()
    (root / "a" / "file" / "SKILL.md").symlink_to(outside / "SKILL.md")
    (root / "b").symlink_to(tmp_path / "out")
    inside = put(root / "real" / "SKILL.md").parent
    (root / "a" / "inner").symlink_to(inside)
    places = tuple(skills(root / name, within=str(root)) for name in ("a", "b"))
    found = Finder().look(places)
    assert sorted(names(found)) == ["inner", "ok"]
    assert len(found.problems) == 3
    assert all("leads outside the project" in problem for problem in found.problems)


def test_a_file_that_is_swapped_for_a_link_out_is_not_read_when_used(tmp_path: Path) -> None:
    root = tmp_path / "project"
    file = put(root / "c" / "go.md", "words")
    (one,) = Finder().look((commands(root / "c", within=str(root)),)).definitions
    assert read_body(one) == "words"
    file.unlink()
    file.symlink_to(put(tmp_path / "secret", "the treasure"))
    with pytest.raises(SkillProblem, match="outside the project"):
        read_body(one)


def test_ten_thousand_files_are_bounded_and_told_of_once(tmp_path: Path) -> None:
    for number in range(10_000):
        (tmp_path / f"c{number:05}.md").touch()
    finder = Finder()
    found = finder.look((commands(tmp_path),))
    assert len(found.definitions) == MAX_FILES
    assert len(found.problems) == 1
    again = calls_in(lambda: finder.look((commands(tmp_path),)))
    first = calls_in(lambda: Finder().look((commands(tmp_path),)))
    assert again * 2 < first  # what did not change is not read again


def test_a_folder_in_itself_ends(tmp_path: Path) -> None:
    put(tmp_path / "s" / "one" / "SKILL.md")
    (tmp_path / "s" / "loop").symlink_to(tmp_path / "s")
    assert "one" in names(Finder().look((skills(tmp_path / "s"),)))


def test_changes_are_seen(tmp_path: Path) -> None:
    file = put(tmp_path / "a.md", "---\ndescription: one\n---\nx")
    finder = Finder()
    assert finder.look((commands(tmp_path),)).definitions[0].description == "one"
    file.write_text("---\ndescription: another\n---\nx")
    assert finder.look((commands(tmp_path),)).definitions[0].description == "another"
    file.unlink()
    assert not finder.look((commands(tmp_path),)).definitions


def test_hidden_characters_never_reach_a_model_or_a_screen(tmp_path: Path) -> None:
    put(
        tmp_path / "a.md",
        "---\ndescription: plain\x1b[31m \u202ewords\u200b\n---\nbody\u200b\U000e0041 \x1b]0;x\x07end",
    )
    (one,) = Finder().look((commands(tmp_path),)).definitions
    assert one.description == "plain[31m words"
    assert read_body(one) == "body ]0;xend"


def test_a_projects_file_brings_no_rules_and_no_model(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "---\nallowed-tools: Bash\nmodel: big/one\neffort: huge\n---\nx")
    mine = commands(tmp_path)
    theirs = Folder(path=str(tmp_path), kind="command", level="project", source="project", within=str(tmp_path))
    (one,), (two,) = (Finder().look((folder,)).definitions for folder in (mine, theirs))
    assert (one.allowed_tools, one.model, one.effort, len(one.notes)) == (("Bash",), "big/one", "", 1)
    assert (two.allowed_tools, two.model, two.effort, len(two.notes)) == ((), "", "", 3)


@pytest.mark.parametrize(
    ("value", "tools"),
    [
        ("Read, Bash(git add:*), Bash(git commit -m *)", ("Read", "Bash(git add:*)", "Bash(git commit -m *)")),
        ("Read Grep", ("Read", "Grep")),
        (("Read", "Bash(npm run:*)"), ("Read", "Bash(npm run:*)")),
        (None, ()),
    ],
)
def test_allowed_tools_as_people_write_them(value: str | tuple[str, ...] | None, tools: tuple[str, ...]) -> None:
    assert tools_of(value) == tools


def test_where_is_looked(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "project"
    for path in (".clew/skills", ".claude/commands", "sub/.claude/skills"):
        (root / path).mkdir(parents=True)
    for path in (".clew/commands", ".claude/skills", ".claude/plugins/cache/shop/pdf/1.2.0/skills"):
        (home / path).mkdir(parents=True)
    (home / ".clew" / "plugins" / "own" / "skills").mkdir(parents=True)

    def looked(trusted: bool, *sources: str) -> list[tuple[str, str]]:
        place = around(
            {"HOME": str(home)},
            home=home / ".clew",
            root=root,
            cwd=root / "sub",
            sources=frozenset(sources),
            trusted=trusted,
        )
        return [(os.path.relpath(one.path, tmp_path), one.source) for one in folders(place)]

    user = [
        ("home/.clew/commands", "user"),
        ("home/.claude/skills", "user"),
        ("home/.clew/plugins/own/skills", "plugin own"),
        ("home/.claude/plugins/cache/shop/pdf/1.2.0/skills", "plugin pdf"),
    ]
    project = [("project/sub/.claude/skills", "project"), ("project/.clew/skills", "project")]
    project.append(("project/.claude/commands", "project"))
    assert looked(False, "user", "project") == user
    assert looked(True, "user", "project") == project + user
    assert looked(True, "project") == project
    assert looked(True) == []
