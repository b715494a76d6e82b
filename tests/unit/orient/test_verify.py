"""A model's words against ledger and dialog: true ones stay, false ones go, sentence by sentence."""

import pytest

from clew.orient.dialog import dialog_of
from clew.orient.verify import Evidence, Verified, verify
from unit.ledger.talk import Talk


def fixed() -> Talk:
    talk = Talk().user("Fix the date parser in dates.py for leap years, see PAY-1234; never touch vendor/")
    talk.edit("/p/src/dates.py", "a", "b").write("/p/tests/test_dates.py", "x").bash("rm /p/old_dates.py", "")
    talk.bash("pytest -q", "14 passed in 0.1s").bash("ruff check .", "All checks passed!")
    return talk.agent(
        "I fixed the leap year case in `parse_date` and wrote two tests for it. The old helper is removed. "
        "I haven't committed anything yet; the README could mention the rule."
    )


def checked(text: str, talk: Talk | None = None) -> Verified:
    made = talk or fixed()
    return verify(text, Evidence(made.ledger(), dialog_of(made.entries)))


TRUE = [
    "You are fixing leap years in the date parser (dates.py); it is done and 14 tests pass.",
    "Leap years are handled in `parse_date` now and lint is clean; nothing has been committed yet.",
    "PAY-1234: the date parser handles leap years. Next: review and commit.",
    "The leap year fix in dates.py is complete, with two tests; old_dates.py was deleted.",
    "You asked for a fix of the leap year case; next step is to commit it or mention the rule in the README.",
    "Fixing the parser for leap years and/or dates; the tests pass.",
    "The date parser was fixed and the tests are green; decide whether the README should mention the rule.",
    "Done with leap years in src/dates.py; it still needs to be committed and pushed.",
    "Two files changed: dates.py and test_dates.py.",
]
FALSE = [
    ("You fixed the date parser in calendar.py.", "calendar.py"),
    ("You fixed dates.py and 15 tests pass.", "15"),
    ("You fixed dates.py and committed it.", "committed"),
    ("You fixed dates.py and pushed it.", "pushed"),
    ("You fixed dates.py and the build is green.", "build is green"),
    ("You fixed dates.py and deployed it.", "deployed"),
    ("You fixed dates.py with `terraform apply`.", "terraform apply"),
    ("You fixed dates.py for Margaret.", "Margaret"),
    ("You fixed convert_date in dates.py.", "convert_date"),
    ("The customer database was wiped.", "customer"),
    ("The parser is done but three tests fail.", "tests fail"),
    ("dates.py was deleted.", "deleted"),
    ("The agent is waiting for your approval.", "approval"),
    ("The work was interrupted.", "interrupted"),
    ("The change was merged into main.", "merged"),
    ("PAY-9999 is fixed.", "PAY-9999"),
    ("The fix was rejected by you.", "rejected"),
    ("Run /deploy:prod next.", "/deploy:prod"),
    ("The fix is on branch ann/hot-fix now.", "ann/hot-fix"),
    ("Seven files changed.", "Seven files"),
]


@pytest.mark.parametrize("text", TRUE)
def test_what_the_session_bears_out_stays_as_it_is(text: str) -> None:
    assert checked(text) == Verified(text=text)


@pytest.mark.parametrize(("text", "part"), FALSE)
def test_what_it_does_not_is_dropped_with_its_reason(text: str, part: str) -> None:
    found = checked(text)
    assert found.text == ""
    assert part in found.dropped[0].reason
    assert part in found.objection


def test_a_closing_quotation_mark_stays() -> None:
    text = 'The agent said "The old helper is removed." You are fixing leap years in dates.py.'
    assert checked(text).text == text


def test_only_what_is_false_goes() -> None:
    found = checked("You fixed leap years in dates.py; the server in Oslo was rebooted. All 14 tests pass.")
    assert found.text == "You fixed leap years in dates.py. All 14 tests pass."
    assert [item.text for item in found.dropped] == ["the server in Oslo was rebooted."]


def test_a_failed_run_denies_success_whatever_the_agent_said() -> None:
    talk = fixed().bash("pytest -q", "1 failed, 13 passed in 0.1s", error=True).agent("All tests pass now, it is done.")
    assert checked("The tests pass.", talk).text == ""
    assert checked("It is all done.", talk).text == ""
    assert checked("One test fails: 1 failed, 13 passed.", talk).text


def test_a_state_must_be_the_state() -> None:
    talk = fixed().user("Now document it").call("Bash", command="make docs")
    assert checked("The docs were interrupted.", talk).text
    assert checked("The agent asks whether to go on and is waiting for your answer.", fixed()).text == ""
    asking = fixed().agent("Shall I mention the rule in the README?")
    assert checked("It is waiting for your answer about the README.", asking).text


def test_length_is_cut_at_a_sentence_and_never_refused() -> None:
    long = "You fixed the leap year case in dates.py. " * 40
    found = checked(long)
    assert found.text.startswith("You fixed the leap year case")
    assert len(found.text.split()) <= 40
    assert found.text.endswith(".")
    one = checked("You fixed the leap year case in dates.py and the date parser " * 20)
    assert len(one.text.split()) <= 41


def test_markdown_is_taken_off() -> None:
    found = checked("## Recap\n\n- **You fixed** dates.py\n- 14 tests pass")
    assert "*" not in found.text
    assert "#" not in found.text
    assert "dates.py" in found.text


def test_other_languages_are_checked_for_names_numbers_and_claims() -> None:
    talk = Talk().user("请修复 dates.py 的闰年问题").edit("/p/dates.py").agent("我修复了 dates.py 的闰年问题。")
    assert checked("修复了 dates.py 的闰年问题。", talk).text
    assert checked("修复了 orders.py 的闰年问题。", talk).text == ""
    assert checked("闰年问题已推送。", talk).text == ""
    assert checked("客户数据库被完全清空并且服务器重启。", talk).text == ""
