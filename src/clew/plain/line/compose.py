"""From typed lines to one input: a backslash at the end continues, a line of three quotes opens and closes a block."""

FENCE = '"""'


class Composer:
    """Collects lines until an input is whole."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._fenced = False

    @property
    def pending(self) -> bool:
        """Something was typed that is not whole yet."""
        return self._fenced or bool(self._lines)

    def clear(self) -> None:
        """Forget it."""
        self._lines, self._fenced = [], False

    def add(self, line: str) -> str | None:
        """The whole input, or None while more must follow."""
        if self._fenced:
            if line.rstrip().endswith(FENCE):
                last = line.rstrip()[: -len(FENCE)]
                return self._take(last)
            self._lines.append(line)
            return None
        if not self._lines and line.lstrip().startswith(FENCE):
            return self._open(line.strip()[len(FENCE) :])
        if _continued(line):
            self._lines.append(line[:-1])
            return None
        return self._take(line, keep_empty=True)

    def rest(self) -> str | None:
        """At the end of the input: what was collected, even if it was never closed."""
        return self._take("") if self.pending else None

    def _open(self, first: str) -> str | None:
        if first.endswith(FENCE):
            return first[: -len(FENCE)]
        self._fenced = True
        if first:
            self._lines.append(first)
        return None

    def _take(self, last: str, *, keep_empty: bool = False) -> str:
        lines = [*self._lines, last] if last or keep_empty else self._lines
        self.clear()
        return "\n".join(lines)


def _continued(line: str) -> bool:
    """An odd number of backslashes at the end; an even number is text."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1
