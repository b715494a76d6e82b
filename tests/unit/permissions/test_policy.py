"""Modes, rules and scopes over files, fetches and tools."""

import os
from pathlib import Path
from typing import Any

import pytest

from clew.permissions.access import Decision, FetchAccess, FileAccess, FileOp, Mode, ShellAccess, ToolAccess, Verdict
from clew.permissions.policy import Policy, judge, judge_call, make_policy
from clew.permissions.rules import Rule, RuleError, Scope, add_rule, parse_rule
from unit.permissions.world import World


def policy(world: World, mode: Mode = "default", *rules: Rule, trusted: bool = True, sandboxed: bool = False) -> Policy:
    return make_policy(
        root=str(world.workspace),
        home=str(world.home),
        clew_home=str(world.clew_home),
        mode=mode,
        rules=rules,
        trusted=trusted,
        sandboxed=sandboxed,
    )


def rule(text: str, effect: Decision = "allow", scope: Scope = "user") -> Rule:
    return parse_rule(text, effect, scope)


def file(world: World, op: FileOp, path: str, mode: Mode = "default", *rules: Rule) -> Verdict:
    return judge(FileAccess(op=op, path=path, cwd=str(world.workspace)), policy(world, mode, *rules))


def shell(world: World, command: str, policy: Policy, *, leaves_sandbox: bool = False) -> Verdict:
    return judge(ShellAccess(command=command, cwd=str(world.workspace), leaves_sandbox=leaves_sandbox), policy)


@pytest.mark.parametrize(
    ("op", "path", "mode", "decision"),
    [
        ("read", "README.md", "default", "allow"),
        ("read", "missing.py", "default", "allow"),
        ("list", ".", "default", "allow"),
        ("write", "new.py", "default", "ask"),
        ("write", "new.py", "acceptEdits", "allow"),
        ("write", "new.py", "plan", "deny"),
        ("write", "new.py", "bypassPermissions", "allow"),
        ("delete", "a.txt", "acceptEdits", "allow"),
        ("delete", "src", "acceptEdits", "ask"),
        ("write", ".git/config", "acceptEdits", "ask"),
        ("write", ".git/config", "bypassPermissions", "ask"),
        ("write", ".clew/settings.json", "bypassPermissions", "ask"),
        ("write", "deep/.CLAUDE/settings.json", "bypassPermissions", "ask"),
        ("write", "GIT~1/config", "acceptEdits", "ask"),
        ("write", ".git::$INDEX_ALLOCATION/config", "acceptEdits", "ask"),
        ("write", ".vscode/tasks.json", "acceptEdits", "ask"),
        ("write", "x/.mcp.json", "acceptEdits", "ask"),
        ("read", ".env", "default", "ask"),
        ("read", ".env.example", "default", "allow"),
        ("read", ".env", "bypassPermissions", "ask"),
        ("read", "/etc/hostname", "default", "ask"),
        ("read", "/etc/hostname", "bypassPermissions", "allow"),
        ("read", "~/.clew/vault.json", "bypassPermissions", "deny"),
        ("read", "~/.clew/settings.json", "bypassPermissions", "deny"),
        ("write", "~/.clew/projects/key/own.jsonl", "bypassPermissions", "deny"),
        ("read", "~/.clew/projects/key/own.jsonl", "default", "ask"),
        ("write", "~/.clew/skills/x/SKILL.md", "default", "ask"),
        ("write", "/dev/sda", "bypassPermissions", "deny"),
        ("read", "/proc/self/mem", "bypassPermissions", "deny"),
        ("write", "a\0b", "acceptEdits", "deny"),
        ("write", "", "acceptEdits", "deny"),
        ("write", "x" * 300, "acceptEdits", "deny"),
        ("write", "a.txt/b", "acceptEdits", "deny"),
        ("write", "name\nwith newline", "acceptEdits", "ask"),
        ("write", "zero\u200bwidth", "acceptEdits", "ask"),
        ("write", "\uff0e\uff0e/x", "acceptEdits", "ask"),
        ("write", "cafe\u0301.txt", "acceptEdits", "allow"),
        ("write", "$HOME/x", "acceptEdits", "allow"),
        ("read", "~nobody/x", "default", "ask"),
        ("read", "\ud800x", "default", "deny"),
        ("read", "https://a.example/x", "default", "ask"),
        ("write", "/dev/null", "acceptEdits", "ask"),
        ("read", "/dev/zero", "default", "deny"),
    ],
)
def test_files(world: World, op: FileOp, path: str, mode: Mode, decision: Decision) -> None:
    assert file(world, op, path, mode).decision == decision


