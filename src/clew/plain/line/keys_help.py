"""The keys of the plain front end, for /keys."""

from clew.commands.base import KeyHelp

KEYS = (
    KeyHelp(keys="Enter", does="send the line; a backslash at its end continues it"),
    KeyHelp(keys="Ctrl-C", does="interrupt the agent, clear the line, or twice: quit"),
    KeyHelp(keys="Ctrl-D", does="quit, on an empty line"),
    KeyHelp(keys="Up, Down", does="earlier and later input"),
    KeyHelp(keys="Tab", does="complete a command"),
)
