"""What keys do that mean the same everywhere on the screen, and what is done with a queued prompt."""

from collections.abc import Callable

from clew.commands.mode import next_mode
from clew.composing.keymap import Keymap
from clew.protocol.ids import PromptId
from clew.protocol.messages import text_of
from clew.protocol.ops import Interrupt, SendToBackground, SetPermissionMode, SubmitPrompt, WithdrawPrompt
from clew.tui.conversation import ScreenConversation
from clew.tui.prompt.prompt import Prompt
from clew.tui.reading.drawing import Drawing
from clew.tui.reading.transcript import Transcript

DENSITY_WORDS = {"labels": "a label for each batch", "calls": "each call", "full": "everything"}


class ScreenActions:
    """Carries out the actions of the context `everywhere`; those that belong to others are handed to them."""

    def __init__(
        self,
        conversation: ScreenConversation,
        transcript: Transcript,
        drawing: Drawing,
        keymap: Keymap,
        *,
        others: dict[str, Callable[[], object]],
    ) -> None:
        self._conversation = conversation
        self._transcript = transcript
        self._drawing = drawing
        self._keymap = keymap
        self._actions: dict[str, Callable[[], object]] = {
            "cycle_mode": self._cycle_mode,
            "density": lambda: drawing.hint(f"showing {DENSITY_WORDS[transcript.cycle_density()]}"),
            "reasoning": self._reasoning,
            "scroll_up": lambda: transcript.page(-1),
            "scroll_down": lambda: transcript.page(1),
            "scroll_end": transcript.to_end,
            "background": lambda: self._conversation.send(SendToBackground()),
            **others,
        }

    def press(self, key: str) -> bool:
        """Do what a key means everywhere. False: it means nothing."""
        action = self._keymap.action(("everywhere",), (key,))
        if action in self._actions:
            self._actions[action]()
        return action is not None

    def take_back(self, prompt_id: PromptId, prompt: Prompt, *, edit: bool) -> None:
        """Withdraw a queued prompt; `edit`: its words are in the prompt again."""
        queued = self._conversation.story.facts.state.queued
        words = next((text_of(item.content) for item in queued if item.prompt_id == prompt_id), None)
        if words is None:
            return
        self._conversation.send(WithdrawPrompt(prompt_id=prompt_id))
        if edit:
            prompt.bring_back(words)

    def send_now(self, prompt_id: PromptId) -> None:
        """Interrupt what runs and send a queued prompt first; the others wait behind it in their order."""
        queued = [item for item in self._conversation.story.facts.state.queued if item.origin == "user"]
        chosen = [item for item in queued if item.prompt_id == prompt_id]
        if not chosen:
            return
        for item in queued:
            self._conversation.send(WithdrawPrompt(prompt_id=item.prompt_id))
        self._conversation.send(Interrupt())
        for item in (*chosen, *(other for other in queued if other.prompt_id != prompt_id)):
            self._conversation.send(SubmitPrompt(content=item.content))

    def _cycle_mode(self) -> None:
        facts = self._conversation.story.facts
        wanted = next_mode(facts.permission_mode, may_bypass=facts.may_bypass)
        self._conversation.send(SetPermissionMode(mode=wanted))

    def _reasoning(self) -> None:
        shown = not self._transcript.viewport.reasoning
        self._transcript.show_reasoning(shown=shown)
        self._drawing.hint("reasoning shown" if shown else "reasoning folded")
