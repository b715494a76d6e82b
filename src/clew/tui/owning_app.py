"""The app a widget belongs to, with a type: Textual leaves its parameter open."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from textual.app import App
from textual.widget import Widget

app_of: Callable[[Widget], App[Any]] = attrgetter("app")
