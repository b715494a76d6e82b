"""Print how many reports of a half are marked: `PYTHONPATH=tests python -m unit.ledger.reports 1|2|3|4 [--show]`."""

import sys

from unit.ledger.reports.corpus import halves, later, measured


def main() -> None:
    """Print the figures of one part, and with `--show` what went wrong in it."""
    figures = measured((*halves(), later("second"), later("third"))[int(sys.argv[1]) - 1])
    for kind, (marked, of) in sorted(figures.by_kind.items()):
        print(f"{kind}: {marked} of {of}")
    print(f"marked {figures.marked} of {figures.false}; wrong marks {len(figures.wrong)} of {figures.true}")
    if "--show" in sys.argv:
        print(
            *(f"\nMISSED {text}" for text in figures.missed), *(f"\nWRONG {text}" for text in figures.wrong), sep="\n"
        )


main()
