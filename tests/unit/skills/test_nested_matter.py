"""Nested values of a front matter, held against a whole YAML reader."""

from typing import Any

import pytest
import yaml

from clew.skills.front_matter import FrontMatterError, parse
from clew.skills.nested_matter import nested_value

DOCUMENTS = [
    """hooks:
  PreToolUse:
    - matcher: "Bash"
      hooks:
        - type: command
          command: ./check.sh "$CLAUDE_PROJECT_DIR" # why
          timeout: 5
    - hooks:
      - {type: command, command: 'it''s'}
  Stop:
  - hooks: [{"type": "command", "command": "echo [done], {x}"}]
""",
    """mcpServers:
  - slack
  - github:
      type: http
      url: https://example.test/mcp
      headers: {Authorization: "Bearer ${TOKEN}"}
  - local-one:
      command: node
      args: ["-y", "server.js", --flag]
      env:
        A: "1"
        B: |
          two
          lines
""",
    "mcpServers: {a: {command: x, args: [one, 2, true]}, b: {url: 'http://h/p'}}\n",
    "mcpServers: [a,\n  b,\n  {c: {command: d}}]\n",
    "mcpServers:\n- a\n-\n  b:\n    command: x\n    cwd:\n- - 1\n  - -2.5\n",
    "x:\n  text: >-\n    folded\n    words\n\n    here\n  empty:\n  switched: false\n",
    'x:\n  # only words\n  a: b # and\n\n  \'quoted key\': "with \\"marks\\""\n',
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_it_reads_what_a_whole_reader_reads(text: str) -> None:
    document = parse(f"---\nname: x1\n{text}color: red\n---\nbody\n")
    expected: dict[str, Any] = yaml.safe_load(text)
    assert {name: nested_value(raw) for name, raw in document.nested.items()} == expected
    assert document.fields["color"] == "red"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("hooks:\n  a: 1\n    b: 2\n", 4, "indented otherwise"),
        ("hooks:\n  a: 1\n  a: 2\n", 4, "there twice"),
        ("hooks:\n  a: &x 1\n", 3, "cannot begin with"),
        ("hooks:\n  a: 1\n  words without\n", 4, "expected `key: value`"),
        ("hooks:\n  a: [1, {b: 2}\n", 3, "never closed"),
        ("hooks:\n  a: {b}\n", 3, "expected `key: value`"),
        ("hooks:\n \ta: 1\n", 3, "a tab"),
        ("hooks:\n" + "".join(" " * depth + f"k{depth}:\n" for depth in range(1, 40)), 24, "too deeply"),
    ],
)
def test_what_cannot_be_read_names_its_line(text: str, line: int, words: str) -> None:
    document = parse(f"---\n{text}---\n")
    with pytest.raises(FrontMatterError, match=words) as caught:
        nested_value(document.nested["hooks"])
    assert caught.value.line == line
