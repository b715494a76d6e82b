"""Where a session stands, what it asks, what it announced, what failed and was made good."""

from typing import Any

from clew.protocol.entries import EventEntry, SystemPromptEntry, TombstoneEntry
from clew.protocol.events import ElicitationAnswered, ElicitationRequested
from clew.protocol.ids import EntryId, RequestId
from clew.protocol.usage import Usage
from unit.ledger.talk import SESSION, Talk


def asked() -> Talk:
    return Talk().user("Add a --json flag to the report command")


def live(talk: Talk) -> str:
    return talk.folding().ledger(held=True).state


def test_states() -> None:
    assert Talk().ledger().state == "idle"
    assert live(asked()) == "working"
    assert asked().ledger().state == "interrupted"
    assert live(asked().call("Bash", command="ls")) == "working"
    assert asked().agent("All done.").ledger().state == "idle"
    assert asked().agent("Should I also document the flag?").ledger().state == "asking"
    assert live(asked().call("Bash", command="rm x").approval("pending")) == "waiting"
    assert (
        asked()
        .call("Bash", command="rm x")
        .approval("pending")
        .approval("allow")
        .result()
        .agent("ok then")
        .ledger()
        .state
        == "idle"
    )
    assert asked().user("[Request interrupted by user]").ledger().state == "stopped"
    stopped = asked().agent("x y z").ended("interrupted").ledger()
    assert (stopped.state, stopped.state_by) == ("stopped", "user")
    assert asked().ended("repeating").ledger().state == "failed", "no answer is never told as one"
    assert asked().ended("max_budget").ledger().state == "suspended"
    assert asked().ended("model_error", error="connection refused").ledger().state == "failed"
    assert asked().ended("model_error", error="429 rate limit reached").ledger().state == "suspended"
    assert asked().ended("model_error", error="You've hit your limit · resets 3pm").ledger().state == "suspended"
    assert asked().note("api_error", "overloaded").ledger().state == "failed"
    assert asked().note("api_error", "overloaded").agent("Here it is.").ledger().state == "idle"


def test_the_open_question_and_its_answer() -> None:
    talk = asked().agent("I can do that.\n\nWant me to also add it to the list command?")
    question = talk.ledger().question
    assert question is not None
    assert (question.text, question.source) == ("Want me to also add it to the list command?", ("e2",))
    assert talk.user("yes").ledger().question is None


def test_code_in_a_question_does_not_end_it() -> None:
    ledger = asked().agent("One update has no lock.\n\nShould I add a `SELECT ... FOR UPDATE` there?").ledger()
    assert ledger.question is not None
    assert ledger.question.text == "Should I add a `SELECT ... FOR UPDATE` there?"


def test_courtesies_are_no_questions() -> None:
    ledger = asked().agent("Done. Is there anything else I can help with?").ledger()
    assert (ledger.question, ledger.state) == (None, "idle")


def test_a_question_by_tool_waits_for_its_result() -> None:
    talk = asked().call("AskUserQuestion", questions=[{"question": "JSON or YAML?"}])
    ledger = talk.folding().ledger(held=True)
    assert ledger.question is not None
    assert (ledger.question.text, ledger.state) == ("JSON or YAML?", "asking")
    assert talk.result("JSON").ledger().question is None


def test_todos_plans_agents_denials() -> None:
    items = [{"content": "Parse", "status": "completed"}, {"content": "Print", "status": "pending"}]
    talk = asked().call("TodoWrite", todos=items).result()
    talk.call("ExitPlanMode", plan="1. parse 2. print").result("approved")
    talk.call("Task", description="Look for callers", subagent_type="scout").result("found two")
    talk.call("Task", description="Never ends", subagent_type="scout")
    talk.call("Bash", command="git push").result("The user doesn't want to proceed with this tool use.", error=True)
    ledger = talk.ledger()
    assert ledger.todos is not None
    assert (ledger.todos.done, [item.content for item in ledger.todos.open_items]) == (1, ["Print"])
    assert ledger.plan is not None
    assert ledger.plan.approved
    assert [(agent.task, agent.standing) for agent in ledger.agents] == [
        ("Look for callers", "completed"),
        ("Never ends", "interrupted"),
    ]
    assert [(item.decision, item.subject) for item in ledger.approvals] == [("deny", "git push")]