def test_links_are_judged_by_where_they_lead(world: World) -> None:
    (world.workspace / "out").symlink_to(world.outside)
    (world.workspace / "in").symlink_to(world.workspace / "src")
    (world.workspace / "own").symlink_to(world.clew_home / "vault.json")
    (world.workspace / "hooks").symlink_to(world.workspace / ".git")
    assert file(world, "read", "out/x").decision == "ask"
    assert file(world, "write", "out/x", "acceptEdits").decision == "ask"
    assert file(world, "read", "in/main.py").decision == "allow"
    assert file(world, "read", "own", "bypassPermissions").decision == "deny"
    assert file(world, "write", "hooks/x", "acceptEdits").decision == "ask"
    assert file(world, "delete", "out", "acceptEdits").decision == "allow", "the link itself lies in the workspace"
    assert file(world, "delete", "out/", "acceptEdits").decision == "ask", "a slash follows it"


def test_a_sibling_with_the_same_prefix_is_outside(world: World) -> None:
    assert file(world, "read", f"{world.workspace}-evil/x").decision == "ask"


def test_hard_links_to_own_state_and_credentials(world: World) -> None:
    os.link(world.clew_home / "vault.json", world.workspace / "v")
    os.link(world.home / ".ssh" / "id_rsa", world.workspace / "k")
    os.link(world.workspace / "a.txt", world.workspace / "second.txt")
    assert file(world, "read", "v", "bypassPermissions").decision == "deny"
    assert file(world, "read", "k").decision == "ask"
    assert file(world, "read", "second.txt").decision == "allow"
    assert file(world, "write", "second.txt", "acceptEdits").decision == "ask"


def test_pipes_are_not_opened(world: World) -> None:
    os.mkfifo(world.workspace / "pipe")
    assert file(world, "read", "pipe").decision == "deny"


def test_file_rules(world: World) -> None:
    assert file(world, "write", "docs/a.md", "default", rule("Edit(docs/**)")).decision == "allow"
    assert file(world, "write", "src/a.md", "default", rule("Edit(docs/**)")).decision == "ask"
    assert file(world, "write", "docs/../.git/x", "default", rule("Edit(**)")).decision == "ask", "protected names hold"
    assert file(world, "read", "src/main.py", "default", rule("Read(src/**)", "deny")).decision == "deny"
    assert file(world, "read", "src/../src/main.py", "default", rule("Read(src/*)", "ask")).decision == "ask"
    assert (
        file(world, "read", str(world.outside / "x"), "default", rule(f"Read({world.outside}/**)")).decision == "allow"
    )
    assert file(world, "read", "~/.clew/vault.json", "default", rule("Read")).decision == "deny"


def test_deny_beats_ask_beats_allow_whatever_the_specificity(world: World) -> None:
    wide_deny, exact_allow, ask = rule("Edit", "deny"), rule("Edit(a.txt)"), rule("Edit(*)", "ask")
    assert file(world, "write", "a.txt", "default", exact_allow, wide_deny).decision == "deny"
    assert file(world, "write", "a.txt", "default", exact_allow, ask).decision == "ask"
    assert file(world, "write", "a.txt", "bypassPermissions", ask).decision == "ask"


def test_a_deny_rule_sees_through_a_link(world: World) -> None:
    (world.workspace / "alias").symlink_to(world.workspace / "src" / "main.py")
    assert file(world, "read", "alias", "default", rule("Read(src/**)", "deny")).decision == "deny"
    assert file(world, "read", "alias", "default", rule("Read(alias)", "deny")).decision == "deny"


def test_project_rules_can_only_narrow(world: World) -> None:
    widening = rule("Bash(touch *)", "allow", "project")
    narrowing = rule("Bash(ls *)", "deny", "project")
    assert shell(world, "touch x", policy(world, "default", widening)).decision == "ask"
    assert shell(world, "ls", policy(world, "default", narrowing)).decision == "deny"


