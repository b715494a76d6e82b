"""The prompt app in a real terminal: started as a process of its own, writes each input as a line of JSON."""

import json
import os
import sys
from pathlib import Path

from clew.tui.prompt.prompt import Prompt
from clew.tui.terminal.driver import TerminalDriver
from tui.prompt_app import PromptApp


class Main(PromptApp):
    """Notes entries in a file, so that they are seen outside."""

    def __init__(self, out: Path) -> None:
        super().__init__(home=out.parent)
        self._out = out
        self.driver_class = TerminalDriver

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        super().on_prompt_entered(event)
        with self._out.open("a") as file:
            file.write(json.dumps(event.typed.content) + "\n")

    def on_key(self, event: object) -> None:
        super().on_key(event)
        if self.bubbled[-1] == "ctrl+q":
            self.exit()


if __name__ == "__main__":
    Main(Path(sys.argv[1])).run()
    os._exit(0)
