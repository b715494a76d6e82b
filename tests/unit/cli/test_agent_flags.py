"""The command line of the agent: what options mean, together and in any order."""

from pathlib import Path

import pytest

from clew.cli.run.agent import parse
from clew.cli.run.request import flags_of, request_of
from clew.config.load import ALL_SOURCES


@pytest.fixture(autouse=True)
def in_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit) as stop:
        parse(list(argv))
    (line,) = capsys.readouterr().err.splitlines()
    assert stop.value.code == 2
    return line


@pytest.mark.parametrize(
    "argv",
    [
        ["-p", "fix it", "--allowed-tools", "Read,Edit", "--output-format", "json"],
        ["--output-format", "json", "--allowedTools", "Read", "Edit", "-p", "fix it"],
        ["-p", "--output-format", "json", "--allowedTools", "Read", "Edit", "fix it"],
        ["fix it", "--allowed-tools", "Read Edit", "-p", "--output-format=json"],
        ["-p", "--allowedTools", "Read", "--allowed-tools=Edit", "--output-format", "json", "fix it"],
        ["--allowedTools=Read, Edit", "--output-format", "json", "--print", "fix it"],
    ],
)
def test_options_come_in_any_order_and_spelling(argv: list[str]) -> None:
    args = parse(argv)
    assert args.print_prompt or args.prompt == "fix it"
    assert args.output_format == "json"
    assert flags_of(args)["permissions.allow"] == ["Read", "Edit"]


def test_rules_keep_what_is_in_their_parentheses() -> None:
    args = parse(
        ["-p", "x", "--disallowedTools", "Bash(echo a, b) WebFetch(domain:a.example),mcp__s__t", "Edit(a b.md)"]
    )
    assert flags_of(args)["permissions.deny"] == [
        "Bash(echo a, b)",
        "WebFetch(domain:a.example)",
        "mcp__s__t",
        "Edit(a b.md)",
    ]