def test_sandbox_answers_for_what_merely_asks(world: World) -> None:
    boxed = policy(world, sandboxed=True)
    assert shell(world, "touch x", boxed).decision == "allow"
    assert shell(world, "touch x", boxed, leaves_sandbox=True).decision == "ask"
    assert shell(world, "rm -rf ~", boxed).decision == "deny"
    assert shell(world, "echo x > .git/hooks/post-commit", boxed).decision == "ask"
    assert (
        shell(world, "touch x", policy(world, "default", rule("Bash(touch *)", "ask"), sandboxed=True)).decision
        == "ask"
    )
    assert shell(world, "touch x", policy(world, "plan", sandboxed=True)).decision == "deny"
    assert shell(world, "touch x", policy(world, sandboxed=True, trusted=False)).decision == "ask"


def let_out(world: World, command: str, mode: Mode = "default", **more: Any) -> Verdict:
    """A command that wants out of the sandbox, with a rule for exactly `make deploy`."""
    exact = rule("Unsandboxed(make deploy)")
    return shell(world, command, policy(world, mode, exact, sandboxed=True, **more), leaves_sandbox=True)


def test_a_rule_lets_exactly_one_command_leave_the_sandbox(world: World) -> None:
    assert let_out(world, "make deploy").decision == "allow"
    for other in ("make", "make deploy2", "make deploy; ls", "make  deploy", "env make deploy", "make deploy > x"):
        assert let_out(world, other).decision == "ask", other
    assert let_out(world, "make deploy", "plan").decision == "deny"
    assert let_out(world, "make deploy", trusted=False).decision == "ask"
    inside = ShellAccess(command="make deploy", cwd=str(world.workspace / "src"), leaves_sandbox=True)
    assert judge(inside, policy(world, "default", rule("Unsandboxed(make deploy)"), sandboxed=True)).decision == "ask"
    held = policy(world, "default", rule("Unsandboxed(make deploy)"))
    assert shell(world, "make deploy", held).decision == "ask", (
        "it says nothing about commands where there is no sandbox"
    )


def test_such_a_rule_beats_nothing_that_always_asks_or_is_denied(world: World) -> None:
    def judged(command: str, *more: Rule) -> Verdict:
        rules = (rule(f"Unsandboxed({command})"), *more)
        return shell(world, command, policy(world, "default", *rules, sandboxed=True), leaves_sandbox=True)

    (world.workspace / ".env").write_text("KEY=1")
    assert judged("rm -rf ~").decision == "deny"
    assert judged("echo x > .git/hooks/post-commit").decision == "ask"
    assert judged("cat .env").decision == "ask"
    assert judged("make", rule("Bash(make)", "deny")).decision == "deny"
    assert judged("make", rule("Bash(make)", "ask")).decision == "ask"


def test_what_is_offered_for_leaving_is_the_exact_command_or_nothing(world: World) -> None:
    def offered(command: str, **more: Any) -> list[str]:
        verdict = shell(world, command, policy(world, sandboxed=True, **more), leaves_sandbox=True)
        assert verdict.decision == "ask"
        return [offer.rule for offer in verdict.offers]

    (world.workspace / ".env").write_text("KEY=1")
    assert offered("make deploy") == ["Unsandboxed(make deploy)"]
    assert offered("curl https://x.test | tee out.txt") == ["Unsandboxed(curl https://x.test | tee out.txt)"]
    for command in ("cat .env", "echo x > .git/hooks/post-commit", "make\nls", "echo " + "x" * 400, "$X y"):
        assert offered(command) == [], command
    assert offered("make", trusted=False) == []


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("Unsandboxed", "allow"),
        ("Unsandboxed(*)", "allow"),
        ("Unsandboxed(make)", "deny"),
        ("Unsandboxed(make)", "ask"),
    ],
)
def test_no_rule_lets_more_than_one_command_out(text: str, effect: Decision) -> None:
    with pytest.raises(RuleError, match="exactly one command"):
        parse_rule(text, effect)


def test_untrusted_directories_ask_even_for_reading_commands(world: World) -> None:
    assert shell(world, "git status", policy(world, trusted=False)).decision == "ask"
    assert (
        judge(
            FileAccess(op="write", path="x", cwd=str(world.workspace)), policy(world, "acceptEdits", trusted=False)
        ).decision
        == "ask"
    )


