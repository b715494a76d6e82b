"""What a server asks for, line by line."""

from typing import Any

from clew.plain.dialogs.elicitation import ElicitationLines
from clew.protocol.events import ElicitationAnswered, ElicitationRequested, TurnStarted
from clew.protocol.ids import RequestId
from clew.protocol.ops import AnswerElicitation
from unit.plain.play import PlayedTerminal, Stage

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "As in your passport"},
        "age": {"type": "integer", "minimum": 18},
        "colour": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"], "default": "r"},
    },
    "required": ["name"],
}
ASKED = ElicitationRequested(request_id=RequestId("e"), server="fi\x1b[2Jles", message="Who?\x07", schema=SCHEMA)
SENT = AnswerElicitation(request_id=RequestId("e"), action="accept", values={"name": "Ada", "colour": "b"})


def test_fields_one_after_the_other_and_nothing_before_the_last_yes() -> None:
    dialog = ElicitationLines(ASKED)
    for typed in ("", "Ada", "17", "", "3", "2", "what?", "b", "Ada", "", "2"):
        reply = dialog.reply(typed)
        assert reply.op is None, typed
        assert reply.lines
    assert dialog.reply("y").op == SENT


def test_a_no_and_no_answer() -> None:
    assert ElicitationLines(ElicitationRequested(request_id=RequestId("e"), server="s", message="m", schema={})).reply(
        "n"
    ).op == AnswerElicitation(request_id=RequestId("e"), action="decline")
    assert ElicitationLines(ASKED).decline("", stop=True, by="nobody").by == "nobody"


async def test_a_person_answers() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.client.push(TurnStarted(turn=1), ASKED)
        await stage.until(lambda: "text > " in stage.output)
        assert "The MCP server fi" in stage.output
        assert "\x1b[2J" not in stage.output
        for typed, seen in (("Ada\r", "2 of 3: age"), ("\r", "3 of 3: colour"), ("2\r", "colour: Blue"), ("y\r", "")):
            stage.terminal.type(typed)
            await stage.until(lambda seen=seen: seen in stage.output)
        await stage.until(lambda: stage.ops == [SENT])
        stage.client.push(ElicitationAnswered(request_id=RequestId("e"), server="files", action="accept"))
        await stage.until(lambda: "files asked and has your answer" in stage.output)
