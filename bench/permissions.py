"""How long a verdict takes, and how long hostile input can make it take (CPU time: no part waits for anything)."""

import time
from collections.abc import Callable, Iterable
from statistics import median

from bench import growth
from bench.report import Row
from clew.permissions.access import FileAccess, ShellAccess
from clew.permissions.policy import Policy, judge, make_policy
from clew.text.terminal_text import sanitize

COMMANDS = (
    "ls -la",
    "git log --oneline -20 | head -5",
    "grep -rn TODO src --include='*.py' | sort | uniq -c | sort -rn | head",
    "cd src && sed -n '1,80p' main.py",
    'for f in a.txt b.txt; do wc -l "$f"; done',
    "npm run test && git push origin main",
    "bash -c 'echo $(rm -rf /)'",
)
HOSTILE = (
    *(text(size) for size, text in growth.HOSTILE.values()),
    "ls " + "a " * 500_000,
    "ls " + "a " * 60_000,
    "echo " + "* " * 60_000,
    "ls " + ">a " * 30_000,
    "cat " + "a/" * 2_100 + "b",
    "x=aa;" + "x=$x$x;" * 10_000,
    "find . " + "-exec ls {} + " * 2_000,
    "cat <<E\n" + "line of text\n" * 80_000 + "E",
    "cat " + "src/*/* " * 400,
)


def _timed(action: Callable[[], object], rounds: int) -> list[float]:
    figures: list[float] = []
    for _ in range(rounds):
        started = time.process_time()
        action()
        figures.append((time.process_time() - started) * 1000)
    return figures


def _reference() -> float:
    """A fixed piece of pure Python work, to read the figures as ratios on any machine."""
    return median(_timed(lambda: sum(number * number for number in range(10_000)), 15))


def rows() -> Iterable[Row]:
    policy = make_policy(root=".", home="/nonexistent/home", clew_home="/nonexistent/home/.clew")
    base = _reference()
    judge(ShellAccess(command="ls", cwd="/"), policy)
    yield _verdicts(policy, base)
    paths = _timed(lambda: judge(FileAccess(op="write", path="src/clew/new.py", cwd="."), policy), 200)
    yield Row(
        "path verdict, median",
        f"{median(paths):.3f} ms ({median(paths) / base:.2f} x reference)",
        "2 ms",
        median(paths) <= 2,
    )
    worst = max(max(_timed(lambda text=text: judge(ShellAccess(command=text, cwd="/"), policy), 1)) for text in HOSTILE)
    yield Row("slowest verdict on 1 MB, 50,000 parts, 1,000 levels", f"{worst:.0f} ms", "1,000 ms", worst < 1000)
    escapes = median(_timed(lambda: sanitize("\x1b[31mline\x1b[0m of output \x1b]0;t\x07\n" * 1700), 20))
    yield Row(
        "sanitise 64 kB of coloured output", f"{escapes:.2f} ms ({escapes / base:.1f} x reference)", "5 ms", escapes < 5
    )


def _verdicts(policy: Policy, base: float) -> Row:
    figures = sorted(
        figure
        for text in COMMANDS
        for figure in _timed(lambda text=text: judge(ShellAccess(command=text, cwd="."), policy), 40)
    )
    middle, late = median(figures), figures[int(len(figures) * 0.99)]
    return Row(
        "shell verdict, median / p99",
        f"{middle:.2f} / {late:.2f} ms ({middle / base:.2f} x reference)",
        "p99 2 ms",
        late <= 2,
    )
