"""Undo on 50,000 files: the first scan, the look before and after a command, and a big restore."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.report import Row
from clew.protocol.ids import SessionId
from clew.undo.limits import UndoLimits
from clew.undo.plan import plan_restore
from clew.undo.prune import store_bytes
from clew.undo.restore import apply_plan
from clew.undo.state import ChangingCall, Checkpoint
from clew.undo.workspace import UndoWorkspace

FILES = 50_000
PER_FOLDER = 15
ROUNDS = 9
CALL = ChangingCall(session=SessionId("bench"), turn=1, tool="Bash")


def make_tree(top: Path) -> None:
    """As a large project: 3,700 directories, four levels, files of 1 to 15 kB that all differ."""
    for number in range(FILES):
        folder = number // PER_FOLDER
        place = top / f"p{folder // 200:03}" / f"m{folder // 10 % 20:02}" / f"d{folder % 10}"
        if number % PER_FOLDER == 0:
            place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number}.py").write_text(f"# {number}\n" * (100 + number % 1500))


def took_ms(work: Callable[[], object]) -> float:
    """One run."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


class Bench:
    """A kept tree."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "tree"
        self.home = folder / "home"
        make_tree(self.top)
        self.kept = self.open()

    def open(self) -> UndoWorkspace:
        """As a session does."""
        return UndoWorkspace(
            home=self.home,
            roots=[self.top],
            transcript=self.home / "projects" / "bench" / "bench.jsonl",
            limits=UndoLimits(),
        )

    def around(self, command: str) -> tuple[float, Checkpoint]:
        """What is added before and after a command."""
        started = time.perf_counter()
        opened = self.kept.before(CALL, None)
        before_ms = (time.perf_counter() - started) * 1000
        subprocess.run(["bash", "-c", command], cwd=self.top, check=True)
        started = time.perf_counter()
        made = self.kept.after(opened)
        return before_ms + (time.perf_counter() - started) * 1000, made

    def best(self, command: str) -> float:
        """The fastest of some rounds: the others measured the machine's other work."""
        return min(self.around(command.replace("ROUND", str(number)))[0] for number in range(ROUNDS))

    def walk_ms(self) -> float:
        """The alternative: list and stat everything, in Python."""

        def walk() -> None:
            waiting = [str(self.top)]
            while waiting:
                with os.scandir(waiting.pop()) as listing:
                    for item in listing:
                        item.stat(follow_symlinks=False)
                        if item.is_dir(follow_symlinks=False):
                            waiting.append(item.path)

        return min(took_ms(walk) for _ in range(3))

    def restore_ms(self, made: Checkpoint) -> float:
        """Plan and apply."""

        def work() -> None:
            plan = plan_restore([made], self.kept.store, [str(self.top)])
            done = apply_plan(plan, store=self.kept.store, journal=self.kept.journal, call=CALL)
            assert not done.failed
            assert not done.skipped

        return took_ms(work)


def rows() -> Iterable[Row]:
    """All figures, in one tree."""
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        bench = Bench(Path(folder))
        told: list[int] = []
        first_ms = took_ms(lambda: bench.kept.first_scan(lambda files, _: told.append(files)))
        size = store_bytes(bench.home / "undo" / "bench") / 1e6
        yield Row("first scan of 50,000 files, told", f"{first_ms / 1000:.1f} s, {size:.0f} MB", "told", len(told) > 50)
        yield Row("a walk with stat over the same tree", f"{bench.walk_ms():.0f} ms", "-", None)
        idle = bench.best("true")
        yield Row("before and after a command that changes nothing", f"{idle:.1f} ms", "<= 50 ms", idle <= 50)
        one = bench.best("echo ROUND >> p000/m00/d0/f0.py")
        yield Row("… that changes one file", f"{one:.1f} ms", "<= 50 ms", one <= 50)
        many = bench.best("for f in p001/m0[0-9]/d[0-1]/*.py; do echo ROUND >> $f; done")
        yield Row("… that changes 300 files", f"{many:.1f} ms", "<= 50 ms", many <= 50)
        taken, made = bench.around("rm -rf p00*")
        yield Row(f"… that deletes {len(made.changes):,} paths", f"{taken:.0f} ms", "-", None)
        yield Row("their restore", f"{bench.restore_ms(made) / 1000:.1f} s", "-", None)
        bench.kept.settle()
        bench.kept.close()
        bench.kept = bench.open()
        again_ms = took_ms(lambda: bench.kept.first_scan(lambda files, size: None))
        yield Row("first scan of the next session", f"{again_ms / 1000:.2f} s", "-", None)
        bench.kept.close()
        shutil.rmtree(bench.top)
