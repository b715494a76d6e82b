"""Large transcripts made fast: turns of a prompt, calls with their results, and an answer."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

VOCABULARY = 20_000
PARAGRAPHS = 1_500


class Author:
    """Writes sessions of any size. The same seed writes the same words."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._words = words = [
            "".join(self._chance.choices(letters, k=self._chance.randrange(3, 11))) for _ in range(VOCABULARY)
        ]
        weights = [1 / (rank + 10) for rank in range(VOCABULARY)]
        self._short = [" ".join(self._chance.choices(words, weights, k=60)) for _ in range(PARAGRAPHS)]
        self._long = ["\\n".join(self._chance.choices(self._short, k=12)) for _ in range(PARAGRAPHS // 4)]

    def sample_words(self) -> list[str]:
        """Questions: the most frequent words, rare ones, several, the beginning of one, a phrase."""
        common = self._words[0], self._words[1]
        rare = self._words[-1], self._words[VOCABULARY // 2]
        return [*common, *rare, " ".join(common), f"{common[0]} {rare[1]}", common[1][:3], self._short[0][:60]]

    def write(self, path: Path, session: str, size: int, *, boundary_before_end: int | None = None) -> int:
        """A session of about `size` bytes; `boundary_before_end`: a compaction that many bytes before its end."""
        path.parent.mkdir(parents=True, exist_ok=True)
        written = 0
        waiting = boundary_before_end is not None
        with path.open("wb") as file:
            for line in self._lines(session):
                if waiting and boundary_before_end is not None and written >= size - boundary_before_end:
                    waiting = False
                    self._parent = None
                    written += file.write(self._boundary(session))
                written += file.write(line())
                if written >= size and self._turn_over:
                    break
        os.chmod(path, 0o600)
        return written

    def _lines(self, session: str) -> Iterator[Callable[[], bytes]]:
        """Lines to be, made when their turn has come: a boundary may come before one."""
        self._number = 0
        self._parent: str | None = None
        pick = self._chance.choice
        while True:
            self._turn_over = False
            yield lambda: self._line(session, "user", f'{{"role":"user","content":"{pick(self._short)}"}}')
            for _ in range(3):
                call = f"call_{self._number}"
                command = pick(self._short)[:80]
                part = f'{{"type":"tool_use","id":"{call}","name":"Bash","input":{{"command":"{command}"}}}}'
                yield lambda part=part: self._reply(session, part)
                result = f'{{"type":"tool_result","tool_use_id":"{call}","content":"{pick(self._long)}"}}'
                yield lambda result=result: self._line(session, "user", f'{{"role":"user","content":[{result}]}}')
            text = f'{{"type":"text","text":"{pick(self._short)}"}}'
            self._turn_over = True
            yield lambda text=text: self._reply(session, text)

    def _reply(self, session: str, part: str) -> bytes:
        usage = '{"input_tokens":100,"output_tokens":50,"cache_creation_input_tokens":0,"cache_read_input_tokens":9000}'
        message = (
            f'{{"id":"msg_{self._number}","type":"message","role":"assistant","model":"anthropic/claude-sonnet-4-5",'
            f'"content":[{part}],"stop_reason":null,"stop_sequence":null,"usage":{usage}}}'
        )
        return self._line(session, "assistant", message)

    def _line(self, session: str, kind: str, message: str, more: str = "") -> bytes:
        self._number += 1
        uuid = f"{self._number:08x}-0000-4000-8000-{self._number:012x}"
        parent = f'"{self._parent}"' if self._parent else "null"
        self._parent = uuid
        return (
            f'{{"type":"{kind}","sessionId":"{session}","timestamp":"2026-11-15T10:00:00.000Z","uuid":"{uuid}",'
            f'"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/src/app","version":"0.1.0",'
            f'"gitBranch":"main","message":{message}{more}}}\n'
        ).encode()

    def _boundary(self, session: str) -> bytes:
        self._number += 1
        uuid = f"{self._number:08x}-0000-4000-8000-{self._number:012x}"
        line = (
            f'{{"type":"system","subtype":"compact_boundary","content":"compacted","sessionId":"{session}",'
            f'"timestamp":"2026-11-15T10:00:00.000Z","uuid":"{uuid}","parentUuid":null,"isSidechain":false,'
            '"userType":"external","cwd":"/src/app","version":"0.1.0","compactMetadata":{"trigger":"auto"}}\n'
        )
        self._parent = uuid
        summary = self._line(
            session, "user", '{"role":"user","content":"Summary of the work so far."}', ',"isCompactSummary":true'
        )
        return line.encode() + summary
