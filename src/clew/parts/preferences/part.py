"""Choices of a person that later sessions keep: effort, colours, the screen."""

from functools import partial

from clew.host.part import Effect, OpHandlers, Part, PartSession, PartSetup
from clew.parts.preferences.kept_choices import choose_effort, choose_screen, choose_theme
from clew.protocol.ops import SetEffort, SetScreen, SetTheme


class PreferencePart(Part):
    """Puts a choice in force and writes it to the user's settings."""

    def __init__(self, setup: PartSetup) -> None:
        self._workspace = setup.workspace

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session

    def ops(self) -> OpHandlers:
        """One for each choice."""
        return {SetEffort: self._effort, SetTheme: self._theme, SetScreen: self._screen}

    async def _effort(self, op: SetEffort) -> Effect:
        return partial(self._session.publish, choose_effort(op, self._session.main.agent, self._workspace))

    async def _screen(self, op: SetScreen) -> Effect:
        return partial(self._session.publish, choose_screen(op, self._workspace))

    async def _theme(self, op: SetTheme) -> Effect:
        return partial(self._session.publish, choose_theme(op, self._workspace))
