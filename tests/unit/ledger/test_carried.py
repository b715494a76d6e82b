"""A session that was compacted and resumed: its receipt tells what the entries from before the boundary told."""

from pathlib import Path

from tests.engine.compaction.sessions import Session, Tireless, good

from clew.ledger.facts import Ledger
from clew.ledger.fold import LedgerFold, fold
from clew.ledger.language import LanguageFold
from clew.orient.form import form_of
from clew.protocol.event_kinds.context import CompactionEnded
from clew.transcript.past.reader import load

GOAL = "Make the importer resumable after a crash."


def resumed(session: Session) -> Ledger:
    """What another process knows, which reads the tail of the file only."""
    loaded = load(session.path)
    assert not loaded.complete
    return fold(loaded.entries)


async def compacted(session: Session) -> None:
    assert isinstance(await session.compact(Tireless(good)), CompactionEnded)


async def test_the_goal_the_rules_and_the_files_of_before_are_still_known(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt(f"{GOAL} Always run the linter before you stop.")
    session.call("Write", {"file_path": "src/importer.py", "content": "x\n"}, "File created")
    session.reply("I wrote it.")
    session.turn_ended()
    session.filler(12)
    await compacted(session)
    session.prompt("tell me more")
    session.reply("There is nothing more to tell about the last module.")
    session.turn_ended()
    live, after = fold(session.conversation.entries), resumed(session)
    assert after.goal is not None
    assert live.goal is not None
    assert after.goal.text == live.goal.text
    assert after.goal.source == live.goal.source
    assert [rule.text for rule in after.rules] == [rule.text for rule in live.rules] != []
    assert [file.path for file in after.changed_files] == [file.path for file in live.changed_files]
    assert form_of(after).lines() == form_of(live).lines()


async def test_a_second_compaction_and_a_second_resume_lose_nothing_either(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt(GOAL)
    session.call("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"})
    session.filler(12)
    await compacted(session)
    session.resume()
    session.filler(12)
    await compacted(session)
    session.prompt("and now the exporter")
    ledger = resumed(session)
    assert ledger.goal is not None
    assert ledger.goal.text == GOAL
    assert ledger.last_request is not None
    assert ledger.last_request.text == "and now the exporter"
    assert [file.path for file in ledger.changed_files] == ["a.py"]


async def test_what_the_fold_saw_itself_is_not_told_twice(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt(f"{GOAL} Never push.")
    session.filler(12)
    before = fold(session.conversation.entries)
    await compacted(session)
    after = fold(session.conversation.entries)
    assert after.goals == before.goals
    assert after.rules == before.rules
    assert after.files == before.files
    assert after.user_turns == before.user_turns


async def test_open_tasks_cross_and_belong_to_the_request_they_were_written_for(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.filler(12)
    session.prompt(GOAL)
    session.todos(("Write the journal", "completed"), ("Replay it", "in_progress"))
    for number in range(12):
        session.call("Read", {"file_path": f"m{number}.py"}, "x = 1\n" * 400)
    await compacted(session)
    ledger = resumed(session)
    assert ledger.current_todos is not None
    assert [item.content for item in ledger.current_todos.open_items] == ["Replay it"]
    folding = LedgerFold()
    for entry in load(session.path).entries:
        folding.feed(entry)
    session.prompt("Forget that, update the changelog instead.")
    folding.feed(session.conversation.entries[-1])
    assert folding.ledger().current_todos is None


def test_the_language_of_before_weighs_as_if_it_had_been_fed_in_order() -> None:
    german = ["Bitte mach den Import fortsetzbar, ich will nicht von vorne anfangen."] * 3
    english = "please do the rest of it with the reader"
    whole, late = LanguageFold(), LanguageFold()
    for text in (*german, english):
        whole.feed(text)
    late.feed(english)
    assert late.language() == "en"
    late.before(german)
    assert late.language() == whole.language() == "de"
