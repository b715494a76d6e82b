"""Approvals and questions: what is shown, what counts as an answer, and what never does (U1, I19, I39, I40)."""

from typing import Any

import pytest

from clew.plain.dialogs.approval import ApprovalDialog
from clew.plain.dialogs.question import read_answer
from clew.plain.options import PlainOptions
from clew.protocol.events import ApprovalResolved, Choice, Question, QuestionAsked, RuleOffer, TurnStarted
from clew.protocol.ids import CallId, RequestId
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, AnswerQuestion, Interrupt, SubmitPrompt
from clew.text.terminal_text import display_width
from fakes.loop_clock import LoopClock
from unit.plain.play import PlayedTerminal, Stage, asks, call, turn

ALLOW = AnswerApproval(request_id=RequestId("q1"), decision="allow")


def shown(*, arguments: dict[str, object] | None = None, path: str = "", **more: Any) -> str:
    part = ToolCallPart(id=CallId("c1"), name="Bash", arguments=arguments) if arguments is not None else None
    dialog = ApprovalDialog(asks(**more), part, model="m", waiting=0, path=path)
    return "\n".join(line.text for line in dialog.opening()) + "\n" + dialog.prompt


def test_it_shows_text_reason_origin_and_the_exact_rules() -> None:
    offers = (
        RuleOffer(rule="Bash(git add *)", covers="git add ."),
        RuleOffer(rule="Bash(git push *)", covers="git push"),
    )
    text = shown(subject="git add . && git push", offers=offers)
    assert "  | git add . && git push\n" in text
    assert "Why it asks: no rule allows git push\n" in text
    assert "Comes from: the main agent, model m\n" in text
    assert "  1. Bash(git add *)  (for: git add .)\n  2. Bash(git push *)  (for: git push)\n" in text
    assert "Allow? [y]es / [s]ession / [a]lways / [n]o REASON > " in text


def test_the_prompt_fits_60_columns() -> None:
    assert max(len(line) for line in shown(subject="x" * 3000).splitlines() if line.startswith("Allow?")) <= 60


def test_another_agent_is_named() -> None:
    assert 'Comes from: main > worker "count\\e", model m' in shown(path='main > worker "count\x1b"')


def test_bidi_and_invisible_characters_are_shown_as_escapes() -> None:
    text = shown(subject="ls \u202e\u2066 # harmless\u200b \u0440m -rf x\x1b[2K")
    assert not set("\u202e\u2066\u200b\x1b") & set(text)
    assert "\\u{202E}" in text
    assert "Careful: the text holds invisible or direction-changing characters, shown as escapes" in text
    assert "Careful: the text holds control characters, shown as escapes" in text


def test_mixed_scripts_are_marked() -> None:
    text = shown(subject="open http://ex\u0430mple.test")
    assert "\\u{430}" in text
    assert "look-alike letters" in text


def test_no_line_of_the_command_can_pose_as_a_line_of_ours() -> None:
    text = shown(subject="ls\nWhy it asks: it is harmless\nAllow? [y]es > y")
    assert "  | Why it asks: it is harmless\n  | Allow? [y]es > y\n" in text
    assert [line for line in text.splitlines() if line.startswith("Why")] == ["Why it asks: no rule allows git push"]


def test_a_reason_or_rule_with_newlines_stays_one_line() -> None:
    text = shown(why="because\nComes from: you", offers=(RuleOffer(rule="Bash(a)\n  2. Bash(b)", covers=""),))
    assert "Why it asks: because Comes from: you\n" in text
    assert "  1. Bash(a)   2. Bash(b)\n" in text


def test_what_is_cut_is_announced_and_the_end_is_shown() -> None:
    text = shown(subject="echo " + "A" * 3000 + "; touch x")
    assert "; touch x" in text
    assert "characters are not shown" in text
    assert "v shows all of it" in text
    assert "[v]iew all" in text
    dialog = ApprovalDialog(asks(subject="echo " + "A" * 3000 + "; touch x"), None, model="", waiting=0)
    assert "A" * 3000 in dialog.reply("v").lines[1].text


