"""A regular expression that is compiled when it is first used: large classes of characters take milliseconds each."""

import re
from functools import cached_property


class LazyPattern:
    """Stands in for `re.compile(...)` in a module that every run loads. After the first use of a method, that method is
    the compiled expression's own."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Raises re.error at the first use; tests use every one of them."""
        return re.compile(self.pattern, self._flags)

    @cached_property
    def search(self):
        return self.compiled.search

    @cached_property
    def match(self):
        return self.compiled.match

    @cached_property
    def findall(self):
        return self.compiled.findall

    @cached_property
    def sub(self):
        return self.compiled.sub

    @cached_property
    def fullmatch(self):
        return self.compiled.fullmatch

    @cached_property
    def finditer(self):
        return self.compiled.finditer