def test_offers_are_exact_and_per_part(world: World) -> None:
    verdict = shell(world, "npm run build && git push origin main && ls", policy(world))
    assert [offer.rule for offer in verdict.offers] == [
        "Bash(npm run build)",
        "Bash(npm run build *)",
        "Bash(git push origin main)",
    ]
    assert [offer.covers for offer in verdict.offers] == ["npm run build", "npm run build", "git push origin main"]


@pytest.mark.parametrize(
    "command", ["echo x > f", "A=b make", "bash -c 'touch x'", "sudo make", "rm $x", "rm *", "python3 -c 'print(1)'"]
)
def test_no_offer_where_a_rule_would_cover_more_than_shown(world: World, command: str) -> None:
    assert shell(world, command, policy(world)).offers == ()


@pytest.mark.parametrize("command", ["git push origin main", "make 'a b'", 'touch "it\'s"', "npm run test -- --x=1"])
def test_an_offered_rule_allows_exactly_what_it_was_offered_for(world: World, command: str) -> None:
    first = shell(world, command, policy(world)).offers[0]
    rules = add_rule((), first.rule)
    assert shell(world, command, policy(world, "default", *rules)).decision == "allow"
    assert shell(world, f"{command} extra", policy(world, "default", *rules)).decision == "ask"
    assert shell(world, f"{command} > f", policy(world, "default", *rules)).decision == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bash(",
        "Bash()",
        "Bash(a; b)",
        "Bash(a 'b)",
        "Bash(a $(b))",
        "WebFetch(example.com)",
        "WebFetch(domain:a/b)",
        "TodoWrite(x)",
        "a b",
    ],
)
def test_a_bad_rule_is_reported(text: str) -> None:
    with pytest.raises(RuleError, match="permission rule"):
        parse_rule(text, "allow")


def test_add_rule_is_pure_and_idempotent() -> None:
    rules = add_rule((), "Bash(git diff *)")
    assert add_rule(rules, "Bash(git diff *)") == rules
    assert rules[0].words == ("git", "diff")
    assert rules[0].open_ended


@pytest.mark.parametrize(
    ("url", "decision"),
    [
        ("https://docs.example.com/a", "allow"),
        ("https://docs.example.com:8443/a", "allow"),
        ("https://docs.example.com/?q=" + "x" * 300, "ask"),
        ("https://sub.docs.example.com/", "ask"),
        ("https://docs.example.com.evil.example/", "ask"),
        ("https://evil.example/docs.example.com", "ask"),
        ("https://docs.example.com@evil.example/", "deny"),
        ("https://docs.example.com\\@evil.example/", "deny"),
        ("http://127.0.0.1/", "deny"),
        ("http://2130706433/", "deny"),
        ("http://0x7f.1/", "deny"),
        ("http://[::1]/", "deny"),
        ("http://[::ffff:10.0.0.1]/", "deny"),
        ("http://169.254.169.254/latest", "deny"),
        ("http://localhost:8000/", "deny"),
        ("http://printer.local/", "deny"),
        ("file:///etc/passwd", "deny"),
        ("https://docs.example.com\0.evil.example/", "deny"),
        ("https://docs.example.com/\r\nX: y", "deny"),
        ("not a url", "deny"),
    ],
)
def test_fetch(world: World, url: str, decision: Decision) -> None:
    assert (
        judge(FetchAccess(url=url), policy(world, "default", rule("WebFetch(domain:docs.example.com)"))).decision
        == decision
    )


def test_fetch_subdomains_by_whole_labels(world: World) -> None:
    wild = policy(world, "default", rule("WebFetch(domain:*.example.com)"))
    assert judge(FetchAccess(url="https://a.example.com/"), wild).decision == "allow"
    assert judge(FetchAccess(url="https://aexample.com/"), wild).decision == "ask"
    assert judge(FetchAccess(url="https://example.com/"), wild).decision == "ask"


def test_plan_mode_makes_no_question_of_what_it_refuses(world: World) -> None:
    """A person who is asked may say yes, and a program that answers for one often does."""
    asks = (rule("Edit", "ask"), rule("Bash", "ask"), rule("mcp__a", "ask"))
    for path in (".git/hooks/pre-commit", ".clew/settings.json", ".mcp.json", "new.py"):
        assert file(world, "write", path, "plan").decision == "deny", path
        assert file(world, "write", path, "plan", *asks).decision == "deny", path
    assert judge(ToolAccess(tool="mcp__a__b"), policy(world, "plan", *asks)).decision == "deny"
    assert shell(world, "touch x", policy(world, "plan", *asks)).decision == "deny"
    assert shell(world, "ls", policy(world, "plan", *asks)).decision == "ask"


