"""Many processes write to one inbox and claim from one list while some are killed; what was stored is counted by hand.

`python -m e2e.mail_fuzz --writers 64 --letters 100 --claimers 32` plays the whole of it; the suite plays a part.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

WRITER = """
import sys
from pathlib import Path
from clew.teams.mailbox import Mailbox, NotStored
folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
box = Mailbox(folder / "inbox.jsonl", archive=folder / "archive.jsonl")
for number in range(count):
    try:
        letter = box.post("chat", sender=name, to="reader", body={"text": f"{name} {number}"})
        print("stored", number, letter.id, flush=True)
    except NotStored as why:
        print("refused", number, why, flush=True)
"""
READER = """
import sys
from pathlib import Path
from clew.teams.mailbox import Mailbox
from clew.system.shared_log import LogBusy
folder = Path(sys.argv[1])
box = Mailbox(folder / "inbox.jsonl", archive=folder / "archive.jsonl")
while not (folder / "over").exists() or box.unread():
    now = box.unread()[:20]
    try:
        for letter in box.settle([one.id for one in now], "delivered", step=1):
            print(letter, flush=True)
    except LogBusy:
        pass
"""
CLAIMER = """
import sys
from pathlib import Path
from clew.teams.work_list import WorkChange, WorkList, WorkRefused
folder, name = Path(sys.argv[1]), sys.argv[2]
work = WorkList(folder / "list")
for item in work.items():
    while True:
        try:
            work.update(item.id, WorkChange(status="in_progress"), by=name)
            print(item.id, flush=True)
            break
        except WorkRefused as refused:
            if refused.code == "busy":
                continue
            assert refused.code == "already_claimed", refused.code
            break
"""


def started(code: str, folder: Path, *more: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", code, str(folder), *more], stdout=subprocess.PIPE, text=True)


def killed(processes: "list[subprocess.Popen[str]]", share: float, rng: random.Random) -> set[int]:
    """Kill some of them after some of their lines; what each had said until then is kept for the count."""
    chosen = {number for number in range(len(processes)) if rng.random() < share}
    for number in chosen:
        stdout = processes[number].stdout
        assert stdout is not None
        heard = [stdout.readline() for _ in range(rng.randint(0, 5))]
        processes[number].send_signal(signal.SIGKILL)
        processes[number].said = heard  # type: ignore[attr-defined]  # what was read before the kill
    return chosen


def lines_of(process: "subprocess.Popen[str]") -> list[str]:
    rest, _ = process.communicate()
    return [*getattr(process, "said", []), *rest.splitlines(keepends=True)]


def play_mail(folder: Path, *, writers: int, letters: int, kills: float, rng: random.Random) -> dict[str, int]:
    """One inbox. Raises AssertionError where a stored letter is lost, doubled or out of order."""
    reader = started(READER, folder)
    processes = [started(WRITER, folder, f"w{number}", str(letters)) for number in range(writers)]
    dead = killed(processes, kills, rng)
    told = [lines_of(process) for process in processes]
    (folder / "over").touch()
    read = [line.strip() for line in reader.communicate()[0].splitlines()]
    raw = [json.loads(line) for name in ("archive.jsonl", "inbox.jsonl") for line in whole_lines(folder / name)]
    in_files: dict[str, str] = {}
    for line in raw:
        if line.get("line") == "letter":
            in_files[line["id"]] = line["body"]["text"]
    stored = refused = 0
    for number, lines in enumerate(told):
        said = [line.split() for line in lines if line.endswith("\n")]
        kept = [parts for parts in said if parts[0] == "stored"]
        stored += len(kept)
        refused += sum(parts[0] == "refused" for parts in said)
        assert all(in_files.get(parts[2]) == f"w{number} {parts[1]}" for parts in kept), "a stored letter is lost"
        assert number in dead or len(said) == letters, "a writer told nothing of a letter"
    assert len(read) == len(set(read)), "a letter was read twice"
    assert set(read) == set(in_files), "a letter was never read"
    for number in range(writers):
        order = [int(in_files[letter].split()[1]) for letter in read if in_files[letter].split()[0] == f"w{number}"]
        assert order == sorted(order), "the order of a sender was not kept"
    return {"stored": stored, "refused": refused, "read": len(read), "killed": len(dead)}


def whole_lines(path: Path) -> list[bytes]:
    found: list[bytes] = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            json.loads(line)
        except ValueError:
            continue  # torn by a kill
        found.append(line)
    return found


def play_claims(folder: Path, *, claimers: int, items: int, kills: float, rng: random.Random) -> dict[str, int]:
    """One list. Raises AssertionError where an item has two owners."""
    from clew.teams.work_list import WorkList

    work = WorkList(folder / "list")
    for number in range(items):
        work.create(f"item {number}", by="lead")
    processes = [started(CLAIMER, folder, f"c{number}") for number in range(claimers)]
    dead = killed(processes, kills, rng)
    won: dict[int, str] = {}
    for number, process in enumerate(processes):
        for line in lines_of(process):
            if line.endswith("\n"):
                assert int(line) not in won, "an item has two owners"
                won[int(line)] = f"c{number}"
        assert number in dead or process.returncode == 0
    owners = {item.id: item.owner for item in WorkList(folder / "list").items()}
    assert all(owners[item] == name for item, name in won.items())
    assert all(owners.values()), "an item has no owner although everybody tried"
    return {"items": items, "told": len(won), "killed": len(dead)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--writers", type=int, default=64)
    parser.add_argument("--letters", type=int, default=100)
    parser.add_argument("--claimers", type=int, default=32)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--kills", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    args = parser.parse_args()
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as base:
        mail = play_mail(Path(base), writers=args.writers, letters=args.letters, kills=args.kills, rng=rng)
        print(f"seed {args.seed}: mail {mail}")
        claims = play_claims(Path(base), claimers=args.claimers, items=args.items, kills=args.kills, rng=rng)
        print(f"claims {claims}")


if __name__ == "__main__":
    main()
