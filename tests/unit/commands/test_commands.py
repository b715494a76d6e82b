"""Slash commands: usage everywhere (SC-10), near names for unknown ones (SC-11), truthful figures."""

from typing import Any

import pytest
from msgspec.structs import replace

from clew.commands import model, permissions, rewind, sessions
from clew.commands.base import Command, CommandContext, CommandResult, KeyHelp, SessionFacts
from clew.commands.registry import BY_NAME, COMMANDS, as_prompt, is_command, run_command
from clew.protocol.event_kinds.context import FileRestore
from clew.protocol.events import Rewound, SessionRow
from clew.protocol.ids import EntryId
from clew.protocol.lookups.place import ListSessions
from clew.protocol.lookups.rules_and_models import AllowRule, ListModels, ListRules, RemoveRule, RuleRow
from clew.protocol.lookups.session import PreviewRewind, PreviewUndo, RewindPreviewed
from clew.protocol.ops import (
    ForkAgent,
    Redo,
    RequestRecap,
    Rewind,
    SetCoordinator,
    SetModel,
    SetPermissionMode,
    SetTitle,
    SwitchSession,
    Undo,
)
from clew.protocol.state import FileChange, SessionState
from clew.protocol.tally import ModelUse, SideUse, Tally
from clew.protocol.usage import Usage
from clew.text.figures import ago, change, count, duration, money

FACTS = SessionFacts(
    session_id="s-1", model="local/a", permission_mode="default", version="1.2", models=("local/a", "local/b")
)
STATE = SessionState(title="old title", turns=2)


def run(
    text: str, state: SessionState = STATE, *, again: bool = False, keys: tuple[KeyHelp, ...] = (), **facts: Any
) -> CommandResult:
    return run_command(text, CommandContext(facts=replace(FACTS, state=state, **facts), again=again, keys=keys))


@pytest.mark.parametrize("name", sorted(BY_NAME))
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_has_help_and_help_changes_nothing(name: str, flag: str) -> None:
    result = run(f"/{name} {flag}")
    assert result.lines[0].startswith("Usage: /")
    assert result.lines[1] == BY_NAME[name].help.summary
    assert not result.ops
    assert not result.leave
    assert not result.is_error


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.help.name)
def test_an_argument_without_sense_prints_usage_and_does_nothing(command: Command) -> None:
    name = command.help.name
    if name in ("sessions", "pin", "diff", "fork"):
        return  # any words are a filter, something to pin, or a directive that nobody takes yet
    odd = {
        "title": "/title " + "x" * 300,
        "model": "/model a b c",
        "resume": "/resume",
        "compact": "/compact snip somewhere",
        "recall": "/recall",
        "search": "/search",
        "export": "/export x.md --to nonsense",
    }
    text = odd.get(name, f"/{name} no such thing")
    result = run(text, keys=(KeyHelp(keys="Tab", does="complete"),))
    assert result.is_error
    assert any(line.startswith("Usage: ") for line in result.lines)
    assert not result.ops
    assert not result.leave


@pytest.mark.parametrize(
    ("typed", "near"),
    [("/modle", "/model"), ("/stat", "/stats"), ("/HELPP", "/help"), ("/perm", "/permissions"), ("/exot", "/quit")],
)
def test_an_unknown_command_suggests_the_nearest(typed: str, near: str) -> None:
    result = run(typed)
    assert result.is_error
    assert not result.ops
    assert f"Did you mean {near}" in result.lines[0]


@pytest.mark.parametrize("typed", ["/usr/bin/env python", "/", "/zzzzzz"])
def test_far_names_suggest_nothing_and_say_how_to_send_them(typed: str) -> None:
    result = run(typed)
    assert result.is_error
    assert "Did you mean" not in result.lines[0]
    assert "//" in result.lines[1]


def test_slashes_tell_commands_from_prompts() -> None:
    assert is_command("/help")
    assert not is_command("//help")
    assert not is_command("help /me")
    assert as_prompt("//help") == "/help"
    assert as_prompt("help") == "help"


def test_help_lists_all_and_explains_one() -> None:
    listed = "\n".join(run("/help").lines)
    assert all(command.help.summary in listed for command in COMMANDS)
    assert run("/help /usage").lines[0] == "Usage: /cost"
    assert run("/?").lines == run("/help").lines


