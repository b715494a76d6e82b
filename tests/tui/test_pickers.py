"""Pickers for sessions, models, the way back and help: filtering, walking, previews, answers."""

from collections.abc import Callable
from typing import Any

import pytest

from clew.commands.base import CommandHelp, KeyHelp, SessionFacts
from clew.protocol.event_kinds.context import FileRestore
from clew.protocol.events import SessionRow, SessionsFit
from clew.protocol.ids import EntryId, OpId
from clew.protocol.lookups.place import ListSessions, PreviewSession, SessionPreviewed, SessionsListed
from clew.protocol.lookups.rules_and_models import ModelRow, ModelsListed
from clew.protocol.lookups.session import PreviewRewind, RewindPreviewed
from clew.protocol.ops import Op, Rewind, SetModel, SwitchSession
from clew.tui.dialogs import resume_picker
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.help import HelpDialog
from clew.tui.dialogs.model_picker import ModelPicker
from clew.tui.dialogs.registry import DialogContext, dialog_for, opens
from clew.tui.dialogs.resume_picker import ResumePicker
from clew.tui.dialogs.rewind_picker import RewindPicker
from fakes.loop_clock import LoopClock
from tui.hosting import Host

CONTEXT = DialogContext(facts=SessionFacts(model="anthropic/opus-5", cwd="/work/parcels"))
SESSIONS = SessionsListed(
    sessions=(
        SessionRow(
            session_id="s1", agent="clew", title="Fix the test", project="parcels", age_s=7300, recap="1 test fails."
        ),
        SessionRow(
            session_id="s2", agent="codex", title="支付重构 💳", project="payments", age_s=200_000, state="done"
        ),
        SessionRow(session_id="s3", agent="claude", title="", age_s=61),
    ),
)
MODELS = ModelsListed(
    models=(),
    rows=(
        ModelRow(name="anthropic/haiku-5", provider="Anthropic", window=200_000, input_usd=1, output_usd=5),
        ModelRow(name="anthropic/opus-5", provider="Anthropic", aliases=("opus",), window=1_000_000),
        ModelRow(name="ollama/qwen3:30b", provider="Ollama", local=True, window=32_768),
    ),
)
PROMPTS = RewindPreviewed(to=None, prompts=("1  fix the test", "2  add a command", "3  commit it"))


REST_S = 1000.0
LOOK_S = 5000.0


