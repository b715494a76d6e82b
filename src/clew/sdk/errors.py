"""What can go wrong for a program that uses the SDK. A turn that ends badly is no exception: its result says so.

ClewError
├── NotOpened       the session could not be opened: settings, model, key, or a session that is not there
├── Refused         the session did not take what was asked of it; the words say why
└── NotOpen         it was not entered yet, or it is over
"""


class ClewError(Exception):
    """All of them."""


class NotOpened(ClewError):
    """Nothing was written; the cause is kept as `__cause__`."""


class Refused(ClewError):
    """Nothing was done."""


class NotOpen(ClewError):
    """There is no session to ask."""
