"""/mcp: what it says of servers, and what it asks for."""

import pytest

from clew.commands.base import CommandContext, SessionFacts
from clew.commands.mcp import listing
from clew.commands.registry import run_command
from clew.protocol.event_kinds.programs import McpServerRow
from clew.protocol.lookups.mcp import ApproveMcp, ListMcp, McpServersListed, ReconnectMcp, ToggleMcp

THEIRS = McpServerRow(
    name="theirs", scope="project", kind="stdio", state="unapproved", source="/p/.mcp.json", shape="node x", digest="d1"
)
MINE = McpServerRow(
    name="mine", scope="user", kind="http", state="ready", source="/h/mcp.json", shape="http://h", tools=("a", "b")
)
ABOUT = CommandContext(facts=SessionFacts(servers=(THEIRS, MINE)))


@pytest.mark.parametrize(
    ("typed", "op"),
    [
        ("/mcp", ListMcp()),
        ("/mcp approve theirs", ApproveMcp(digests=("d1",))),
        ("/mcp approve all", ApproveMcp(digests=("d1",))),
        ("/mcp revoke theirs", ApproveMcp(digests=("d1",), approved=False)),
        ("/mcp reconnect mine", ReconnectMcp(server="mine")),
        ("/mcp off mine", ToggleMcp(server="mine", enabled=False)),
        ("/mcp on mine", ToggleMcp(server="mine", enabled=True)),
    ],
)
def test_what_it_asks_for(typed: str, op: object) -> None:
    result = run_command(typed, ABOUT)
    assert (*result.ops, *result.lookups) == (op,)


@pytest.mark.parametrize("typed", ["/mcp approve", "/mcp approve mine", "/mcp approve gone", "/mcp dance", "/mcp off"])
def test_what_makes_no_sense_changes_nothing(typed: str) -> None:
    result = run_command(typed, ABOUT)
    assert result.is_error
    assert not result.ops


def test_nothing_is_approved_that_was_not_listed() -> None:
    assert run_command("/mcp approve all", CommandContext()).is_error


def test_the_list_says_what_runs() -> None:
    text = "\n".join(listing(McpServersListed(servers=(THEIRS, MINE), problems=("f: k",))))
    for words in (
        "theirs  not approved",
        "node x",
        "mine  ready, 2 tools",
        "Not understood: f: k",
        "/mcp approve NAME",
    ):
        assert words in text
    assert run_command("/mcp tools mine", ABOUT).lines == ("mine offers:", "  a", "  b")