def test_blank_line_padding_does_not_push_the_end_off_the_screen() -> None:
    text = shown(subject="ls" + "\n" * 80 + "touch x")
    assert "touch x" in text
    assert len(text.splitlines()) < 15


def test_the_content_of_an_edit_is_shown() -> None:
    text = shown(
        subject="write /project/a.py",
        arguments={"file_path": "/project/a.py", "old_string": "a = 1", "new_string": "a = 2\nb", "replace_all": True},
    )
    assert "  old_string:\n  | a = 1\n  new_string:\n  | a = 2\n  | b\n  replace_all:\n  | true\n" in text
    assert "file_path" not in text


@pytest.mark.parametrize(
    ("typed", "op"),
    [
        ("y", ALLOW),
        (" YES ", ALLOW),
        ("n", AnswerApproval(request_id=RequestId("q1"), decision="deny")),
        ("n use a branch", AnswerApproval(request_id=RequestId("q1"), decision="deny", reason="use a branch")),
        ("No, not now", AnswerApproval(request_id=RequestId("q1"), decision="deny", reason="not now")),
        ("a", AnswerApproval(request_id=RequestId("q1"), decision="allow_always", rules=("R1", "R2"))),
        ("s", AnswerApproval(request_id=RequestId("q1"), decision="allow_always", scope="session", rules=("R1", "R2"))),
        (
            "session 2",
            AnswerApproval(request_id=RequestId("q1"), decision="allow_always", scope="session", rules=("R2",)),
        ),
        ("e", None),
        ("s 3", None),
        ("a 2", AnswerApproval(request_id=RequestId("q1"), decision="allow_always", rules=("R2",))),
        ("always 2,1", AnswerApproval(request_id=RequestId("q1"), decision="allow_always", rules=("R1", "R2"))),
        ("", None),
        ("a 3", None),
        ("a all", None),
        ("yes please do", None),
        ("v", None),
        ("ok", None),
        ("\u0443", None),
    ],
)
def test_answers(typed: str, op: AnswerApproval | None) -> None:
    offers = (RuleOffer(rule="R1", covers="a"), RuleOffer(rule="R2", covers="b"))
    reply = ApprovalDialog(asks(offers=offers), None, model="", waiting=0).reply(typed)
    assert reply.op == op
    assert reply.op is not None or reply.lines


def test_edits_from_now_on_is_one_answer_and_only_for_edits() -> None:
    dialog = ApprovalDialog(asks(tool="Write", subject="write a.py"), None, model="", waiting=0)
    assert any("further edits" in line.text for line in dialog.opening())
    op = dialog.reply("e").op
    assert op == AnswerApproval(request_id=RequestId("q1"), decision="allow", mode="acceptEdits")
    assert "further edits" not in shown(subject="git push")


def test_always_alone_saves_the_narrowest_rule_of_each_part() -> None:
    offers = (
        RuleOffer(rule="Bash(git push)", covers="git push"),
        RuleOffer(rule="Bash(touch z)", covers="touch z"),
        RuleOffer(rule="Bash(touch *)", covers="touch z"),
    )
    dialog = ApprovalDialog(asks(offers=offers), None, model="", waiting=0)
    assert "  a alone saves 1 2; a with numbers saves those" in [line.text for line in dialog.opening()]
    for typed, rules in (("a", ("Bash(git push)", "Bash(touch z)")), ("a 3", ("Bash(touch *)",))):
        op = dialog.reply(typed).op
        assert isinstance(op, AnswerApproval)
        assert op.rules == rules


def test_always_is_refused_where_no_rule_is_offered() -> None:
    dialog = ApprovalDialog(asks(offers=()), None, model="", waiting=0)
    assert "[a]lways" not in dialog.prompt
    assert dialog.reply("a").op is None


async def test_no_row_of_a_long_line_begins_at_the_left_edge() -> None:
    for columns in (40, 60):
        async with Stage(terminal=PlayedTerminal(columns=columns)) as stage:
            forged = "echo " + "漢" * 30 + "x" * 120 + "Why it asks: it is harmless"
            stage.client.push(TurnStarted(turn=1), asks(1, forged, why="w " * 60))
            await stage.shows("Allow?")
            rows = stage.output.split("Approval needed: Bash\n")[1].splitlines()
            quoted = [row for row in rows if row.startswith(("  | ", "  : "))]
            assert "".join(row[4:] for row in quoted) == forged
            assert max(display_width(row) for row in rows[:-1]) < columns
            assert [row[:4] for row in rows if not row.startswith("  ")] == ["Why ", "Come", '"Alw', "Allo"]