@pytest.fixture(autouse=True)
def long_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typing rests only when a test says so."""
    monkeypatch.setattr(resume_picker, "SETTLE_S", REST_S)
    monkeypatch.setattr(resume_picker, "LOOK_S", LOOK_S)


def resume() -> Dialog:
    return ResumePicker(SESSIONS, CONTEXT)


def models() -> Dialog:
    return ModelPicker(MODELS, CONTEXT)


def rewind() -> Dialog:
    return RewindPicker(PROMPTS, CONTEXT)


def shown(app: Host) -> list[str]:
    """The rows of the dialog."""
    rows = app.rows()
    return rows[next(at for at, row in enumerate(rows) if row.startswith(" ── ")) :]


def asked(app: Host, kind: type[Any]) -> Any:
    return next(op for op in reversed(app.inquiries) if isinstance(op, kind))


@pytest.mark.parametrize(
    ("make", "keys", "op"),
    [
        (resume, ["enter"], SwitchSession(resume="s1")),
        (resume, ["down", "down", "up", "enter"], SwitchSession(resume="s2")),
        (resume, ["pagedown", "enter"], SwitchSession(resume="s3")),
        (resume, ["ctrl+n", "enter"], SwitchSession(resume="s2")),
        (models, ["down", "enter"], SetModel(model="ollama/qwen3:30b")),
        (models, ["h", "a", "i", "enter"], SetModel(model="anthropic/haiku-5")),
        (models, [*"oll", "enter"], SetModel(model="ollama/qwen3:30b")),
    ],
)
async def test_keys_choose(make: Callable[[], Dialog], keys: list[str], op: Op) -> None:
    app = Host(make)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        assert app.answers == [(op,)]


@pytest.mark.parametrize("make", [resume, models, rewind])
async def test_escape_closes_and_decides_nothing(make: Callable[[], Dialog]) -> None:
    app = Host(make)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        await pilot.press("x", "escape", "escape")
        await pilot.pause()
        assert (app.answers, app.dismissals) == ([], 1)


async def test_a_click_points_and_another_chooses() -> None:
    app = Host(resume)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        await app.click(pilot, "codex")
        assert app.answers == []
        assert app.dialog.options.value == "s2"
        await app.click(pilot, "codex")
        assert app.answers == [(SwitchSession(resume="s2"),)]


async def test_sessions_at_60_columns() -> None:
    app = Host(resume)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert shown(app) == [
            " ── Resume a session ──────────────────────────── 3 found ─",
            " ▌ words of a title, project or recap",
            " › Fix the test                                    2 h ago",
            "   clew · parcels · 1 test fails.",
            "   支付重构 💳                                     2 d ago",
            "   codex · payments · done",
            "   (no title)                                    1 min ago",
            "   claude",
            "",
            " Enter goes on · Tab last exchange · Esc closes",
        ]
        await pilot.press("down")
        await pilot.pause()
        assert shown(app)[-1] == " Enter goes on in payments · Tab last exchange · Esc closes"


async def test_typing_asks_for_the_list_once_it_rests() -> None:
    app = Host(resume)
    async with app.run_test(size=(80, 24)) as pilot:
        clock = LoopClock()
        await pilot.press("p", "a", "y")
        assert app.inquiries == []
        clock.forward(REST_S)
        await pilot.pause()
        await pilot.pause()
        (op,) = app.inquiries
        assert isinstance(op, ListSessions)
        assert op.query == "pay"
        await pilot.press("m")
        clock.forward(REST_S)
        await pilot.pause()
        await pilot.pause()
        app.answer(SessionsListed(sessions=()), to=0)
        assert len(app.dialog.options.items) == len(SESSIONS.sessions), (
            "the answer to an earlier question comes too late"
        )
        app.answer(SessionsListed(sessions=SESSIONS.sessions[1:2]))
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.answers == [(SwitchSession(resume="s2"),)]


async def test_nothing_fits() -> None:
    app = Host(lambda: ResumePicker(SessionsListed(sessions=()), CONTEXT))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert shown(app)[-1] == " Nothing fits · Esc closes"
        await pilot.press("enter")
        await pilot.pause()
        assert app.answers == []


@pytest.mark.parametrize(("size", "keys"), [((120, 40), []), ((100, 30), []), ((60, 20), ["tab"])])
async def test_the_last_exchange_of_the_marked_session(size: tuple[int, int], keys: list[str]) -> None:
    app = Host(resume)
    async with app.run_test(size=size) as pilot:
        clock = LoopClock()
        await pilot.press("down", *keys, "up", "down")
        clock.forward(REST_S)
        await pilot.pause()
        await pilot.pause()
        previews = [op for op in app.inquiries if isinstance(op, PreviewSession)]
        assert previews[-1].session == "s2"
        lines = ("> which one first?", "Stripe.", "> which one first?")
        app.answer(SessionPreviewed(session="s2", lines=lines))
        await pilot.pause()
        text = "\n".join(shown(app))
        assert "│ ▌ which one first?" in text
        assert "│ Stripe." in text
        assert text.count("▌ which") == 1, "no line of an answer has the user's bar"


async def test_no_preview_is_asked_for_where_it_is_not_seen() -> None:
    app = Host(resume)
    async with app.run_test(size=(80, 24)) as pilot:
        clock = LoopClock()
        await pilot.press("down")
        clock.forward(REST_S)
        await pilot.pause()
        assert app.inquiries == []


async def test_own_sessions_in_sight_are_told_by_a_model_one_after_the_other() -> None:
    rows = [SessionRow(session_id=f"s{at}", agent="clew", title=f"Session {at}", recap="facts") for at in range(40)]
    rows[1] = SessionRow(session_id="s1", agent="codex", title="Of another agent", recap="facts")
    app = Host(lambda: ResumePicker(SessionsListed(sessions=tuple(rows)), CONTEXT))
    async with app.run_test(size=(80, 24)) as pilot:
        clock = LoopClock()
        await pilot.pause()
        assert app.inquiries == [], "opening the list asks nobody"
        clock.forward(LOOK_S)
        await pilot.pause()
        asked: list[str] = []
        while len(asked) < len(rows) and (
            waiting := [op for op in app.inquiries if isinstance(op, PreviewSession)][-1:]
        ):
            if waiting[0].session in asked:
                break
            assert waiting[0].words
            asked.append(waiting[0].session)
            told = SessionPreviewed(session=asked[-1], lines=(), recap=f"Told {asked[-1]}.")
            app.answer(told)
            await pilot.pause()
        text = "\n".join(shown(app))
        assert asked[:2] == ["s0", "s2"], "another agent's session is not sent"
        assert "Told s0." in text
        assert f"Told {asked[-2]}." in text
        assert 2 <= len(asked) < 20, "what is not seen is not written"
        await pilot.press("escape")


async def test_a_recap_that_is_refused_ends_the_asking() -> None:
    app = Host(resume)
    async with app.run_test(size=(80, 24)) as pilot:
        clock = LoopClock()
        await pilot.pause()
        clock.forward(LOOK_S)
        await pilot.pause()
        (asked,) = [op for op in app.inquiries if isinstance(op, PreviewSession)]
        assert asked.words
        app.refuse("no list here")
        await pilot.pause()
        assert len(app.inquiries) == 1


async def test_models_by_provider_with_the_one_in_use_marked() -> None:
    app = Host(models)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert shown(app) == [
            " ── Model ────────────────────────────── anthropic/opus-5 ─",
            " ▌ a model, a provider, or a short name such as sonnet",
            " Anthropic",
            "   haiku-5                                   200k  $1 / $5",
            " › opus-5  in use  opus                                 1M",
            " Ollama",
            "   qwen3:30b                                    32k  local",
            "",
            " Enter uses it from the next request on · Esc closes",
        ]
        await pilot.press("enter")
        await pilot.pause()
        assert (app.answers, app.dismissals) == ([], 1), "the model in use needs no change"


async def test_a_model_that_is_not_listed() -> None:
    app = Host(models)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("z", "enter")
        await pilot.pause()
        assert app.answers == []
        assert any("/model provider/name" in row for row in shown(app))


async def previewed(app: Host, **more: object) -> None:
    assert isinstance(asked(app, PreviewRewind), PreviewRewind)
    files = (
        FileRestore(path="/work/parcels/cli.py", patch="@@ -1,2 +1 @@\n import sys\n-x = 1\n"),
        FileRestore(path="/work/parcels/README.md", patch="@@ -1 +1 @@\n-a\n+b\n", conflict="edited since"),
    )
    event = RewindPreviewed(to=EntryId("e"), files=files, prompts=("2  add a command", "3  commit it"))
    app.answer(event)


@pytest.mark.parametrize(
    ("keys", "op"),
    [
        (["b"], Rewind(to=EntryId("2"), scope="both")),
        (["c"], Rewind(to=EntryId("2"), scope="conversation")),
        (["f"], Rewind(to=EntryId("2"), scope="files")),
        (["o", "b"], Rewind(to=EntryId("2"), scope="both", force=True)),
        (["o", "o", "f"], Rewind(to=EntryId("2"), scope="files")),
        (["o", "c"], Rewind(to=EntryId("2"), scope="conversation")),
        (["down", "down", "enter"], Rewind(to=EntryId("2"), scope="conversation")),
    ],
)
async def test_the_way_back_is_seen_first_and_then_chosen(keys: list[str], op: Rewind) -> None:
    app = Host(rewind)
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.answers == []
        await pilot.press("b")
        assert app.answers == [], "nothing is chosen before it is known what would change"
        await previewed(app)
        await pilot.pause()
        text = "\n".join(shown(app))
        assert "Back to before prompt 2" in text
        assert "Leaves the conversation: 2 prompts" in text
        assert " cli.py  +0 -1" in text
        assert "stays as it is without your consent: edited since" in text
        await pilot.press("enter")
        assert app.answers == []
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        assert app.answers == [(op,)]


async def test_a_way_back_without_files_or_that_is_refused() -> None:
    app = Host(rewind)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        asked(app, PreviewRewind)
        app.answer(RewindPreviewed(to=EntryId("e"), prompts=("3  commit it",)))
        await pilot.pause()
        assert any("No file was changed since." in row for row in shown(app))
        assert [option.value for option in app.dialog.options.items] == ["conversation"]
        await pilot.press("escape", "down", "enter")
        await pilot.pause()
        assert len(app.inquiries) == 2
        app.refuse("the agent still works")
        await pilot.pause()
        assert any("Not possible: the agent still works" in row for row in shown(app))
        assert app.answers == []


async def test_help_is_filtered_and_gives_a_command_to_the_prompt() -> None:
    keys = [
        KeyHelp(where="everywhere", keys="Escape", does="interrupt the agent"),
        KeyHelp(where="prompt", keys="Ctrl-J, Alt-Enter", does="new line"),
    ]
    commands = [
        CommandHelp(name="compact", usage="/compact", summary="Make the view smaller."),
        CommandHelp(name="undo", usage="/undo", summary="Take the last changes back."),
    ]
    app = Host(lambda: HelpDialog(keys, commands))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert shown(app) == [
            " ── Help ──────────────────────────────────────────────────",
            " ▌ a key, a command or a word",
            " keys · everywhere",
            " › Escape             interrupt the agent",
            " keys · prompt",
            "   Ctrl-J, Alt-Enter  new line",
            " commands",
            "   /compact           Make the view smaller.",
            "   /undo              Take the last changes back.",
            "",
            " ↑ ↓ PgUp PgDn · Enter takes a command · Esc closes",
        ]
        await pilot.press(*"line", "enter")
        await pilot.pause()
        assert app.dismissals == 0
        for _ in range(4):
            await pilot.press("backspace")
        await pilot.press(*"back", "enter")
        await pilot.pause()
        assert (app.overtyped, app.dismissals) == ("/undo ", 1)


def test_the_registry_opens_pickers_only_for_those_who_asked() -> None:
    for event, kind in ((SESSIONS, ResumePicker), (MODELS, ModelPicker), (PROMPTS, RewindPicker)):
        assert not opens(event)
        assert isinstance(dialog_for(event, CONTEXT), kind)
    assert opens(SessionsFit(op_id=OpId("x"), sessions=SESSIONS.sessions))
