"""The settings of the screen while it is there: what they are, and what is done when somebody changes one."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace
from textual.app import App

from clew.config.schema import ScreenSettings
from clew.protocol.events import ScreenChanged
from clew.tui.prompt.prompt import Prompt
from clew.tui.reading.mouse import MouseParts
from clew.tui.reading.transcript import Transcript
from clew.tui.themes import animation

NAMES = {field.encode_name: field.name for field in msgspec.structs.fields(ScreenSettings)}


class LiveScreen:
    """Holds the settings in force and puts others in force."""

    def __init__(
        self,
        screen: ScreenSettings,
        app: App[Any],
        transcript: Transcript,
        prompt: Prompt,
        *,
        env: Mapping[str, str],
        take_mouse: Callable[[bool], None],
    ) -> None:
        self.screen = screen
        self._app = app
        self._transcript = transcript
        self._prompt = prompt
        self._env = env
        self._take_mouse = take_mouse
        """Tells the terminal whether the mouse is clew's."""

    def begin(self) -> None:
        """All of them, when the screen opens."""
        self._transcript.viewport.tools = dict(self.screen.tools)
        self._transcript.set_density(self.screen.density)
        self._transcript.show_reasoning(shown=self.screen.reasoning)
        self._use()

    def change(self, event: ScreenChanged) -> None:
        """One of them has another value."""
        before, self.screen = self.screen, changed_screen(self.screen, event)
        if before.density != self.screen.density:
            self._transcript.set_density(self.screen.density)
        if before.reasoning is not self.screen.reasoning:
            self._transcript.show_reasoning(shown=self.screen.reasoning)
        self._use()

    def values(self) -> dict[str, str]:
        """Every plain setting as a person writes it."""
        told: dict[str, str] = {}
        for written, name in NAMES.items():
            value = getattr(self.screen, name)
            if isinstance(value, bool):
                told[written] = "on" if value else "off"
            elif isinstance(value, str):
                told[written] = value
        return {**told, "theme": self._app.theme}

    def _use(self) -> None:
        screen = self.screen
        self._app.animation_level = animation(self._env, reduced=screen.reduced_motion)
        self._prompt.use_vim(wanted=screen.vim)
        parts = self._transcript.pointing.parts = MouseParts.of(screen)
        self._take_mouse(screen.mouse and bool(parts))


def changed_screen(screen: ScreenSettings, event: ScreenChanged) -> ScreenSettings:
    """The settings with this one changed; as they are where it is none that can be changed."""
    name = NAMES.get(event.name, "")
    if isinstance(getattr(screen, name, None), bool):
        return replace(screen, **{name: event.value in ("on", "true", "yes")})
    return replace(screen, **{name: event.value}) if isinstance(getattr(screen, name, None), str) else screen