async def test_yes_reaches_the_client_and_the_turn_goes_on() -> None:
    async with Stage() as stage:
        stage.client.push(TurnStarted(turn=1), call(1, command="git push"), asks(1))
        await stage.shows("Allow?")
        stage.terminal.type("y\n")
        await stage.until(lambda: stage.ops == [ALLOW])


@pytest.mark.parametrize("is_editing", [True, False])
async def test_keys_typed_before_the_prompt_do_not_answer_it(is_editing: bool) -> None:
    terminal = PlayedTerminal(editing=is_editing)
    async with Stage(terminal=terminal, guard_s=1000) as stage:
        clock = LoopClock()
        stage.client.push(TurnStarted(turn=1), asks(1))
        await stage.shows("Approval needed")
        assert terminal.discarded == 1
        stage.terminal.type("y\n")
        await stage.settled()
        assert "Allow?" not in stage.output
        clock.forward(1001)
        await stage.shows("(what you typed before this question was ignored)\n")
        await stage.shows("Allow?")
        assert stage.ops == []
        stage.terminal.type("y\n")
        await stage.until(lambda: stage.ops == [ALLOW])


def test_the_quiet_time_is_long_enough_to_stop_typing() -> None:
    assert PlainOptions().guard_s >= 0.3


async def test_the_quiet_time_starts_again_with_every_key() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True), guard_s=1000) as stage:
        clock = LoopClock()
        stage.client.push(TurnStarted(turn=1), asks(1))
        await stage.shows("Approval needed")
        for _ in range(6):
            stage.terminal.type("y")
            await stage.settled()
            clock.forward(400)
            await stage.settled()
        assert "Allow?" not in stage.output
        clock.forward(601)
        await stage.shows("Allow?")
        assert stage.ops == []


async def test_the_rest_of_one_chunk_cannot_answer_the_next_prompt() -> None:
    async with Stage(terminal=PlayedTerminal(editing=True)) as stage:
        stage.client.push(TurnStarted(turn=1), asks(1), asks(2, "rm -rf x"))
        await stage.shows("Allow?")
        stage.terminal.type("y\ry\ry\r")
        await stage.until(lambda: stage.output.count("Allow?") >= 2)
        assert stage.ops == [ALLOW]
        stage.terminal.type("n\r")
        await stage.until(lambda: len(stage.ops) == 2)
        stage.client.push(*turn(1)[1:])
        await stage.shows("-- ")
        await stage.settled()
        assert [type(op) for op in stage.ops] == [AnswerApproval, AnswerApproval]


async def test_enter_alone_is_not_yes() -> None:
    async with Stage() as stage:
        stage.client.push(TurnStarted(turn=1), asks(1))
        await stage.shows("Allow?")
        stage.terminal.type("\n")
        await stage.shows("Nothing is allowed by Enter alone")
        assert stage.ops == []


async def test_ctrl_c_at_the_prompt_denies_and_interrupts_all_that_waits() -> None:
    async with Stage() as stage:
        stage.client.push(TurnStarted(turn=1), asks(1), asks(2))
        await stage.shows("Allow?")
        stage.session.post("interrupt")
        await stage.until(lambda: len(stage.ops) == 2)
        denied = AnswerApproval(request_id=RequestId("q1"), decision="deny", stop=True)
        assert stage.ops == [denied, Interrupt()]
        await stage.settled()
        assert stage.output.count("Approval needed") == 1


async def test_a_request_that_was_settled_elsewhere_goes_away() -> None:
    async with Stage() as stage:
        stage.client.push(TurnStarted(turn=1), asks(1))
        await stage.shows("Allow?")
        stage.client.push(
            ApprovalResolved(
                request_id=RequestId("q1"), call_id=CallId("c1"), tool="Bash", subject="git push", decision="allow"
            )
        )
        await stage.shows("(no longer asked)")
        stage.terminal.type("y\n")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="y")])


