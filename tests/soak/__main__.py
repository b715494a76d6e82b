"""`make soak ARGS="--sessions 200 --seed 7"`: random sessions through the real command, and which go on as they were.

Session n of a run has the seed SEED + n, so that one that fails is played again with `--sessions 1 --seed ITS_SEED`.
Sessions with an odd seed change their view in between: compaction, clearing, snips, undo, pins, recall, rewind.
`--long 1000` makes one session of so many requests in a small window instead.
`--headless 1000` makes so many runs of `clew -p` with random faults: one result each, no hang, no process left behind.
`--recaps 200` makes so many sessions of random work, some of them killed, and holds their recaps against the disk.
`--agents 1000` makes trees of child agents until so many were started, killed with -9 at random moments, with full
disks and clocks that jump: every outcome exactly once.
`--worktrees 1000` makes so many lives of checkouts of agents and conversations, killed too: none leaks, no work lost.
`--front-ends 200` makes so many sessions with two agents and two front ends in two processes, with random faults.
"""

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from e2e import agent_fuzz, worktree_fuzz
from e2e.compaction_long import long_session
from e2e.conversation_fuzz import play
from e2e.conversation_plan import Plan, make_plan, make_view_plan
from e2e.headless_runs import make_run
from e2e.headless_runs import play as play_run
from e2e.recap_fuzz import play as play_recap
from e2e.two_front_ends import play as play_front_ends

NUMBERED = re.compile(r"\b(?:ask|say|fx|ink|muse)\d{3}\b|'[^']*'|\d+")


def main() -> int:
    """Play them, print what is wrong, and the figures."""
    parser = argparse.ArgumentParser(prog="soak", description="Random sessions through the real command")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2), help="sessions at once")
    parser.add_argument("--keep", action="store_true", help="leave the folders of sessions that fail")
    parser.add_argument("--long", type=int, default=0, metavar="REQUESTS", help="one long session in a small window")
    parser.add_argument("--headless", type=int, default=0, metavar="RUNS", help="runs of `clew -p` instead")
    parser.add_argument("--recaps", type=int, default=0, metavar="SESSIONS", help="recaps against the disk instead")
    parser.add_argument("--front-ends", type=int, default=0, metavar="SESSIONS", help="two agents, two front ends")
    parser.add_argument("--agents", type=int, default=0, metavar="CHILDREN", help="trees of child agents instead")
    parser.add_argument("--worktrees", type=int, default=0, metavar="LIVES", help="lives of checkouts instead")
    args = parser.parse_args()
    count = args.headless or args.recaps or args.front_ends or args.agents or args.worktrees or args.sessions
    what = "runs" if args.headless else "recaps" if args.recaps else "lives" if args.worktrees else "sessions"
    print(f"seed {args.seed}, {count} {what}, {args.jobs} at once", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="clew-soak-"))
    if args.long:
        wrong = long_session(folder / "long", requests=args.long, seed=args.seed)
        print("\n".join([*wrong, f"seed {args.seed}: {args.long} requests, {len(wrong)} things wrong"]))
        shutil.rmtree(folder, ignore_errors=True)
        return 1 if wrong else 0
    tell, play_one = (told_run, one_run) if args.headless else (told_session, one_session)
    if args.recaps:
        tell, play_one = told_recap, play_recap
    if args.front_ends:
        tell, play_one = told_front_ends, play_in_folder
    if args.agents:
        return counted(args, folder, agent_fuzz.play_hard, agent_fuzz.children, "children", "tell every outcome once")
    if args.worktrees:
        good = "leave nothing behind and lose no work"
        return counted(args, folder, worktree_fuzz.play, worktree_fuzz.lives, "lives of checkouts", good)
    started = time.monotonic()
    bad = play_all(range(args.seed, args.seed + count), args.jobs, folder, tell, play_one, keep=args.keep)
    took_s = time.monotonic() - started
    good = "have one result, and leave nothing behind" if args.headless else "go on as they were"
    good = "say what is so" if args.recaps else "answer every ask once" if args.front_ends else good
    print(f"{count - len(bad)} of {count} {what} {good}; {took_s:.0f} s; failing seeds: {sorted(bad) or 'none'}")
    if bad and args.keep:
        print(f"kept in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


def counted(
    args: argparse.Namespace,
    folder: Path,
    play_one: Callable[[int, Path], list[str]],
    made: Counter[str],
    what: str,
    good: str,
) -> int:
    """Play seed after seed until so many things were made in them."""
    started, first, bad = time.monotonic(), args.seed, list[int]()
    wanted = args.agents or args.worktrees
    while made.total() < wanted:
        seeds = range(first, first + 10 * args.jobs)
        bad += play_all(seeds, args.jobs, folder, told_tree, play_one, keep=args.keep)
        first = seeds.stop
        print(f"{made.total()} {what}, {first - args.seed} sessions, {time.monotonic() - started:.0f} s", flush=True)
    took_s = time.monotonic() - started
    sessions = first - args.seed
    print(
        f"{made.total()} {what} in {sessions} sessions: {sessions - len(bad)} sessions {good}; {took_s:.0f} s; "
        f"failing seeds: {sorted(bad) or 'none'}"
    )
    if not (bad and args.keep):
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


def told_tree(seed: int) -> str:
    """What one of these is."""
    return f"a tree of agents, seed {seed}"


def told_front_ends(seed: int) -> str:
    """What one of these is."""
    return f"two agents, two front ends, seed {seed}"


def play_in_folder(seed: int, folder: Path) -> list[str]:
    """One of them."""
    return play_front_ends(seed, folder / f"front-ends-{seed}")


def play_all(
    seeds: range,
    jobs: int,
    folder: Path,
    tell: Callable[[int], str],
    play_one: Callable[[int, Path], list[str]],
    *,
    keep: bool,
) -> list[int]:
    """Each seed once, some at a time; prints what is wrong and gives the seeds that failed."""
    failed: Counter[str] = Counter()
    bad: list[int] = []
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(play_one, seed, folder / str(seed)): seed for seed in seeds}
        for done in as_completed(running):
            seed = running[done]
            wrong = done.result()
            if wrong:
                bad.append(seed)
                failed.update({kind_of(line) for line in wrong})
                print("\n".join([f"FAIL {tell(seed)}", *(f"  ! {line}" for line in wrong)]), flush=True)
            if not (wrong and keep):
                shutil.rmtree(folder / str(seed), ignore_errors=True)
    for kind, count in failed.most_common():
        print(f"{count:4}  {kind}")
    return bad


def told_session(seed: int) -> str:
    return plan_of(seed).describe()


def one_session(seed: int, folder: Path) -> list[str]:
    return play(plan_of(seed), folder)


def told_recap(seed: int) -> str:
    return f"recap {seed}"


def told_run(seed: int) -> str:
    return make_run(seed).describe()


def one_run(seed: int, folder: Path) -> list[str]:
    return play_run(make_run(seed), folder)


def plan_of(seed: int) -> Plan:
    """The session of a seed."""
    return make_view_plan(seed) if seed % 2 else make_plan(seed)


def kind_of(line: str) -> str:
    """What is wrong, without the place: the same for all sessions of one class."""
    return NUMBERED.sub("_", line.partition("\n")[0].partition(" differ: ")[0])[:90]


if __name__ == "__main__":
    sys.exit(main())
