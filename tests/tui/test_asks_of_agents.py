"""What agents below the conversation ask is shown with the way to them, in every dialog of the screen."""

import pytest

from clew.protocol.event_kinds.asks import Choice
from clew.protocol.events import AgentStarted, Ask, Envelope, PlanProposed, Question, QuestionAsked
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, RequestId
from clew.protocol.ops import AnswerApproval
from tui.screen_lab import AT, SESSION, asks, call, screen, turn

ONE, TWO = AgentId("a1"), AgentId("a2")
PATH = 'main > Explore > worker "count files"'
QUESTION = QuestionAsked(
    request_id=RequestId("ask-2"),
    call_id=CallId("c1"),
    questions=(Question(question="Which?", header="Files", choices=(Choice(label="all"), Choice(label="none"))),),
)
PLAN = PlanProposed(request_id=RequestId("ask-3"), call_id=CallId("c1"), plan="# Count\nfirst this", path="")


@pytest.mark.parametrize("ask", [asks(), QUESTION, PLAN], ids=["approval", "question", "plan"])
async def test_the_way_to_who_asks_is_in_the_dialog(ask: Ask) -> None:
    async with screen(size=(100, 30)) as lab:
        sent = [
            (turn(), MAIN_AGENT),
            (AgentStarted(child=ONE, kind="Explore", task="look"), MAIN_AGENT),
            (AgentStarted(child=TWO, kind="worker", task="count files"), ONE),
            (call("Bash", command="rm -rf build", description="clean up"), TWO),
            (ask, TWO),
        ]
        for number, (event, agent) in enumerate(sent):
            envelope = Envelope(seq=number, at=AT, session_id=SESSION, event=event, agent=agent)
            lab.client.tell_envelope(envelope)
        await lab.settle()
        assert PATH in lab.text()
        if ask is not QUESTION and ask is not PLAN:
            assert "clean up" in lab.text(), "the call's own arguments"
            await lab.later(2)
            await lab.press("y")
            (answer,) = lab.client.asked(AnswerApproval)
            assert answer.agent == TWO