def test_several_directories_and_the_prompt_after_them(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    args = parse(["-p", "--add-dir", "a", "b", "--add-dir", "c", "look around"])
    assert args.add_dir == ["a", "b", "c"]
    assert args.prompt == "look around"


def test_a_directory_that_is_not_there_is_no_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such directory" in refused(capsys, "-p", "--add-dir", "nowhere", "look")
    assert "two prompts" in refused(capsys, "-p", "one", "--allowed-tools", "Read", "two")


@pytest.mark.parametrize(
    ("given", "tools"),
    [
        ([], None),
        (["--tools", "default"], None),
        (["--tools", ""], ()),
        (["--tools", "Read,Grep"], ("Read", "Grep")),
        (["--tools", "Read", "Grep"], ("Read", "Grep")),
        (["--tools=Read Grep", "--tools", "Read"], ("Read", "Grep")),
    ],
)
def test_the_tools_there_are(given: list[str], tools: tuple[str, ...] | None) -> None:
    assert request_of(parse(["-p", "x", *given]), headless=True).tools == tools


def test_texts_that_begin_with_a_dash() -> None:
    args = parse(["-p", "x", "--system-prompt", "-1 means failure", "--append-system-prompt", "--brief--", "--verbose"])
    assert (args.system_prompt, args.append_system_prompt, args.verbose) == ("-1 means failure", "--brief--", True)
    assert parse(["--debug=api,hooks", "-p", "x"]).verbose


def test_an_option_is_not_taken_for_the_value_of_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--system-prompt" in refused(capsys, "-p", "x", "--system-prompt", "--verbose")
    assert "--model" in refused(capsys, "-p", "x", "--model", "--effort=high")


def test_an_empty_system_prompt_is_not_the_absence_of_one() -> None:
    assert request_of(parse(["-p", "x"]), headless=True).system_prompt is None
    assert request_of(parse(["-p", "x", "--system-prompt", ""]), headless=True).system_prompt == ""
    assert request_of(parse(["-p", "x", "--system-prompt="]), headless=True).system_prompt == ""


def test_system_prompts_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.md").write_text("Speak Latin.\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    args = parse(["-p", "x", "--system-prompt-file", "words.md", "--append-system-prompt-file", "words.md"])
    assert args.system_prompt == args.append_system_prompt == "Speak Latin.\n"
    assert "not both" in refused(capsys, "-p", "x", "--system-prompt-file", "words.md", "--system-prompt", "")
    assert "No such file" in refused(capsys, "-p", "x", "--system-prompt-file", "gone.md")
    assert "UTF-8" in refused(capsys, "-p", "x", "--append-system-prompt-file", "bytes")
    assert "directory" in refused(capsys, "-p", "x", "--append-system-prompt-file", ".")


@pytest.mark.parametrize(
    ("given", "sources"),
    [
        ([], ALL_SOURCES),
        (["--setting-sources="], frozenset()),
        (["--setting-sources", ""], frozenset()),
        (["--setting-sources=user,project"], {"user", "project"}),
        (["--setting-sources", " local , user,local"], {"user", "local"}),
    ],
)
def test_whose_files_are_read(given: list[str], sources: set[str]) -> None:
    assert request_of(parse(["-p", "x", *given]), headless=True).sources == sources


@pytest.mark.parametrize(
    ("given", "mode", "tokens"),
    [
        ([], "", None),
        (["--thinking", "adaptive"], "adaptive", None),
        (["--thinking", "disabled"], "disabled", None),
        (["--max-thinking-tokens", "0"], "disabled", None),
        (["--max-thinking-tokens", "9000"], "enabled", 9000),
        (["--thinking", "adaptive", "--max-thinking-tokens", "9000"], "adaptive", 9000),
    ],
)
def test_thinking(given: list[str], mode: str, tokens: int | None) -> None:
    thinking = request_of(parse(["-p", "x", *given]), headless=True).thinking
    assert (thinking.mode, thinking.budget_tokens, thinking.shown) == (mode, tokens, True)


def test_modes_of_other_agents(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--input-format", "stream-json", "--output-format", "stream-json", "--permission-prompt-tool", "stdio"]
    assert request_of(parse(asked), headless=True).answered
    silent = request_of(parse([*asked, "--permission-mode", "dontAsk"]), headless=True)
    assert (silent.flags["permissionMode"], silent.answered) == ("default", False)
    assert flags_of(parse(["-p", "x", "--dangerously-skip-permissions"]))["permissionMode"] == "bypassPermissions"
    line = refused(capsys, "-p", "x", "--permission-mode", "auto")
    assert all(word in line for word in ("auto", "default", "plan", "acceptEdits", "bypassPermissions", "dontAsk"))
    assert "disagree" in refused(capsys, "-p", "x", "--dangerously-skip-permissions", "--permission-mode", "plan")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--plugin-dir", "p"], ["--plugin-dir", "later"]),
        (["--task-budget", "1000"], ["--task-budget", "limits.maxTokens"]),
        (["--session-mirror"], ["--session-mirror"]),
        (["--agent", " "], ["--agent", "needs a name"]),
        (
            ["--mcp-config", '{"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}}'],
            ["--mcp-config", "calc", "stream-json"],
        ),
        (["--mcp-config", "gone.json"], ["--mcp-config", "gone.json"]),
        (["--mcp-config", "{broken"], ["--mcp-config", "JSON"]),
        (["--mcp-config", '{"mcpServers": []}'], ["--mcp-config", "mcpServers"]),
        (["--permission-prompt-tool", "ask"], ["--permission-prompt-tool", "mcp__SERVER__TOOL"]),
        (["--permission-prompt-tool", "stdio"], ["--permission-prompt-tool", "--input-format"]),
        (["--input-format", "stream-json"], ["--input-format", "--output-format stream-json"]),
        (["--input-format", "xml"], ["xml"]),
        (["--replay-user-messages"], ["--replay-user-messages", "--input-format"]),
        (["--include-hook-events"], ["--include-hook-events", "stream-json"]),
        (["--setting-sources", "user,team"], ["--setting-sources", "team", "project"]),
        (["--betas", "one two;three"], ["--betas"]),
        (["--max-thinking-tokens", "-3"], ["--max-thinking-tokens"]),
        (["--thinking", "disabled", "--max-thinking-tokens", "5"], ["disagree"]),
        (["--resume-drops-turn", "abc"], ["--resume-drops-turn", "--resume-session-at"]),
        (["--thinking-display", "loud"], ["loud"]),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    given: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, "-p", "x", *given)
    assert all(word in line for word in words), line


@pytest.mark.parametrize(
    "given",
    [
        ["--mcp-config", '{"mcpServers": {}}', "--strict-mcp-config"],
        ["--mcp-config", "{}"],
        ["--mcp-debug"],
        ["--agents", "{}"],
        ["--allow-dangerously-skip-permissions"],
        ["--betas", "context-1m-2025-08-07,other-1"],
        ["--session-id=abc"],
        ["--resume=abc", "--resume-session-at=def", "--resume-drops-turn=ghi"],
    ],
)
def test_what_means_nothing_here_is_taken(given: list[str]) -> None:
    assert parse(["-p", "x", *given]).print_prompt == "x"


def test_betas_are_a_header_of_one_provider() -> None:
    flags = flags_of(parse(["-p", "x", "--betas", "a-1,b-2", "--betas", "c-3"]))
    assert flags["providers.anthropic.headers.anthropic-beta"] == "a-1,b-2,c-3"


def test_the_page_shows_other_spellings_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    page = capsys.readouterr().out
    assert "--allowed-tools, --allowedTools RULES" in page
    assert page.count("--allowedTools") == 1
    assert "--plugin-dir" not in page
