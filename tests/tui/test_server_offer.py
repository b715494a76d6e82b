"""MCP servers of a project on offer: what would run is seen exactly, and nothing is approved by accident."""

from clew.protocol.event_kinds.programs import McpServerRow, McpState
from clew.protocol.events import McpServersOffered
from clew.protocol.lookups.mcp import ApproveMcp, McpServersListed
from clew.tui.dialogs.program_offer import ProgramOfferDialog
from clew.tui.dialogs.registry import opens
from tui.hosting import Host


def row(name: str, state: McpState = "unapproved") -> McpServerRow:
    return McpServerRow(
        name=name,
        scope="project",
        kind="stdio",
        state=state,
        source="/project/.mcp.json",
        shape=f"node ./{name}.js\x1b[2J",
        variables=("TOKEN (set)",),
        digest=f"digest-{name}",
    )


OFFER = McpServersOffered(servers=(row("one"), row("two")))


async def test_all_of_it_is_shown_and_a_key_approves() -> None:
    app = Host(lambda: ProgramOfferDialog(OFFER, quiet_s=0))
    async with app.run_test(size=(100, 30)) as pilot:
        rows = "\n".join(
            "".join(span.text for span in line) for line in app.query_one(ProgramOfferDialog).body_rows(90)
        )
        await pilot.press("c", "2", "enter")
        await pilot.pause()
        assert app.answers == [(ApproveMcp(digests=("digest-two",)),)]
    assert "node ./one.js" in rows
    assert "gets of your environment: TOKEN (set)" in rows
    assert "\x1b" not in rows


def test_it_opens_by_itself_and_goes_when_another_front_end_decided() -> None:
    assert opens(OFFER)
    dialog = ProgramOfferDialog(OFFER)
    one = McpServersListed(servers=(row("one", "ready"), row("two")))
    both = McpServersListed(servers=(row("one", "ready"), row("two", "off")))
    assert not dialog.settled_by(one)
    assert dialog.settled_by(both)
