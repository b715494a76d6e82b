"""What can be wrong with settings, always with the place.

SettingsError
├── SettingsFileError      a file (or `--settings` text) that cannot be read or decoded
│   └── UnknownKey         a key that does not exist, with the nearest one that does
├── SettingsVariableError  an environment variable with a value we cannot use
└── SettingsKeyError       a key named on the command line that does not exist, or may not stand there
"""


def printable(words: str) -> str:
    """The words on one line, with an escape for whatever a terminal would not show."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)


class SettingsError(Exception):
    """Bad settings. The message is one line: what, where, what to do.

    Keys and values in it come from files, so whatever does not print is escaped.
    """

    def __init__(self, words: str) -> None:
        super().__init__(printable(words))


class SettingsFileError(SettingsError):
    """A settings file or `--settings` text is unreadable, malformed, or holds a value of the wrong kind."""

    def __init__(self, where: str, what: str, *, key: str = "") -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.key = key


class UnknownKey(SettingsFileError):
    """A key nobody reads. Silence here would mean a deny rule with a typo protects nothing."""


class SettingsVariableError(SettingsError):
    """An environment variable of ours holds something unusable."""


class SettingsKeyError(SettingsError):
    """`clew config` was given a key or scope that does not fit."""
