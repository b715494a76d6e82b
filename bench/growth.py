"""Hostile text: twice as much may take about twice as long, never four times. Also the families that tests use."""

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

from bench.report import Row
from clew.permissions.access import ShellAccess
from clew.permissions.policy import judge, make_policy
from clew.text.redact import redact
from clew.text.terminal_text import sanitize

MOST = 2.6
"""What twice the input may cost beside the input: linear, and room for caches and the collector."""

MEASURED_S = 0.05
"""So much of the smaller work at least, so that the clock's grain does not count."""

HOSTILE: dict[str, tuple[int, Callable[[int], str]]] = {
    "one word": (1_000_000, lambda size: "ls " + "a" * size),
    "parts": (10_000, lambda size: "ls; " * size + "touch x"),
    "lines": (250_000, lambda size: "ls\n" * size),
    "substitutions": (1_000, lambda size: "$(" * size + "ls" + ")" * size),
    "subshells": (1_000, lambda size: "(" * size + "ls" + ")" * size),
    "backquotes": (100_000, lambda size: "`" * size),
    "open quotes": (50_000, lambda size: '"$(' * size),
    "groups": (1_000, lambda size: "{ " * size + "ls; " + "} ;" * size),
    "shells in shells": (500, lambda size: "bash -c '" * size + "ls" + "'" * size),
    "evals": (5_000, lambda size: "eval " * size + "ls"),
    "wrappers": (50_000, lambda size: "sudo " * size + "ls"),
    "here-documents": (20_000, lambda size: "cat <<A\n" * size),
    "assignments": (20_000, lambda size: "a=$a$a;" * size),
    "end behind a long line": (500_000, lambda size: "x" * size + "\n" + "rm -rf /"),
    "patterns": (5_000, lambda size: "[" * size + "*" * size),
    "sed script": (1_000, lambda size: "sed '" + "s/a/b/;" * size + "' f"),
    "awk program": (3_000, lambda size: "awk '" + "(" * size + "' f"),
    "NULs": (100_000, lambda size: "\x00" * size),
}
"""Commands: a size that is much, and the text of a size."""

REPEATED = ("password=", "-----BEGIN PRIVATE KEY-----", "eyJ", "://a:", "token ", "a" * 50, "key='")
"""Beginnings of secrets, which a careless search would follow from every place to the end."""

ESCAPES = b"\x1b\x9b\x9d[]0;38;5;1mABab \n\x07\\\x00\xff\xe2\x80\xae"


def escapes(size: int, seed: int = 7) -> bytes:
    """Random terminal noise."""
    generator = random.Random(seed)
    return bytes(generator.choice(ESCAPES) for _ in range(size))


def growth(work: Callable[[Any], object], half: object, whole: object) -> float:
    """CPU time of the whole over that of the half, each at its best of some rounds in turn."""
    again = max(1, round(MEASURED_S / max(_taken_s(work, half, 1), 1e-6)))
    best = [float("inf"), float("inf")]
    for _ in range(3):
        for which, given in enumerate((half, whole)):
            best[which] = min(best[which], _taken_s(work, given, again))
    return best[1] / best[0]


def _taken_s(work: Callable[[Any], object], given: object, times: int) -> float:
    started = time.process_time()
    for _ in range(times):
        work(given)
    return time.process_time() - started


def row(name: str, ratios: dict[str, float]) -> Row:
    """The family that grows fastest."""
    worst = max(ratios, key=lambda family: ratios[family])
    return Row(name, f"{ratios[worst]:.2f} x ({worst.strip()})", f"<= {MOST} x", ratios[worst] <= MOST)


def rows() -> Iterable[Row]:
    """The worst of each kind of text."""
    policy = make_policy(root=".", home="/nonexistent/home", clew_home="/nonexistent/home/.clew")

    def verdict(text: str) -> object:
        return judge(ShellAccess(command=text, cwd="/"), policy)

    verdict("ls")
    commands = {name: growth(verdict, text(size // 2), text(size)) for name, (size, text) in HOSTILE.items()}
    yield row("verdict on twice the command", commands)
    secrets = {
        unit[:12]: growth(redact, unit * (100_000 // len(unit)), unit * (200_000 // len(unit))) for unit in REPEATED
    }
    yield row("redaction of twice the text", secrets)
    noise = {f"seed {seed}": growth(sanitize, escapes(64_000, seed), escapes(128_000, seed)) for seed in range(3)}
    yield row("sanitising of twice the output", noise)
