"""A sample of random headless runs; `make soak ARGS="--headless 1000"` makes more."""

import subprocess
import sys
from pathlib import Path

import pytest

from clew.commands.base import CommandContext, SessionFacts
from clew.commands.registry import COMMANDS, run_command
from clew.headless.commands import answers_without_a_screen
from clew.protocol.invocables import WITHOUT_A_SCREEN
from e2e.headless_runs import make_run, play, processes_in

SEEDS = range(8324, 8336)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_with_random_faults_has_one_result_and_leaves_nothing_behind(tmp_path: Path, seed: int) -> None:
    run = make_run(seed)
    wrong = play(run, tmp_path / "run")
    assert not wrong, "\n".join([run.describe(), *(f"! {line}" for line in wrong)])


def test_the_sample_meets_every_kind_of_run() -> None:
    runs = [make_run(seed) for seed in SEEDS]
    assert {run.output for run in runs} == {"stream-json", "json", "text"}
    assert {run.reader for run in runs} == {"reads", "leaves", "stalls"}
    assert any(run.sent for run in runs)
    assert any("cut" in reply for run in runs for reply in run.replies)


def test_a_process_that_is_left_behind_is_found(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd=tmp_path) as left:
        assert processes_in(tmp_path) == [left.pid]
        assert left.stdin is not None
        left.stdin.write(b"\n")
        left.stdin.close()
    assert processes_in(tmp_path) == []


def test_the_slash_commands_that_are_offered_to_programs_are_those_that_answer_without_a_terminal() -> None:
    def answers(name: str) -> bool:
        for words in ("", " x"):
            result = run_command(f"/{name}{words}", CommandContext(facts=SessionFacts()))
            if not result.is_error and answers_without_a_screen(result):
                return True
        return False

    assert sorted(WITHOUT_A_SCREEN) == sorted(command.help.name for command in COMMANDS if answers(command.help.name))
