"""Kinds of agents: what definitions say, which of several counts, and what each becomes."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.agents.definitions.definition import AgentDefinition
from clew.agents.definitions.kinds import Kinds
from clew.agents.definitions.prompts import child_prompt
from clew.agents.definitions.reading import GivenAgents
from clew.agents.runner import BUILTIN_KINDS, KINDS_HEADING
from clew.host.workspace import Workspace, open_workspace, remember_trust

BUILTIN = ("coordinator", "Explore", "general-purpose", "Plan", "statusline-setup", "verification", "worker")


class Home:
    """A user with a home and a project."""

    def __init__(self, tmp_path: Path) -> None:
        self.user = tmp_path / "home"
        self.clew = self.user / ".clew"
        self.project = tmp_path / "project"
        (self.project / ".git").mkdir(parents=True)
        self.clew.mkdir(parents=True)
        self.env = {"HOME": str(self.user), "CLEW_HOME": str(self.clew), "ANTHROPIC_API_KEY": "sk-x", "PATH": ""}
        remember_trust(self.clew, self.project)

    def place(self, cwd: Path | None = None, **settings: Any) -> Workspace:
        (self.clew / "settings.json").write_bytes(msgspec.json.encode(settings))
        return open_workspace(cwd or self.project, self.env)

    def kinds(self, given: dict[str, Any] | None = None, **settings: Any) -> Kinds:
        more = (GivenAgents(source="--agents", definitions=given),) if given else ()
        return Kinds(self.place(**settings), given=more)

    def put(self, where: Path, name: str, text: str) -> Path:
        path = where / "agents" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def define(self, where: Path, name: str, *fields: str, prompt: str = "Do it well.") -> Path:
        described = [] if any(field.startswith("description") for field in fields) else [f"description: {name} things"]
        front = "\n".join((f"name: {name}", *described, *fields))
        return self.put(where, name, f"---\n{front}\n---\n{prompt}\n")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def counting(kinds: Kinds) -> dict[str, str]:
    return {one.definition.name: one.definition.origin.source for one in kinds.known() if not one.hidden}


def notes(kinds: Kinds, name: str) -> str:
    return "; ".join(kinds.definition(name).notes)


def test_the_built_in_kinds_are_there_and_have_no_problems(home: Home) -> None:
    kinds = home.kinds()
    assert tuple(sorted(counting(kinds), key=str.casefold)) == BUILTIN
    assert kinds.problems() == ()
    assert all(one.definition.notes == () for one in kinds.known())
    assert kinds.words() == ""


def test_no_type_means_general_purpose_which_is_like_its_parent(home: Home) -> None:
    spec = home.kinds().find("")
    assert (spec.kind, spec.tools, spec.system, spec.source) == ("general-purpose", None, None, "built in")
    parent = ("You are clew.", "# Memory", "# Environment")
    assert child_prompt(spec, parent) == (*parent, *spec.more_system)
    assert "Your last message is the report" in spec.more_system[0]


@pytest.mark.parametrize("name", ["Explore", "Plan"])
def test_exploring_and_planning_read_only(home: Home, name: str) -> None:
    spec = home.kinds().find(name)
    assert (spec.tools, spec.permission_mode) == (("Read", "Grep", "Glob", "Bash"), "plan")
    prompt = child_prompt(spec, ("You are clew.", "# Memory", "# Environment"))
    assert prompt[1:] == ("# Memory", "# Environment")
    assert "You are clew." not in prompt


def test_a_worker_has_neither_agents_nor_messages_and_the_setup_sets_one_setting(home: Home) -> None:
    kinds = home.kinds()
    assert kinds.find("worker").without == ("Agent", "SendMessage")
    setup = kinds.find("statusline-setup")
    assert setup.bounds is not None
    assert setup.bounds.reads == (str(home.user),)
    assert (setup.tools, [tool.name for tool in setup.own_tools]) == (("Read",), ["SetStatusLine"])
    assert "Write" not in (kinds.find("verification").tools or ())


def test_a_name_is_found_in_any_case_and_an_unknown_one_names_those_known(home: Home) -> None:
    kinds = home.kinds()
    assert kinds.find("explore").kind == "Explore"
    with pytest.raises(ValueError, match=r"no agent of the kind 'exploit'; kinds are .*Explore.*worker"):
        kinds.find("exploit")


def test_without_built_in_kinds_a_missing_worker_says_so(home: Home) -> None:
    kinds = home.kinds(agents={"builtin": False})
    for name in ("worker", ""):
        with pytest.raises(ValueError, match=r"switched off \(agents.builtin\); none is defined"):
            kinds.find(name)
    home.define(home.clew, "worker")
    assert home.kinds(agents={"builtin": False}).find("worker").source == str(home.clew / "agents" / "worker.md")


def test_all_fields_of_a_definition_reach_its_spec(home: Home) -> None:
    path = home.define(
        home.clew,
        "reviewer",
        "tools: Read, Grep, Task",
        "disallowedTools: [Write]",
        "model: opus",
        "effort: high",
        "permissionMode: plan",
        "background: true",
        "isolation: worktree",
        "maxTurns: 7",
        "color: cyan",
        "required_mcp_servers: [github]",
        "mcpServers: [github]",
        "skills: pdf",
        "initialPrompt: Look at the last commit.",
    )
    kinds = home.kinds()
    spec = kinds.find("reviewer")
    assert spec.tools == ("Read", "Grep", "Agent")
    assert spec.model.startswith("anthropic/claude-opus")
    assert (spec.without, spec.effort, spec.permission_mode) == (("Write",), "high", "plan")
    assert (spec.background, spec.isolation, spec.limits.max_steps) == (True, "worktree", 7)
    assert (spec.needs_servers, spec.color, spec.source) == (("github",), "cyan", str(path))
    assert spec.initial_prompt == "Look at the last commit."
    assert spec.system == ("Do it well.",)
    assert notes(kinds, "reviewer") == "there is no skill 'pdf' here"


def test_json_defines_the_same_and_wins_over_files(home: Home) -> None:
    home.define(home.clew, "reviewer")
    given = {"reviewer": {"description": "From JSON.", "prompt": "Look.", "tools": ["Read"], "maxTurns": 3}}
    spec = home.kinds(given).find("reviewer")
    assert (spec.source, spec.tools, spec.limits.max_steps) == ("--agents", ("Read",), 3)
    kinds = home.kinds({"a": [], "b": {"prompt": 5}, "c": {"name": "d", "prompt": "x"}, "e f": {"prompt": "x"}})
    problems = "\n".join(kinds.problems())
    for words in (
        "'a': a definition is an object",
        "'b': prompt is not a text",
        "names itself 'd'",
        "'e f' is no name",
    ):
        assert words in problems


def test_later_definitions_of_a_program_win(home: Home) -> None:
    kinds = home.kinds({"one": {"description": "First.", "prompt": "x"}})
    more = {"one": {"description": "Second.", "prompt": "y"}, "two": {"prompt": ""}}
    assert kinds.add(GivenAgents(source="SDK", definitions=more)) == (
        "SDK, 'two': it has no prompt: write what the agent is to do below the front matter",
    )
    assert (kinds.find("one").description, kinds.find("one").source) == ("Second.", "SDK")


def test_a_project_takes_no_name_of_the_users(home: Home) -> None:
    own = home.define(home.clew, "reviewer")
    other = home.define(home.user / ".claude", "writer")
    home.define(home.project / ".claude", "reviewer")
    theirs = home.define(home.project / ".clew", "tester")
    home.define(home.project / ".claude", "tester")
    kinds = home.kinds()
    found = counting(kinds)
    assert (found["reviewer"], found["writer"], found["tester"]) == (str(own), str(other), str(theirs))
    hidden = [one.hidden for one in kinds.known() if one.hidden]
    assert hidden == [f"{own} defines the same name", f"{theirs} defines the same name"]


def test_a_project_with_the_name_of_a_built_in_kind_gets_no_wider(home: Home) -> None:
    home.define(home.project / ".clew", "Explore", "tools: Read, Write, Bash", "permissionMode: acceptEdits")
    home.define(home.project / ".clew", "worker")
    kinds = home.kinds()
    explore, worker = kinds.find("Explore"), kinds.find("worker")
    assert (explore.tools, explore.permission_mode) == (("Read", "Bash"), "plan")
    assert (worker.tools, worker.without) == (None, ("Agent", "SendMessage"))
    assert "no more tools than that" in notes(kinds, "Explore")
    assert any("defines the same name" in one.hidden for one in kinds.known())


def test_a_project_is_read_only_when_it_is_trusted(home: Home, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    (stranger / ".git").mkdir(parents=True)
    home.define(stranger / ".clew", "trap")
    assert "trap" not in counting(Kinds(home.place(stranger)))
    remember_trust(home.clew, stranger)
    assert "trap" in counting(Kinds(home.place(stranger)))


def test_a_project_chooses_no_other_provider(home: Home) -> None:
    folder = home.project / ".clew"
    home.define(folder, "paid", "model: openai/gpt-5")
    home.define(folder, "cheap", "model: haiku")
    kinds = home.kinds()
    assert kinds.find("paid").model == ""
    assert "chooses no other provider" in notes(kinds, "paid")
    assert "haiku" in kinds.find("cheap").model


def test_what_a_definition_runs_is_told_with_whose_word_it_needs(home: Home) -> None:
    hook = "hooks:\n  Stop:\n    - hooks: [{type: command, command: x}]"
    home.define(home.project / ".clew", "theirs", hook, "mcpServers:\n  one:\n    command: x")
    home.define(home.clew, "mine", hook.replace("Stop", "PreToolUse"), "mcpServers:\n  - two: {command: x}\n  - three")
    home.define(home.user / ".claude", "other", hook)
    kinds = home.kinds()
    assert {one.agent: (one.moment, one.needs_approval) for one in kinds.hooks()} == {
        "theirs": ("SubagentStop", True),
        "mine": ("PreToolUse", False),
        "other": ("SubagentStop", True),
    }
    assert {one.name: (one.agent, one.needs_approval, bool(one.digest)) for one in kinds.servers()} == {
        "one": ("theirs", True, True),
        "two": ("mine", False, False),
    }
    assert kinds.definition("mine").brought.named == ("three",)
    assert kinds.find("mine").brings == {"hooks", "servers"}
    assert not kinds.find("Explore").brings


def test_the_same_hook_of_two_agents_or_of_the_settings_is_not_one_decision(home: Home) -> None:
    hook = "hooks:\n  PreToolUse:\n    - hooks: [{type: command, command: x}]"
    home.define(home.project / ".clew", "one", hook)
    home.define(home.project / ".clew", "two", hook)
    assert len({found.digest for found in home.kinds().hooks()}) == 2


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ("permissionMode: yolo", "no permission mode 'yolo'; modes are default"),
        ("model: gtp-9", "its model: unknown model 'gtp-9'"),
        ("tools: Frobnicate", "none of its tools is here: Frobnicate"),
        ("isolation: remote", "no isolation 'remote'"),
        ("maxTurns: many", "maxTurns is no number"),
        ("name: again", "'name' is there twice"),
        ("disallowed-tools: Bash\ndisallowedTools: Read", "disallowedTools is there twice, in two spellings"),
    ],
)
def test_a_broken_definition_is_named_with_its_reason_and_keeps_no_other_out(home: Home, fields: str, why: str) -> None:
    path = home.define(home.clew, "broken", *fields.split("\n"))
    home.define(home.clew, "sound")
    kinds = home.kinds()
    assert kinds.find("sound").kind == "sound"
    (problem,) = kinds.problems()
    assert problem.startswith(str(path))
    assert why in problem
    with pytest.raises(ValueError, match=r"broken\.md"):
        kinds.find("broken")


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ("shiny: yes\nnew-thing: 3", "unknown fields, which do nothing: shiny, new-thing"),
        ("tools: Read, Frobnicate", "there is no tool 'Frobnicate' here"),
        ("tools: Read, Bash(git *)", "it does not have Bash(git *)"),
        ("disallowedTools: Bash(rm *)", "it has none of Bash(rm *)"),
        ("effort: enormous", "its effort 'enormous' is none"),
        ("permissionMode: bypassPermissions", "widens nothing"),
        ("permissionMode: dontAsk", "what would ask is asked"),
        ("description: ", "first line of its prompt"),
    ],
)
def test_what_does_not_count_of_a_definition_is_noted(home: Home, fields: str, note: str) -> None:
    home.define(home.clew, "odd", *fields.split("\n"))
    kinds = home.kinds()
    assert note in notes(kinds, "odd")
    spec = kinds.find("odd")
    assert "Bash" not in (spec.tools or ())
    assert spec.without in ((), ("Bash",))


def test_an_alias_that_cannot_be_had_leaves_the_parents_model(home: Home) -> None:
    home.env = {**home.env, "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "sk-y"}
    home.define(home.clew, "fast", "model: haiku")
    home.define(home.clew, "exact", "model: anthropic/claude-haiku-4-5")
    kinds = home.kinds()
    assert kinds.find("fast").model == ""
    assert "cannot be had, so it has its parent's" in notes(kinds, "fast")
    assert kinds.find("exact").model == "anthropic/claude-haiku-4-5"
    assert "no key for Anthropic" in notes(kinds, "exact")


def test_a_changed_removed_or_new_file_counts_at_once(home: Home) -> None:
    kinds = home.kinds()
    path = home.define(home.clew, "helper", "description: first words")
    assert kinds.find("helper").description == "first words"
    home.define(home.clew, "helper", "description: other, longer words")
    assert kinds.find("helper").description == "other, longer words"
    path.unlink()
    with pytest.raises(ValueError, match="no agent of the kind 'helper'"):
        kinds.find("helper")


def test_files_that_lead_out_of_the_project_are_not_read(home: Home, tmp_path: Path) -> None:
    secret = home.define(tmp_path / "elsewhere", "secret")
    folder = home.project / ".clew" / "agents"
    folder.mkdir(parents=True)
    (folder / "link.md").symlink_to(secret)
    (folder / "folder").symlink_to(secret.parent)
    kinds = home.kinds()
    assert "secret" not in counting(kinds)
    assert len([line for line in kinds.problems() if "leads outside the project" in line]) == 2


def test_odd_files_are_named_and_many_are_bounded(home: Home) -> None:
    folder = home.clew / "agents"
    home.put(home.clew, "plain", "no front matter")
    home.put(home.clew, "open", "---\nname: open\n")
    home.put(home.clew, "empty", "---\nname: empty\n---\n")
    (folder / "bytes.md").write_bytes(b"---\nname: x\n---\n\xff")
    (folder / "folder.md").mkdir()
    home.put(home.clew, "again", "---\nname: Twin\n---\nOne")
    home.put(home.clew, "sub/again", "---\nname: twin\n---\nTwo")
    problems = "\n".join(home.kinds().problems())
    for words in ("no front matter", "never closed", "it has no prompt", "not UTF-8", "'twin' already"):
        assert words in problems
    for number in range(300):
        home.define(home.clew, f"many{number:03}")
    kinds = home.kinds()
    assert "only the first 200 are used" in "\n".join(kinds.problems())
    assert len(kinds.words()) < 7_000


def test_the_words_for_the_model_list_only_what_is_not_built_in(home: Home) -> None:
    home.define(home.clew, "reviewer", f"description: {'Reviews. ' * 60}")
    home.define(home.project / ".claude", "tester", "description: Tests.")
    lines = home.kinds().words().split("\n")
    assert lines[0] == KINDS_HEADING
    assert [line.split(":")[0] for line in lines[2:]] == ["- reviewer", "- tester"]
    assert all(len(line) <= 240 for line in lines)


def test_nothing_is_read_before_somebody_asks(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked(self: object, folder: object) -> AgentDefinition:
        raise AssertionError("a folder was read")

    monkeypatch.setattr("clew.agents.definitions.reading.DefinitionReader.folder", looked)
    home.kinds()


def test_the_names_that_init_tells_without_reading_are_those_of_the_built_in_kinds(home: Home) -> None:
    known = {spec.kind for spec in home.kinds().specs()} - {"coordinator"}
    assert set(BUILTIN_KINDS) == known
