"""Which `@words` of a Markdown text are imports."""

import pytest

from clew.prompts.memory import find_imports, is_plainly_a_file


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@docs/style.md", ["docs/style.md"]),
        ("See @docs/a.md and @b.md.", ["docs/a.md", "b.md"]),
        ("- @~/notes.md\n- @/abs/x.md\n- @../up.md", ["~/notes.md", "/abs/x.md", "../up.md"]),
        ("(@a.md), **@b.md**", ["a.md", "b.md"]),
        (r"@my\ notes.md", ["my notes.md"]),
        ("@a.md @a.md", ["a.md"]),
        ("mail ada@example.com, a@b.md", []),
        ("`@a.md` and ``x ` @b.md``", []),
        ("```\n@a.md\n```\n@b.md", ["b.md"]),
        ("~~~py\n@a.md\n```\n@c.md\n~~~\n@b.md", ["b.md"]),
        ("````\n```\n@a.md\n````\n@b.md", ["b.md"]),
        ("```\n@never.md", []),
        ("text\n\n    @code.md\n\nmore @b.md", ["b.md"]),
        ("- item\n    @deep.md", ["deep.md"]),
        ("`open @a.md", ["a.md"]),
        ("@", []),
        ("@ a.md", []),
    ],
)
def test_imports(text: str, found: list[str]) -> None:
    assert list(find_imports(text)) == found


def test_what_people_would_call_a_file() -> None:
    assert all(map(is_plainly_a_file, ["a.md", "./x", "../x", "~/x", "/x", "docs/a.TXT"]))
    assert not any(map(is_plainly_a_file, ["alice", "types/node", "param", "angular/core"]))
