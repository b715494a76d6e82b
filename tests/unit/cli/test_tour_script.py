"""The script of the tour: its data fits the tools and the guide, and the model finds its place in it from a request."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from clew.cli.tour.model import reply_to, tour_connector, tour_model
from clew.cli.tour.script import SCRIPT, TourScript, load_script
from clew.llm.errors import UnknownModel
from clew.llm.reply import Reply
from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ReplyOf, Say
from clew.protocol.ids import CallId, MessageId
from clew.protocol.messages import AssistantMessage, Message, TextPart, ToolCallPart, ToolResultPart, UserMessage

PLAIN_ROWS = 6
"""A stop leaves most of a screen of 20 rows to what it speaks of."""


@pytest.fixture(scope="module")
def script() -> TourScript:
    return load_script()


def asked(*messages: Message, purpose: str = "main") -> ModelRequest:
    return ModelRequest(system=("s",), messages=messages, purpose=purpose)


def said(reply: ReplyOf) -> str:
    return "".join(part.text for part in reply.parts if isinstance(part, Say))


def calls(reply: ReplyOf) -> list[Call]:
    return [part for part in reply.parts if isinstance(part, Call)]


def answered(reply: ReplyOf, *results: str) -> tuple[Message, Message]:
    """The reply in the history, and the results of its calls."""
    made = [
        ToolCallPart(id=CallId(f"c{number}"), name=call.name, arguments=call.arguments)
        for number, call in enumerate(calls(reply))
    ]
    told = tuple(ToolResultPart(call_id=call.id, content=text) for call, text in zip(made, results, strict=True))
    return AssistantMessage(id=MessageId("m"), model="tour/script", content=tuple(made)), UserMessage(content=told)


def test_every_offer_is_a_prompt_of_the_script_or_a_command(script: TourScript) -> None:
    prompts = [exchange.prompt for exchange in script.exchanges]
    stops = msgspec.structs.asdict(script.stops)
    offers = [stop.offer for stop in stops.values() if stop.offer]
    assert [offer for offer in offers if not offer.startswith("/")] == prompts
    assert [offer for offer in offers if offer.startswith("/")] == ["/compact", "/quit", "/quit"]
    numbers = [stop.number for name, stop in stops.items() if name not in ("again", "command")]
    assert numbers == [1, 2, 3, 4, 5, 6]


def test_every_stop_says_what_to_press_and_is_short(script: TourScript) -> None:
    for name, stop in msgspec.structs.asdict(script.stops).items():
        assert "ress" in stop.press, name
        words = " ".join((stop.words, stop.screen or stop.plain, stop.leaving, stop.press))
        assert len(words) <= PLAIN_ROWS * 57, f"{name} is too long for a small screen"


def test_the_project_fails_as_the_script_says_and_its_edit_mends_it(script: TourScript, tmp_path: Path) -> None:
    """The words of the scripted model are checked against the project, not believed."""
    for name, text in script.files.items():
        (tmp_path / name).write_text(text.lstrip("\n"))
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}

    def tests() -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "unittest"]
        return subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)

    before = tests()
    assert before.returncode == 1
    assert "-9000 != 900" in before.stderr
    assert script.exchanges[0].replies[2].expects[0] in before.stderr
    (edit,) = script.exchanges[1].replies[0].calls
    till = tmp_path / edit.arguments["file_path"]
    assert till.read_text().count(edit.arguments["old_string"]) == 1
    till.write_text(till.read_text().replace(edit.arguments["old_string"], edit.arguments["new_string"]))
    after = tests()
    assert after.returncode == 0, after.stderr
    assert script.exchanges[1].replies[2].expects[0] in after.stderr


def test_a_key_that_means_nothing_is_an_error(tmp_path: Path) -> None:
    wrong = tmp_path / "script.toml"
    wrong.write_text(SCRIPT.read_text().replace("otherwise =", "othrwise =", 1))
    with pytest.raises(msgspec.ValidationError, match="othrwise"):
        load_script(wrong)


def test_the_model_goes_on_from_the_results_it_expects(script: TourScript) -> None:
    prompt = UserMessage(content=script.exchanges[0].prompt)
    first = reply_to(asked(prompt), script, python="py")
    assert [call.name for call in calls(first)] == ["Read", "Read", "Read"]
    history = [prompt, *answered(first, "def discounted", "class Till", "order,day")]
    second = reply_to(asked(*history), script, python="py")
    assert [call.arguments["command"] for call in calls(second)] == ["py -m unittest"]
    third = reply_to(asked(*history, *answered(second, "FAILED (failures=1)")), script, python="py")
    assert "-9000" in said(third)
    assert not calls(third)


@pytest.mark.parametrize("result", ["The user said no.", "python3: not found", ""])
def test_what_did_not_happen_is_not_claimed(script: TourScript, result: str) -> None:
    prompt = UserMessage(content=script.exchanges[1].prompt)
    edit = reply_to(asked(prompt), script, python="py")
    stopped = reply_to(asked(prompt, *answered(edit, result)), script, python="py")
    assert said(stopped) == script.exchanges[1].otherwise
    assert not calls(stopped)


def test_a_prompt_sent_again_after_a_no_begins_anew(script: TourScript) -> None:
    """In a request the refused result and the new words are one message."""
    prompt = UserMessage(content=script.exchanges[1].prompt)
    edit = reply_to(asked(prompt), script, python="py")
    reply, refused = answered(edit, "The user said no.")
    assert isinstance(refused.content, tuple)
    again = UserMessage(content=(*refused.content, TextPart(text=script.exchanges[1].prompt)))
    assert [call.name for call in calls(reply_to(asked(prompt, reply, again), script, python="py"))] == ["Edit"]


def test_other_words_are_answered_by_what_the_model_is(script: TourScript) -> None:
    reply = reply_to(asked(UserMessage(content="write me a poem")), script, python="py")
    assert "script" in said(reply)
    assert not calls(reply)


def test_a_side_query_gets_the_record(script: TourScript) -> None:
    reply = reply_to(asked(UserMessage(content="x"), purpose="side-query:compaction"), script, python="py")
    assert said(reply).startswith("# ")


async def test_it_answers_for_as_long_as_it_is_asked(script: TourScript) -> None:
    model = tour_model(script, python="py")
    replies: list[Reply] = [await model.complete(asked(UserMessage(content="hello"))) for _ in range(5)]
    assert all(reply.usage is not None and reply.usage.input_tokens > 0 for reply in replies)


def test_no_other_model_can_be_asked(script: TourScript) -> None:
    connect = tour_connector(script, python="py", pause_s=0)
    assert connect(script.model).name == script.model
    with pytest.raises(UnknownModel, match="the tour has one model"):
        connect("anthropic/claude-opus-5-5")
