"""The line that says why a conversation goes on although nobody typed anything."""

import re
from collections import Counter
from html import unescape

from clew.presentation.story.passages import AgentPassage
from clew.presentation.story.story import Story, added
from clew.protocol.events import PromptAccepted
from clew.protocol.messages import text_of
from clew.text.figures import count

SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
ITEM = re.compile(r"^\[Item #(\d+) of the work list is assigned to you\.\]$", re.MULTILINE)
LETTER = re.compile(r'<teammate-message from="([^"]*)"')


def woken(event: PromptAccepted, story: Story, at: str) -> Story:
    """Ends of background children and letters of teammates that started a turn: why the conversation goes on although
    nobody typed anything. An end that joined while it went on anyway is told by its own line alone."""
    if event.origin != "task" or event.queued or not event.notices:
        return story
    content = text_of(event.content)
    told = [" ".join(unescape(words).split()) for words in SUMMARY.findall(content)]
    writers = Counter(unescape(name) for name in LETTER.findall(content))
    told += [f"{name} wrote{f' {times} times' if times > 1 else ''}" for name, times in writers.items()]
    told += [f"item #{number} was assigned" for number in ITEM.findall(content)]
    ended = content.startswith("<task-notification>")
    words = "; ".join(told) or (f"{count(len(event.notices), 'task')} ended" if ended else "the lead gave it a task")
    return added(story, lambda key: AgentPassage(key=key, at=at, text=f"goes on: {words}"))
