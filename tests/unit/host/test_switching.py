"""Going over to another session: what was said about the first one does not hold for it."""

from pathlib import Path

from clew.assembly.session_switch import another
from clew.host.request import SessionRequest
from clew.protocol.ids import OpId
from clew.protocol.ops import SwitchSession


def test_neither_its_source_nor_its_rights_go_over() -> None:
    first = SessionRequest(
        cwd=Path("/"),
        env={},
        newest=True,
        resume="/x/rollout.jsonl",
        source_agent="codex",
        source_session="0199",
        choose=lambda _query, _candidates: None,
        resume_at="e1",
        drops_turn="e2",
        fork=True,
        session_id="s1",
        take_over=True,
        wait=True,
        system_prompt="mine",
    )
    other = another(first, SwitchSession(op_id=OpId("1"), resume="the other"))
    assert (other.resume, other.fork, other.newest, other.session_id, other.resume_at) == (
        "the other",
        False,
        False,
        "",
        "",
    )
    assert (other.source_agent, other.source_session, other.drops_turn) == ("", "", None)
    assert (other.take_over, other.wait) == (False, False), "nobody else's session is taken without a word"
    assert other.choose is not first.choose, "the terminal belongs to the front end by now"
    assert other.system_prompt == "mine"
