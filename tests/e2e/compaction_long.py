"""A long session in a small window: bytes that were sent change only where the log says that the view changed."""

import json
import random
from itertools import pairwise
from pathlib import Path

from e2e.compaction_lab import Lab, tokens_of, words
from e2e.conversation_check import normal
from e2e.conversation_fuzz import view_changes

WINDOW = 9_000
FILES = 20
ORDERS = ["/compact fast", "/compact", "/compact undo --force", "/compact snip 1 1"]


def long_session(folder: Path, *, requests: int, seed: int) -> list[str]:
    """What is wrong with a session of so many requests."""
    chance = random.Random(seed)
    changes: list[int] = []
    with Lab(folder, window=WINDOW, settings={"compaction": {"keepRecent": 2}}) as lab:
        lab.on_request = lambda request: changes.append(view_changes(lab.home))
        for number in range(FILES):
            text = f"inside-{number} " + "some words " * chance.randint(5, 150)
            (lab.project / f"ink{number}.txt").write_text(text)
        person = lab.start()
        number = 0
        while len(lab.asked) < requests:
            name = f"ink{chance.randrange(FILES)}.txt"
            call = {"calls": [{"call": "Read", "arguments": {"file_path": name}}]}
            lab.replies = [call] * chance.choice([0, 1, 3, 5])
            lab.last = {"text": f"say{number:03d} {words(chance.randint(10, 700))}"}
            lab.turn(person, f"ask{number:03d} please explain {words(chance.randint(1, 300))}")
            if number % 12 == 11:
                person.order(chance.choice(ORDERS))
            number += 1
        return wrong_with(lab, changes)


def wrong_with(lab: Lab, changes: list[int]) -> list[str]:
    """Each request against the one before it, and against the window."""
    bodies = [json.dumps(normal("chat", one.request.body))[:-1] for one in lab.asked]
    wrong = [] if len(bodies) == len(changes) else [f"{len(bodies)} requests, and {len(changes)} were looked at"]
    for at in range(1, len(bodies)):
        if not bodies[at].startswith(bodies[at - 1]) and changes[at] == changes[at - 1]:
            wrong.append(f"request {at + 1} changes what was sent before, and the log does not say why")
    recorded = sum(earlier != later for earlier, later in pairwise(changes))
    if not len(bodies) // 40 <= recorded <= len(bodies) // 3:
        wrong.append(f"{recorded} changes of view in {len(bodies)} requests")
    sizes = [tokens_of(one.request) for one in lab.asked]
    return wrong + [f"request {at} holds {size} tokens" for at, size in enumerate(sizes, 1) if size > WINDOW]
