"""The table of programs is the audit: every row says what the program reads, and nothing is proven without one."""

import pytest

from clew.permissions.access import ShellAccess
from clew.permissions.policy import judge, make_policy
from clew.permissions.rules import parse_rule
from clew.permissions.shell.programs.table import PROGRAMS
from clew.permissions.shell.programs.tables import (
    changers,
    dev,
    disks,
    files,
    git,
    machine,
    objects,
    search,
    system,
    text,
    wrappers,
)
from unit.permissions.world import World

TABLES = (files, text, search, system, objects, machine, changers, disks, dev, git, wrappers)


def test_every_row_has_its_audit_and_every_program_one_row() -> None:
    assert [name for name, row in PROGRAMS.items() if len(row.audit) < 20] == []
    names = [name for table in TABLES for name in table.PROGRAMS]
    assert sorted(names) == sorted(set(names))


def test_what_runs_project_code_or_other_programs_is_never_proven_by_a_flag_list() -> None:
    assert [name for name, row in PROGRAMS.items() if row.reads is not None and (row.runs_project or row.wraps)] == []


@pytest.mark.parametrize("name", ["unknowntool", "ls2", "catt", "gitk", "xcat", "./ls", "/opt/bin/ls"])
def test_a_program_without_a_row_asks(world: World, name: str) -> None:
    for words in (name, f"{name} a.txt", f"{name} --version", f"{name} --help"):
        assert world.command(words) == "ask"


PROJECT_CODE = {
    "python3 x.py": "Bash(python3 x.py *)",
    "python3 -u scripts/run.py --fast": "Bash(python3 -u scripts/run.py *)",
    "python3 -m pytest -q tests": "Bash(python3 -m pytest *)",
    "pytest": "Bash(pytest *)",
    "pytest tests/test_main.py -k 'a or b'": "Bash(pytest *)",
    "cd src && pytest -x 2>&1 | tail -5": "Bash(pytest *)",
    "npm test": "Bash(npm test *)",
    "npm run build": "Bash(npm run build *)",
    "make": "Bash(make)",
    "make test": "Bash(make test *)",
    "cargo test --release": "Bash(cargo test *)",
    "go test ./...": "Bash(go test *)",
    "node scripts/a.js": "Bash(node scripts/a.js *)",
    "npx tsc --noEmit *.ts": "Bash(npx tsc *)",
    "uv run pytest -q": "Bash(uv run pytest *)",
    "poetry run python x.py": "Bash(poetry run python *)",
    "./run.sh --all": "Bash(./run.sh *)",
    "tsc --noEmit": "Bash(tsc *)",
    "ruff check src": "Bash(ruff *)",
}


@pytest.mark.parametrize("command", PROJECT_CODE)
def test_what_runs_project_code_offers_an_always_that_is_worth_taking(world: World, command: str) -> None:
    def policy(*rules: str):
        return make_policy(
            root=str(world.workspace), home=str(world.home), clew_home=str(world.clew_home),
            rules=tuple(parse_rule(rule, "allow") for rule in rules),
        )  # fmt: skip

    access = ShellAccess(command=command, cwd=str(world.workspace))
    verdict = judge(access, policy())
    assert verdict.decision == "ask"
    assert verdict.offers[-1].rule == PROJECT_CODE[command]
    for offer in verdict.offers:
        assert judge(access, policy(offer.rule)).decision == "allow"


@pytest.mark.parametrize("command", ["touch .git/hooks/x", "mkdir .vscode", "cp a.txt .git/hooks/x", "rm -rf .git"])
def test_no_rule_is_offered_for_protected_names(world: World, command: str) -> None:
    verdict = judge(
        ShellAccess(command=command, cwd=str(world.workspace)),
        make_policy(root=str(world.workspace), home=str(world.home), clew_home=str(world.clew_home)),
    )
    assert verdict.decision == "ask"
    assert verdict.offers == ()
