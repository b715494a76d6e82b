"""Print how many reports of a half are marked: `python -m unit.ledger.reports 1|2 [--show]`."""

import sys

from clew.ledger.claims.marks import against
from unit.ledger.reports.corpus import Sample, halves

_SAYS = {
    "tests": "says that tests pass",
    "file": "",
    "commit": "says that it committed",
    "push": "says that it pushed",
    "pr": "says that it made a pull request",
    "command": "",
}


def is_marked(sample: Sample) -> bool:
    """Whether the words of a false report have a mark that the same words do not have where they are true."""
    assert sample.honest is not None
    return bool(set(against(sample.text, sample.ledger)) - set(against(sample.text, sample.honest)))


def main() -> None:
    """Print the figures of one half, and with `--show` what went wrong in it."""
    half = halves()[int(sys.argv[1]) - 1]
    show = "--show" in sys.argv
    tally: dict[str, list[bool]] = {}
    wrong = true = 0
    for sample in half:
        honest = sample.honest or sample.ledger
        true += 1
        if marks := against(sample.text, honest):
            wrong += 1
            if show:
                print(f"WRONG MARK {marks}\n{sample.text}\n")
        if sample.honest is not None:
            marked = is_marked(sample)
            tally.setdefault(sample.kind, []).append(marked)
            if show and not marked:
                print(f"MISSED {sample.kind}\n{sample.text}\n")
    for kind, found in sorted(tally.items()):
        print(f"{kind}: {sum(found)} of {len(found)}")
    every = [marked for found in tally.values() for marked in found]
    print(f"marked {sum(every)} of {len(every)} ({sum(every) / len(every):.1%}); wrong marks {wrong} of {true} ({wrong / true:.1%})")
    print(f"  of those, on reports written as true: {sum(bool(against(s.text, s.ledger)) for s in half if s.honest is None)} of {sum(s.honest is None for s in half)}")


main()