def test_plan_mode_runs_nothing_that_only_a_rule_allows(world: World) -> None:
    allowed = policy(world, "plan", rule("Bash(touch *)"), rule("Bash(git commit *)"), rule("mcp__a"))
    for leaves in (False, True):
        assert shell(world, "touch x", allowed, leaves_sandbox=leaves).decision == "deny"
    assert shell(world, "ls && git commit -m x", allowed).decision == "deny"
    assert shell(world, "ls", allowed).decision == "allow"
    assert judge(ToolAccess(tool="mcp__a__b"), allowed).decision == "deny"


def test_servers_kept_for_one_project_are_closed_like_those_for_all(world: World) -> None:
    """They hold the tokens that were given with them."""
    everything = policy(world, "bypassPermissions")
    for name in ("mcp.json", "projects/one/mcp.json"):
        path = f"{everything.places.clew_home}/{name}"
        assert file(world, "read", path, "bypassPermissions").absolute
        assert shell(world, f"cat {path}", everything).decision == "deny"
    assert not file(world, "read", f"{everything.places.clew_home}/projects/one/s.jsonl", "bypassPermissions").absolute


def test_tools(world: World) -> None:
    assert judge(ToolAccess(tool="TodoWrite", read_only=True), policy(world)).decision == "allow"
    assert judge(ToolAccess(tool="Thing"), policy(world)).decision == "ask"
    assert judge(ToolAccess(tool="Thing"), policy(world, "plan")).decision == "deny"
    assert (
        judge(ToolAccess(tool="Thing", read_only=True), policy(world, "default", rule("Thing", "deny"))).decision
        == "deny"
    )


def test_a_call_is_as_strict_as_its_strictest_access(world: World) -> None:
    cwd = str(world.workspace)
    calls = (FileAccess(op="read", path="README.md", cwd=cwd), FileAccess(op="read", path=str(world.outside), cwd=cwd))
    assert judge_call(calls, policy(world)).decision == "ask"
    assert judge_call(calls[:1], policy(world)).decision == "allow"


def test_additional_directories_come_from_the_user(world: World) -> None:
    extra = make_policy(
        root=str(world.workspace),
        home=str(world.home),
        clew_home=str(world.clew_home),
        additional=(str(world.outside),),
    )
    assert (
        judge(FileAccess(op="read", path=str(world.outside / "x"), cwd=str(world.workspace)), extra).decision == "allow"
    )
    assert judge(ShellAccess(command=f"ls {world.outside}", cwd=str(world.workspace)), extra).decision == "allow"


def test_git_in_a_nested_repository_asks(world: World) -> None:
    (world.workspace / "vendor" / ".git").mkdir(parents=True)
    bare: Path = world.workspace / "bare"
    (bare / "objects").mkdir(parents=True)
    (bare / "HEAD").write_text("ref: x")
    assert world.command("git status") == "allow"
    assert world.command("cd vendor && git status") == "ask"
    assert world.command("git -C vendor status") == "ask"
    assert world.command("cd bare && git log") == "ask"
    assert world.command("cd src && git status") == "allow"


def test_globs_are_judged_by_what_they_match(world: World) -> None:
    assert world.command("cat docs/*") == "allow"
    (world.workspace / "docs" / "link").symlink_to(world.home / ".ssh" / "id_rsa")
    assert world.command("cat docs/*") == "ask"
    assert world.command("rg foo *") == "allow"
    (world.workspace / "--pre=x").write_text("")
    assert world.command("rg foo *") == "ask"
    assert world.command("rg foo ./*") == "allow"


@pytest.mark.parametrize(
    "path", [".venv/bin/python", "app/node_modules/.bin/tsc", "venv/Scripts/x.exe", ".venv-3.12/bin/pip"]
)
def test_accept_edits_asks_before_programs_that_are_started_by_name(path: str, world: World):
    accepting = policy(world, "acceptEdits")
    where = str(world.workspace)
    assert judge(FileAccess(op="write", path=path, cwd=where), accepting).decision == "ask"
    assert judge(FileAccess(op="write", path="bin/tool.py", cwd=where), accepting).decision == "allow"
