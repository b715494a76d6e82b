"""A refused call is refused: not failed, not run, no test result, no agent, no plan; whoever recorded it."""

import pytest

from unit.ledger.talk import Talk

REFUSALS = [
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit).",
    "The user doesn't want to take this action right now. STOP what you are doing and wait for the user.",
    "Permission to use Bash with command pytest has been denied.",
    "Claude requested permissions to use Bash, but you haven't granted it yet.",
    "This command requires approval",
    "exec command rejected by user",
    "patch rejected by user",
    "[Operation Cancelled] Reason: User did not allow tool call",
    "User denied execution.",
    "The user rejected permission to use this specific tool call.",
    "The user has specified a rule which prevents you from using this specific tool call.",
    "The tool call is rejected by the user. Stop what you are doing.",
    "User rejected the command",
    "The user did not allow this. The user says: not now",
    "Not allowed: plan mode reads only",
    "Bash is not allowed in plan mode",
    "PreToolUse hook blocked this call",
    "Command denied by policy",
    "Permission to use Bash with command aws s3 cp dist.zip s3://acme/releases has been denied.",
    "PreToolUse:Bash hook error: [python3 guard.py]: run them in the container",
]


@pytest.mark.parametrize("words", REFUSALS)
def test_a_refused_test_run_is_no_test_run(words: str) -> None:
    ledger = Talk().user("Run the tests").bash("pytest -q", words, error=True).agent("I could not run them.").ledger()
    assert ledger.tests == ()
    assert ledger.commands == ()
    assert ledger.errors == ()
    assert [(item.decision, item.subject) for item in ledger.refused] == [("deny", "pytest -q")]


@pytest.mark.parametrize(("words", "by_rule"), [(REFUSALS[0], False), (REFUSALS[3], True), (REFUSALS[10], True)])
def test_who_refused_in_another_agents_session(words: str, by_rule: bool) -> None:
    ledger = Talk().user("Run the tests").bash("pytest -q", words, error=True).ledger()
    assert [item.by_rule for item in ledger.refused] == [by_rule]


@pytest.mark.parametrize(
    "words",
    [
        "Exit code 126\nbash: ./run: Permission denied",
        "Exit code 1\nremote: error: push to main was rejected by the user hook",
        "docker: permission denied while trying to connect",
        "EACCES: permission denied, open '/etc/shadow'",
        "fatal: could not read from remote repository",
        "AssertionError: PermissionDenied for users without 'add'",
    ],
)
def test_a_program_that_was_denied_something_did_run(words: str) -> None:
    ledger = Talk().user("Run it").bash("./run", words, error=True).ledger()
    assert len(ledger.commands) == 1
    assert ledger.refused == ()


def test_our_own_log_tells_who_refused() -> None:
    talk = Talk().user("Run the tests").call("Bash", command="pytest").approval("pending", subject="pytest")
    talk.approval("deny", subject="pytest").result("anything at all", error=True)
    by_you = talk.ledger().refused
    assert [(item.subject, item.by_rule) for item in by_you] == [("pytest", False)]
    assert talk.ledger().tests == ()
    rule = Talk().user("Run the tests").call("Bash", command="pytest").approval("deny", subject="pytest")
    assert [item.by_rule for item in rule.result("Not allowed: a rule", error=True).ledger().refused] == [True]


@pytest.mark.parametrize(
    "words",
    [
        "Cancelled: another shell command of the same reply failed.",
        "Interrupted by the user before it finished.",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "[Request interrupted by user for tool use]",
    ],
)
def test_a_cancelled_test_run_says_nothing_about_tests(words: str) -> None:
    ledger = Talk().user("Run the tests").bash("pytest -q", words, error=True).ledger()
    assert (ledger.tests, ledger.commands, ledger.refused) == ((), (), ())


def test_a_refused_agent_never_ran_and_a_refused_plan_is_refused() -> None:
    talk = Talk().user("Look around").call("Task", description="Look").result(REFUSALS[0], error=True)
    assert talk.folding().ledger(held=True).agents == ()
    plan = talk.call("ExitPlanMode", plan="# Port it\n1. parse").result(REFUSALS[0], error=True).ledger().plan
    assert plan is not None
    assert plan.approved is False


def test_a_refusal_belongs_to_its_request() -> None:
    talk = Talk().user("Run the tests").bash("pytest", REFUSALS[0], error=True).agent("All right.")
    assert talk.user("Write the docs instead").ledger().refused == ()


def test_where_nobody_could_be_asked_it_was_not_you_who_refused() -> None:
    talk = Talk().user("Write notes.md").call("Write", file_path="/p/notes.md", content="x")
    talk.approval("pending", "Write", "write /p/notes.md").approval("deny", "Write", "write /p/notes.md", by="nobody")
    (refused,) = talk.result("Not allowed", error=True).ledger().refused
    assert refused.by_rule
    assert refused.subject == "/p/notes.md", "the tool says already that it writes"


def test_the_one_who_is_named_first_refused() -> None:
    words = "approval policy is Never; reject command — you should not ask for escalated permissions"
    ledger = Talk().user("Install it").bash("apt-get install x", words, error=True).ledger()
    assert [item.by_rule for item in ledger.refused] == [True]


@pytest.mark.parametrize(
    "words",
    ["Command was cancelled by user before it could complete.\n12 passing", "aborted by user after 3.1s"],
)
def test_what_was_stopped_on_the_way_was_not_refused(words: str) -> None:
    ledger = Talk().user("Run the tests").bash("npm test", words, error=True).ledger()
    assert (ledger.refused, ledger.tests, ledger.errors) == ((), (), ())


def test_what_was_let_through_later_is_not_told_as_refused() -> None:
    talk = Talk().user("Plan it").call("ExitPlanMode", plan="# One").result(REFUSALS[0], error=True)
    assert len(talk.ledger().refused) == 1
    assert talk.call("ExitPlanMode", plan="# Two").result("User has approved your plan.").ledger().refused == ()
    talk.bash("pytest -q", REFUSALS[0], error=True).bash("pytest -q tests", "3 passed in 0.1s")
    assert [item.subject for item in talk.ledger().refused] == ["pytest -q"]
    assert talk.bash("pytest -q", "9 passed in 0.1s").ledger().refused == ()


def test_a_question_that_nobody_answers_is_no_refusal() -> None:
    words = "The question was not answered: the user declined or nobody is there to answer."
    talk = Talk().user("Add docs").call("AskUser", questions=[{"question": "Where?"}]).result(words, error=True)
    ledger = talk.agent("I put them into README.md.").ledger()
    assert (ledger.refused, ledger.state) == ((), "idle")
