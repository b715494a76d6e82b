"""Identifiers. Each is a string with a name of its own, so that one kind cannot stand in for another."""

import os
from typing import NewType

SessionId = NewType("SessionId", str)
EntryId = NewType("EntryId", str)
AgentId = NewType("AgentId", str)
CallId = NewType("CallId", str)
MessageId = NewType("MessageId", str)
"""Of one reply, and ours: what a provider calls it is data beside it, because servers repeat their ids."""
RequestId = NewType("RequestId", str)
OpId = NewType("OpId", str)
PromptId = NewType("PromptId", str)
TaskId = NewType("TaskId", str)

MAIN_AGENT = AgentId("main")


def new_uuid() -> str:
    """A random version-4 UUID, without the import cost of the `uuid` module."""
    raw = bytearray(os.urandom(16))
    raw[6] = (raw[6] & 0x0F) | 0x40
    raw[8] = (raw[8] & 0x3F) | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_entry_id() -> EntryId:
    """For a line of the log."""
    return EntryId(new_uuid())
