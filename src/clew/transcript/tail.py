"""The end of a file: whether it stops in the middle of a line."""

import os


def ends_torn(fd: int) -> bool:
    """True when the last byte is no newline, so that an append would join what stands there."""
    size = os.fstat(fd).st_size
    return size > 0 and os.pread(fd, 1, size - 1) != b"\n"