def test_model_lists_and_sets() -> None:
    assert run("/model").lookups == (ListModels(),)
    assert "*  1. local/a" in model.listing("local/a", ("local/a", "local/b"))
    assert run("/model 2").ops == (SetModel(model="local/b"),)
    assert run("/model openai/x").ops == (SetModel(model="openai/x"),)
    assert run("/model local/a").ops == ()
    assert run("/model 3").is_error
    assert run("/model 1", models=()).is_error
    assert "No list of models" in model.listing("local/a", ())[-1]


def test_going_back_and_forth() -> None:
    assert run("/undo").ops == (Undo(),)
    assert run("/undo --preview").lookups == (PreviewUndo(),)
    assert run("/redo --force").ops == (Redo(force=True),)
    assert run("/rewind").lookups == (PreviewRewind(),)
    assert run("/rewind 3").ops == (Rewind(to=EntryId("3"), scope="both"),)
    assert run("/rewind --files 3 --preview").lookups == (PreviewRewind(to=EntryId("3"), scope="files"),)
    for wrong in ("/rewind 3 --files --both", "/rewind --force", "/rewind 3 --all", "/undo 3"):
        assert run(wrong).is_error


def test_what_going_back_did_is_told_in_few_lines() -> None:
    files = (FileRestore(path="/p/a.py", patch="@@\n-x\n+y\n+z"), FileRestore(path="/p/b", conflict="changed since"))
    shown = list(rewind.preview_lines(RewindPreviewed(to=None, files=files, warnings=("w",)), "/p"))
    assert "  a.py +2 -1" in shown
    assert "    left alone without --force: changed since" in shown
    assert shown[-1] == "Not restored: w"
    told = list(rewind.rewound_lines(Rewound(direction="undo", scope="files", to=None, files=files), "/p"))
    assert told[:3] == ["Undone: 1 file.", "  a.py", "  left alone: b: changed since"]
    listed = list(rewind.preview_lines(RewindPreviewed(to=None, prompts=("1  go",)), "/p"))
    assert listed[1] == "  1  go"


def test_permissions_list_and_mode() -> None:
    assert run("/permissions").lookups == (ListRules(),)
    rules = (
        RuleRow(decision="allow", rule="Bash(git diff *)", scope="user"),
        RuleRow(decision="deny", rule="Read(.env)", scope="user"),
        RuleRow(decision="allow", rule="Bash(make *)", scope="project", removable=True),
    )
    lines = permissions.listing("default", rules)
    assert lines[0].startswith("Mode: default (asks")
    kept = "holds in this project until it is removed"
    settings = "from the settings: holds until they are changed"
    assert lines.index(f"  deny  Read(.env)  ({settings})") < lines.index(f"  allow Bash(git diff *)  ({settings})")
    assert f"  allow Bash(make *)  ({kept})" in lines
    assert run("/permissions remove Bash(make *)").lookups == (RemoveRule(rule="Bash(make *)"),)
    assert run("/permissions mode acceptedits").ops == (SetPermissionMode(mode="acceptEdits"),)
    assert run("/permissions mode default").ops == ()
    assert run("/permissions mode").is_error
    warned = run("/permissions mode bypassPermissions")
    assert warned.ops == (SetPermissionMode(mode="bypassPermissions"),)
    assert "leaves the sandbox without asking" in warned.lines[0]


def test_permissions_allow_saves_what_was_written_and_needs_a_rule() -> None:
    assert run("/permissions allow Read(.env)").lookups == (AllowRule(rule="Read(.env)"),)
    assert run("/permissions allow  Bash(git commit -m 'a  b') ").lookups == (
        AllowRule(rule="Bash(git commit -m 'a  b')"),
    )
    assert run("/permissions allow").is_error


def test_permissions_remove_asks_for_it_and_needs_a_rule() -> None:
    assert run("/permissions remove Bash(make *)").lookups == (RemoveRule(rule="Bash(make *)"),)
    assert run("/permissions remove").is_error


def test_title_shows_and_sets() -> None:
    assert run("/title").lines == ("Title: old title",)
    assert run("/title", SessionState()).lines == ("No title yet.",)
    assert run("/title explain the -h flag").ops == (SetTitle(title="explain the -h flag"),)
    assert run("/title x --help").ops == ()
    assert run("/rename  two   words ").ops == (SetTitle(title="two words"),)


