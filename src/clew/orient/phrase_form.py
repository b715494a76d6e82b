"""What a language must be able to say in a recap, and English."""

from typing import NamedTuple


class Phrases(NamedTuple):
    """Templates of one language. `{}` takes the fact."""

    next: str
    stop: str
    join: str
    listed: str
    """Between items of a list."""
    more: str
    changed: str
    created: str
    deleted: str
    tests_pass: str
    tests_ok: str
    tests_fail: str
    test_fails: str
    lint_ok: str
    checks_ok: str
    build_ok: str
    check_fail: str
    committed: str
    pushed: str
    tagged: str
    opened: str
    asks: str
    waits: str
    stopped: str
    limited: str
    failed: str
    working: str
    stopped_at: str
    cut_at: str
    busy: str
    unanswered: str
    todo: str
    agents: str
    agents_done: str
    turn_ended: str
    edit_failed: str
    do_review: str
    do_push: str
    do_push_tag: str
    do_merge: str
    do_fix_tests: str
    do_test: str
    do_answer: str
    do_decide: str
    do_approve: str
    do_resume: str
    do_finish: str
    do_rerun: str
    do_wait: str
    do_read: str
    ran: str
    away: str


ENGLISH = Phrases(
    next="Next: {}",
    stop=". ",
    join="; ",
    listed=", ",
    more="{} and {} more",
    changed="{} changed",
    created="{} written",
    deleted="{} deleted",
    tests_pass="{} tests pass",
    tests_ok="tests pass",
    tests_fail="{} tests fail",
    test_fails="1 test fails",
    lint_ok="lint is clean",
    checks_ok="checks pass",
    build_ok="the build passes",
    check_fail="{} fails",
    committed="committed as {}",
    pushed="pushed to {}",
    tagged="tagged {}",
    opened="PR {} opened",
    asks="the agent asks: {}",
    waits="approval is pending for {}",
    stopped="interrupted",
    limited="stopped by a limit",
    failed="the run failed: {}",
    working="cut off in the middle of the work",
    stopped_at="interrupted at {}",
    cut_at="cut off at {}",
    busy="the agent is at work",
    unanswered="the last request has no answer yet",
    todo="{} of {} tasks done",
    agents="{} agents running",
    agents_done="{} agents finished",
    turn_ended="the turn ended",
    edit_failed="an edit of {} failed",
    do_review="review and commit",
    do_push="push it",
    do_push_tag="push the tag {}",
    do_merge="merge PR {}",
    do_fix_tests="fix the failing tests",
    do_test="run the tests, then commit",
    do_answer="answer: {}",
    do_decide="decide whether to {}",
    do_approve="approve or deny {}",
    do_resume="run it again: {}",
    do_finish="finish: {}",
    do_rerun="rerun it",
    do_wait="wait for the agent to finish",
    do_read="read the answer, nothing else is open",
    ran="Ran {}",
    away="While you were away: {}",
)
