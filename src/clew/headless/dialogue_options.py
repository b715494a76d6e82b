"""How a session that a program drives talks with it."""

from msgspec import Struct


class DialogueOptions(Struct, frozen=True, kw_only=True):
    """How to talk."""

    partial: bool = False
    hooks: bool = False
    replay_prompts: bool = False
    session_state: bool = False
    """The program wants to know when no further turn is due."""
    ask_program: bool = False
    """What would ask a person is put to the program; else it is denied and listed."""
    tool_answers: bool = False
    """A tool of the user's answers what would ask a person."""
    approval_timeout_s: float | None = None
