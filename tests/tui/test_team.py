"""The dialog of the team: roster and mail, keys that act on a member, and the view that Enter opens."""

import pytest

from clew.protocol.event_kinds.agents import MemberRow, TeamRow
from clew.protocol.events import AgentChanged, OpRejected
from clew.protocol.ids import AgentId, OpId
from clew.protocol.lookups.teams import MailRow, ShowTeam, TeamShown
from clew.protocol.ops import MessageAgent, Op, SetMemberMode, StartMember, StopMember
from clew.protocol.standing import Standing
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.registry import DialogContext, dialog_for, opens
from clew.tui.dialogs.team import TeamDialog
from tui.hosting import Host
from tui.screen_lab import screen

ANN = MemberRow(
    name="ann", kind="worker", model="m1", color="green", mode="plan", standing=Standing.WORKING, agent=AgentId("a1")
)
BOB = MemberRow(name="bob\x1b[31m", kind="Explore", standing=Standing.STOPPED, agent=AgentId("a2"))
PANE = MemberRow(name="eve", backend="pane", pane="%7", standing=Standing.IDLE)
MAIL = (
    MailRow(id="1", kind="chat", sender="lead", to="ann", at="2026-11-16T08:00:00Z", text="读一下 🚀\x1b]0;x\x07 it"),
    MailRow(
        id="2", kind="chat", sender="ann", to="lead", at="2026-11-16T08:00:01Z", text="ok", became="delivered", step=3
    ),
)
SHOWN = TeamShown(team=TeamRow(name="blue", description="builds", members=(ANN, BOB, PANE)), mail=MAIL, folder="/x")


class TeamHost(Host):
    """Keeps what the dialog has done without closing."""

    def __init__(self, shown: TeamShown = SHOWN) -> None:
        super().__init__(lambda: TeamDialog(shown, doing={AgentId("a1"): "Bash make"}, mode="default"))
        self.sent: list[Op] = []

    def on_dialog_sent(self, event: Dialog.Sent) -> None:
        self.sent.append(event.op)


@pytest.mark.parametrize("size", [(60, 20), (100, 30)])
async def test_the_roster_and_the_mail_are_seen(size: tuple[int, int]) -> None:
    assert not opens(SHOWN)
    assert isinstance(dialog_for(SHOWN, DialogContext()), TeamDialog)
    app = TeamHost()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        shown = "\n".join(app.rows())
        assert "Team blue" in shown
        assert "3 members, 1 at work" in shown
        assert "worker · m1 · mode plan · 1 unread · Bash make" in shown
        assert "stopped" in shown
        assert "\x1b" not in shown
        assert "\x07" not in shown
        if size[1] >= 30:
            assert "pane %7" in shown
            assert "lead -> ann" in shown
            assert "🚀" in shown
            assert "[delivered at step 3]" in shown
        await pilot.press("escape")
        assert app.dismissals == 1


async def test_keys_act_on_the_member_under_the_cursor() -> None:
    app = TeamHost()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("s", "shift+tab")
        first, second = app.sent
        assert isinstance(first, StopMember)
        assert (first.name, first.ask) == ("ann", True)
        assert isinstance(second, SetMemberMode)
        assert (second.name, second.mode) == ("ann", "default")
        await pilot.press("k", "down", "k")
        assert len(app.sent) == 2, "one that was not confirmed is not ended"
        await pilot.press("up", "k", "k")
        ended = app.sent[-1]
        assert isinstance(ended, StopMember)
        assert (ended.name, ended.ask) == ("ann", False)
        await pilot.press("down", "r")
        assert isinstance(app.sent[-1], StartMember)
        app.dialog.news(OpRejected(op_id=OpId("team"), op="team.start", reason="it is\x1b at work"))
        await pilot.pause()
        assert "Not possible: it is" in "\n".join(app.rows())
        await pilot.press("p")
        assert [option.value for option in app.dialog.options.items] == ["ann", "eve"]
        await pilot.press("p")
        assert len(app.dialog.options.items) == 3


async def test_words_to_a_member_and_back() -> None:
    app = TeamHost()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("m", "k", "s", "enter")
        sent = app.sent[-1]
        assert isinstance(sent, MessageAgent)
        assert (sent.to, sent.text) == ("ann", "ks")
        await pilot.press("m", "x", "escape")
        assert len(app.sent) == 1
        assert not app.dismissals
        assert len(app.dialog.options.items) == 3


async def test_what_happens_is_looked_at_again() -> None:
    app = TeamHost()
    async with app.run_test(size=(100, 30)) as pilot:
        app.dialog.news(AgentChanged(child=AgentId("a1"), standing=Standing.WORKING, doing="Read a.py"))
        await pilot.pause()
        assert isinstance(app.inquiries[-1], ShowTeam)
        app.answer(TeamShown(team=TeamRow(name="blue", members=(ANN,))))
        await pilot.pause()
        shown = "\n".join(app.rows())
        assert "Read a.py" in shown
        assert "eve" not in shown


async def test_enter_shows_how_to_reach_a_pane_and_views_an_agent() -> None:
    app = TeamHost()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        assert "tmux select-pane -t %7" in "\n".join(app.rows())
        assert not app.dismissals
        await pilot.press("up", "up", "enter")
        assert app.dismissals == 1
        assert app.dialog.viewed_agent == "a1"


async def test_without_a_team_it_says_how_to_get_one() -> None:
    app = TeamHost(TeamShown())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("k", "m", "enter")
        assert "There is no team" in "\n".join(app.rows())
        await pilot.press("escape")
        assert app.dismissals == 1


async def test_the_command_opens_it_and_enter_looks_at_the_member() -> None:
    async with screen() as lab:
        await lab.type("/team")
        await lab.press("escape", "enter")
        assert len(lab.client.asked(ShowTeam)) == 1
        await lab.tell(SHOWN)
        assert isinstance(lab.app.bottom.dialog, TeamDialog)
        await lab.press("enter")
        assert lab.app.bottom.dialog is None
        assert lab.app.agents.viewed == "a1"