def test_recap_asks_and_explains() -> None:
    for name in ("recap", "away", "catchup"):
        assert run(f"/{name}").ops == (RequestRecap(),)
    assert run("/recap --llm").ops == (RequestRecap(model=True),)
    assert run("/recap why").lines[0].startswith("No recap was shown yet:")
    assert run("/recap why", recap_why="2 of 3 turns since the last.").lines == ("2 of 3 turns since the last.",)
    assert run("/recap why", SessionState(recap="Fixing x."), recap_source="model", recap_why="You asked.").lines == (
        "The last recap was written by a model, checked against the session: Fixing x.",
        "You asked.",
    )


def test_other_sessions_are_listed_and_switched_to() -> None:
    assert run("/sessions login bug").lookups == (ListSessions(query="login bug"),)
    row = SessionRow(session_id="0123456789", agent="clew", title="Fix login", project="shop", age_s=7200)
    assert next(iter(sessions.listing((row,)))) == "01234567  Fix login  (clew · shop · 2 h ago)"
    assert "No session fits." in sessions.listing(())
    assert run("/resume login bug").ops == (SwitchSession(resume="login bug"),)
    assert run("/new").ops == (SwitchSession(),)
    assert run("/branch").ops == (SwitchSession(resume="s-1", fork=True),)
    assert run("/branch", SessionState()).is_error
    assert run("/fork look at the tests").ops == (ForkAgent(directive="look at the tests"),)
    assert run("/fork").is_error
    assert run("/coordinator").ops == (SetCoordinator(),)
    assert run("/coordinator off").ops == (SetCoordinator(on=False),)
    assert run("/coordinator maybe").is_error


def test_version() -> None:
    assert run("/version").lines == ("clew 1.2",)


def test_stats_tell_what_is_known_and_what_is_not() -> None:
    used = Usage(input_tokens=10_000, output_tokens=500)
    models = (
        ModelUse(model="a", requests=3, usage=used, cost_usd=0.25),
        ModelUse(model="b", requests=1, unpriced=1),
    )
    side = (SideUse(purpose="title", requests=2, cost_usd=0.0004),)
    state = SessionState(
        turns=2,
        tally=Tally(models=models, side=side, work_ms=65_000),
        steps=4,
        calls=5,
        failed_calls=1,
        commands=2,
        files=(FileChange(path="x.py", added=3, removed=1, created=True),),
        denials=("Bash: git push",),
    )
    lines = run("/stats", state).lines
    assert lines == (
        "2 turns, 4 steps, 1 min 5 s of work",
        "5 tool calls, 1 failed, 2 commands run",
        "Cost: $0.2504 + 1 request without a price",
        "  a: 3 requests, $0.2500",
        "    in 10,000 · cached 0 · cache written 0 · out 500",
        "  b: 1 request, unknown (no price or usage)",
        "    in 0 · cached 0 · cache written 0 · out 0",
        "Side queries:",
        "  title: 2 calls, $0.0004",
        "Files changed:",
        "  x.py +3 -1 (new)",
        "Denied:",
        "  Bash: git push",
    )


def test_long_lists_are_cut_with_a_count() -> None:
    files = tuple(FileChange(path=f"f{number}.py") for number in range(25))
    assert run("/stats", SessionState(files=files)).lines[-1] == "  and 5 more"


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (duration(0), "0.0 s"),
        (duration(9_940), "9.9 s"),
        (duration(9_960), "10 s"),
        (duration(59_600), "1 min"),
        (duration(61_000), "1 min 1 s"),
        (duration(7_260_000), "2 h 1 min"),
        (money(0), "$0"),
        (money(0.00001), "<$0.0001"),
        (money(0.0123), "$0.0123"),
        (money(12.345), "$12.35"),
        (count(1, "file"), "1 file"),
        (count(1200, "match", "matches"), "1,200 matches"),
        (change(3, 1), "+3 -1"),
        (ago(0), "just now"),
        (ago(59.9), "just now"),
        (ago(61), "1 min ago"),
        (ago(7_300), "2 h ago"),
        (ago(200_000), "2 d ago"),
    ],
)
def test_figures(figure: str, words: str) -> None:
    assert figure == words
