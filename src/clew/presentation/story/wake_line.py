"""The line that says why a conversation goes on although nobody typed anything."""

import re
from html import unescape

from clew.presentation.story.passages import AgentPassage
from clew.presentation.story.story import Story, added
from clew.protocol.events import PromptAccepted
from clew.protocol.messages import text_of
from clew.text.figures import count

SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)


def woken(event: PromptAccepted, story: Story, at: str) -> Story:
    """Ends of background children that started a turn: why the conversation goes on although nobody typed anything. One
    that joined while it went on anyway is told by the line of its end alone."""
    if event.origin != "task" or event.queued or not event.notices:
        return story
    told = [" ".join(unescape(words).split()) for words in SUMMARY.findall(text_of(event.content))]
    words = "; ".join(told) or f"{count(len(event.notices), 'task')} ended"
    return added(story, lambda key: AgentPassage(key=key, at=at, text=f"goes on: {words}"))