def test_errors_and_their_resolution() -> None:
    talk = asked().bash("make all", "Exit code 2\nmissing header", error=True).edit("/p/a.h", error=True)
    assert [(error.where, error.resolved) for error in talk.ledger().errors] == [
        ("make all", False),
        ("edit /p/a.h", False),
    ]
    errors = {error.where: error for error in talk.bash("make all", "ok").ledger().errors}
    assert errors["make all"].resolved
    assert errors["make all"].resolved_by == ("e6", "e7")
    assert errors["make all"].text == "missing header"


def test_usage_counts_each_reply_once_and_money_adds_up() -> None:
    usage = Usage(input_tokens=100, output_tokens=10)
    talk = asked().agent("one two", usage=usage, message="m1").agent("three four", usage=usage, message="m1")
    ledger = talk.agent("five six", usage=usage, message="m2").ended(cost=0.5).ended(cost=0.25).ledger()
    assert (ledger.costs.usage.input_tokens, ledger.costs.usd, ledger.costs.turns) == (200, 0.75, 2)


def test_withdrawn_replies_leave_every_view() -> None:
    talk = asked().agent("Shall I delete the database?").call("Bash", command="drop")
    gone = TombstoneEntry(
        session_id=SESSION, timestamp="", targets=(EntryId("e2"), EntryId("e3")), reason="stream broke"
    )
    ledger = talk.add(gone).result("dropped").ledger()
    assert ledger.question is None
    assert ledger.commands == ()


def test_recaps_are_counted_from() -> None:
    talk = asked().agent("Done it.").note("away_summary", "You were adding a flag.").user("Now document the flag too")
    ledger = talk.ledger()
    assert ledger.recap is not None
    assert (ledger.recap.text, ledger.user_turns, ledger.turns_since_recap) == ("You were adding a flag.", 2, 1)


def test_work_of_agents_in_the_same_file_counts_but_not_their_words() -> None:
    from msgspec.structs import replace

    talk = asked().agent("I'll ask an agent.")
    side = Talk().user("You are a scout. Delete nothing ever.").agent("Shall I?").write("/p/side.py", "x")
    for entry in side.entries:
        talk.add(replace(entry, is_sidechain=True, uuid=EntryId("s" + entry.uuid)))  # type: ignore[attr-defined, call-arg]  # Talk writes chain entries only
    ledger = talk.ledger()
    assert len(ledger.goals) == 1
    assert ledger.question is None
    assert [file.path for file in ledger.changed_files] == ["/p/side.py"]


def test_in_our_own_log_words_are_the_last_when_the_turn_has_ended() -> None:
    talk = Talk().add(SystemPromptEntry(session_id=SESSION, timestamp="2026-03-01T10:00:00.000Z", blocks=("x",)))
    talk.user("Write x.md and describe it").agent("I wrote x.md and now I will")
    assert (talk.ledger().state, live(talk)) == ("interrupted", "working")
    assert talk.ended("completed").ledger().state == "idle"


def test_a_server_that_asks_is_told_as_asking() -> None:
    def event(happened: Any) -> EventEntry:
        return EventEntry(session_id=SESSION, timestamp="2026-03-01T11:00:00.000Z", event=happened)

    request = RequestId("r9")
    talk = asked().call("mcp__people__book")
    talk.add(event(ElicitationRequested(request_id=request, server="people", message="For whom?", schema={})))
    assert live(talk) == "asking"
    talk.add(event(ElicitationAnswered(request_id=request, server="people", action="decline")))
    assert live(talk) == "working"
