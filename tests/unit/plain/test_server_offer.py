"""MCP servers of a project on offer, line by line."""

from clew.protocol.event_kinds.programs import McpServerRow
from clew.protocol.events import McpServersOffered, Notice
from clew.protocol.lookups.mcp import ApproveMcp, ListMcp
from unit.plain.play import PlayedTerminal, Stage

ROW = McpServerRow(
    name="theirs",
    scope="project",
    kind="stdio",
    state="unapproved",
    source="/p/.mcp.json",
    shape="node x.js\nvariable A: ${B}",
    variables=("B (not set)",),
    digest="d1",
)


async def test_a_person_decides_and_goes_on() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.client.push(McpServersOffered(servers=(ROW,)), Notice(level="info", text="after it", code="x"))
        await stage.until(lambda: "Let them run?" in stage.output)
        for words in ("node x.js", "variable A: ${B}", "B (not set)"):
            assert words in stage.output
        stage.terminal.type("y\r")
        await stage.until(lambda: stage.ops == [ApproveMcp(digests=("d1",))])
        stage.terminal.type("/mcp\r")
        await stage.until(lambda: any(isinstance(op, ListMcp) for op in stage.ops))