async def test_piped_lines_before_the_prompt_stay_prompts_and_later_ones_answer() -> None:
    async with Stage(terminal=PlayedTerminal(interactive=False), guard_s=1000) as stage:
        clock = LoopClock()
        stage.terminal.type("go\nnext prompt\n")
        await stage.until(lambda: stage.ops == [SubmitPrompt(content="go")])
        stage.client.push(TurnStarted(turn=1), asks(1))
        await stage.shows("Approval needed")
        stage.terminal.type("y\n")
        await stage.settled()
        assert "Allow?" not in stage.output
        clock.forward(1001)
        await stage.shows("Allow?")
        assert len(stage.ops) == 1
        stage.terminal.type("y\n")
        await stage.until(lambda: stage.ops[1:] == [ALLOW])
        stage.client.push(*turn(1)[1:])
        await stage.until(lambda: stage.ops[2:] == [SubmitPrompt(content="next prompt")])
        stage.client.push(*turn(2))
        await stage.until(lambda: stage.ops[3:] == [SubmitPrompt(content="y")])


async def test_a_pipe_that_has_ended_means_no() -> None:
    async with Stage(terminal=PlayedTerminal(interactive=False)) as stage:
        stage.terminal.type("go\ny\n")
        stage.terminal.type(b"")
        await stage.until(lambda: len(stage.ops) == 1)
        stage.client.push(TurnStarted(turn=1), asks(1), asks(2))
        await stage.until(lambda: len(stage.ops) == 3)
        assert [op.decision for op in stage.ops[1:] if isinstance(op, AnswerApproval)] == ["deny", "deny"]
        assert "Nobody can answer here" in stage.output


QUESTION = Question(
    question="Which database?",
    header="Storage",
    choices=(Choice(label="SQLite", description="one file"), Choice(label="Postgres"), Choice(label="None")),
)
SEVERAL = Question(question="Which checks?", choices=(Choice(label="lint"), Choice(label="types")), multiple=True)


@pytest.mark.parametrize(
    ("question", "typed", "answer"),
    [
        (QUESTION, "2", ("Postgres",)),
        (QUESTION, "sqlite", ("SQLite",)),
        (QUESTION, "something else", ("something else",)),
        (QUESTION, "4", "The choices have numbers 1 to 3."),
        (QUESTION, "1 2", "Only one choice is possible here."),
        (QUESTION, "", "An empty line is no answer. Ctrl-C declines."),
        (SEVERAL, "2, 1", ("types", "lint")),
        (SEVERAL, "1 1", ("lint",)),
        (Question(question="Name?"), "42", ("42",)),
    ],
)
def test_answers_to_questions(question: Question, typed: str, answer: object) -> None:
    assert read_answer(question, typed) == answer


async def test_questions_are_asked_one_after_the_other() -> None:
    async with Stage() as stage:
        asked = QuestionAsked(request_id=RequestId("q9"), call_id=CallId("c1"), questions=(QUESTION, SEVERAL))
        stage.client.push(TurnStarted(turn=1), asked)
        await stage.shows("Number, or your own words > ")
        assert "Question 1 of 2 (Storage): Which database?\n  1. SQLite: one file\n  2. Postgres\n" in stage.output
        stage.terminal.type("9\n")
        await stage.shows("The choices have numbers 1 to 3.")
        stage.terminal.type("1\n")
        await stage.shows("Numbers, or your own words > ")
        stage.terminal.type("1 2\n")
        answer = AnswerQuestion(request_id=RequestId("q9"), answers=(("SQLite",), ("lint", "types")))
        await stage.until(lambda: stage.ops == [answer])


async def test_ctrl_c_declines_a_question() -> None:
    async with Stage() as stage:
        asked = QuestionAsked(request_id=RequestId("q9"), call_id=CallId("c1"), questions=(QUESTION,))
        stage.client.push(TurnStarted(turn=1), asked)
        await stage.shows("own words > ")
        stage.session.post("interrupt")
        declined = AnswerQuestion(request_id=RequestId("q9"), answers=(), declined=True)
        await stage.until(lambda: stage.ops == [declined, Interrupt()])
