"""`make soak ARGS="--sessions 200 --seed 7"`: random sessions through the real command, and which go on as they were.

Session n of a run has the seed SEED + n, so that one that fails is played again with `--sessions 1 --seed ITS_SEED`.
Sessions with an odd seed change their view in between: compaction, clearing, snips, undo, pins, recall, rewind.
`--long 1000` makes one session of so many requests in a small window instead.
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
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from e2e.compaction_long import long_session
from e2e.conversation_fuzz import play
from e2e.conversation_plan import Plan, make_plan, make_view_plan

NUMBERED = re.compile(r"\b(?:ask|say|fx|ink|muse)\d{3}\b|'[^']*'|\d+")


def main() -> int:
    """Play them, print what is wrong, and the figures."""
    parser = argparse.ArgumentParser(prog="soak", description="Random sessions through the real command")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2), help="sessions at once")
    parser.add_argument("--keep", action="store_true", help="leave the folders of sessions that fail")
    parser.add_argument("--long", type=int, default=0, metavar="REQUESTS", help="one long session in a small window")
    args = parser.parse_args()
    print(f"seed {args.seed}, {args.sessions} sessions, {args.jobs} at once", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="clew-soak-"))
    if args.long:
        wrong = long_session(folder / "long", requests=args.long, seed=args.seed)
        print("\n".join([*wrong, f"seed {args.seed}: {args.long} requests, {len(wrong)} things wrong"]))
        shutil.rmtree(folder, ignore_errors=True)
        return 1 if wrong else 0
    started = time.monotonic()
    failed: Counter[str] = Counter()
    bad: list[int] = []
    with ThreadPoolExecutor(args.jobs) as pool:
        seeds = range(args.seed, args.seed + args.sessions)
        running = {pool.submit(play, plan_of(seed), folder / str(seed)): seed for seed in seeds}
        for done in as_completed(running):
            seed = running[done]
            wrong = done.result()
            if wrong:
                bad.append(seed)
                failed.update({kind_of(line) for line in wrong})
                print("\n".join([f"FAIL {plan_of(seed).describe()}", *(f"  ! {line}" for line in wrong)]), flush=True)
            if not (wrong and args.keep):
                shutil.rmtree(folder / str(seed), ignore_errors=True)
    took_s = time.monotonic() - started
    for kind, count in failed.most_common():
        print(f"{count:4} sessions  {kind}")
    good = args.sessions - len(bad)
    print(f"{good} of {args.sessions} go on as they were; {took_s:.0f} s; failing seeds: {sorted(bad) or 'none'}")
    if bad and args.keep:
        print(f"kept in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


def plan_of(seed: int) -> Plan:
    """The session of a seed."""
    return make_view_plan(seed) if seed % 2 else make_plan(seed)


def kind_of(line: str) -> str:
    """What is wrong, without the place: the same for all sessions of one class."""
    return NUMBERED.sub("_", line.partition("\n")[0].partition(" differ: ")[0])[:90]


if __name__ == "__main__":
    sys.exit(main())
