"""What the last words of a message ask, whether they leave something open, and how a session reads with that."""

import re

from clew.protocol.ids import EntryId
from clew.protocol.standing import Standing, as_read
from clew.transcript.chain.standing import MAX_CHARS, StandingFold

MAY_ASK = "may ask"
"""Detail of a state: the last words hold a question, and whom it asks is not clear, or they
tell of what is not done, or not yet."""


class ReadStanding(StandingFold, kw_only=True, omit_defaults=True):
    """The standing as people read it in lists and recaps: a question in plain words counts."""

    def state(self, *, held: bool, found_bytes: int = 0) -> Standing:
        """Like `standing`; who rests after a question is asking."""
        return as_read(self.standing(held=held, found_bytes=found_bytes), self.question)

    def said(self, text: str, source: EntryId) -> None:
        """Words of the agent's own, with what they ask and what they leave open."""
        question, is_clear = closing_question(text)
        self.ask(question if is_clear else "", source)
        is_open = bool(question and not is_clear) or leaves_open(text)
        self.note("text", MAY_ASK if is_open else "", source)


_ASKS = re.compile(r"[?？؟][\"'”’)\]*_]*(?=\s|$)|[？]")
_SENTENCE = re.compile(r"(?<=[.!:?؟])[\"'”’)*_]*\s+|(?<=[。！？：])\s*|\n")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,2}[.)])\s")
_HEADING = re.compile(r"\s*(?:#|\*\*[^*]+\*\*\s*$)")
_CODE = re.compile(r"`[^`\n]*`")
_SPACE = "\ue000"
_QUOTE = re.compile('["`“”„«»「」]')
_REACH = 8
"""So many sentences may follow a question that still waits."""
_COURTESY = re.compile(
    r"anything else|further (?:help|assistance|questions)|any (?:other |more )?questions|"
    r"if you (?:need|have) any|how (?:can|may) I (?:help|assist)|what would you like (?:me )?to|"
    r"还有(?:什么|其他)|還有(?:什麼|其他)|他に(?:何か|ご)|что-нибудь ещё|чем (?:ещё )?(?:могу )?помочь|noch etwas|"
    r"algo más|autre chose|algo mais|altro\b",
    re.IGNORECASE,
)
"""Ways to say that one is done."""
_TO_YOU = re.compile(
    r"\b(?:you|your|(?:should|shall|may|can) I|du|dir|dich|Ihnen|möchten Sie|wollen Sie|soll(?:te)? ich|"
    r"vous|tu|dois-je|puis-je|quieres|prefieres|usted|debo|puedo|você|quer|devo|posso|vuoi|preferisci|"
    r"вы|ты|вам|тебе|мне)\b|[你您]|ましょうか|ますか|까요|나요",
    re.IGNORECASE,
)
"""Words by which a question is put to the one who reads it."""


def closing_question(text: str) -> tuple[str, bool]:
    """What the last words of a message ask, and whether it is clear that they wait for an answer: they end with it, a
    last remark and a list of answers aside, or put it to the reader by word. Who goes on to answer it did not ask."""
    if not _ASKS.search(text, max(0, len(text) - 2500)):
        return "", True
    text = _CODE.sub(lambda code: code[0].replace(" ", _SPACE), text)  # code is one word, whatever it holds
    blocks = [block for block in re.split(r"\n\s*\n", text[-2500:].rsplit("```", 1)[-1]) if block.strip()]
    while len(blocks) > 1 and _ITEM.match(blocks[-1]) and not _ASKS.search(blocks[-1]):
        blocks.pop()
    after = 0
    for number, block in enumerate(reversed(blocks)):
        for sentence in reversed([piece for piece in _SENTENCE.split(block) if piece and piece.strip()]):
            asked = _asked(sentence)
            if asked:
                opens = text.lstrip().startswith(sentence.strip())  # often the reader's own question, said again
                clear = (number == 0 and after < 2) or (not opens and _TO_YOU.search(asked) is not None)
                return "" if _COURTESY.search(asked) else asked.replace(_SPACE, " ")[:MAX_CHARS], clear
            after += not _ITEM.match(sentence)
            if after > _REACH:
                return "", True
    return "", True


_MORE = re.compile(
    r"\bnot\b|n't\b|\bcannot\b|\b(?:I'll|I will|still|next|later|remain\w*|yet|pending|to-?do|tell me|let me know|"
    r"please|once you|if you(?:'d)? (?:want|like|prefer)|nicht|noch|als nächstes|bitte|sag mir|pas|encore|ensuite|"
    r"aún|todavía|falta|luego|dime|non|ancora|dopo|dimmi|não|ainda|depois|не|ещё|далее|скажи\w*)\b|"
    r"[没沒未请請]|还需|下一步|接下来|まだ|次に|ません|아직|다음",
    re.IGNORECASE,
)
"""Words by which one denies, tells of what is to come, or leaves the next step to the reader."""
_CLOSING = 3


def leaves_open(text: str) -> bool:
    """Whether the last sentences of a message tell of what is not done, by whomever; a courtesy does not."""
    closing = [piece for piece in _SENTENCE.split(text[-800:].replace("’", "'").strip()) if piece and piece.strip()]
    return any(_MORE.search(piece) and not _COURTESY.search(piece) for piece in closing[-_CLOSING:])


def _asked(sentence: str) -> str:
    """The sentence as a question; "" when it is none, a heading, or in quotes."""
    found = _ASKS.search(sentence)
    if not found or sentence[found.end() :].strip() or _HEADING.match(sentence):
        return ""
    plain = re.sub(r"^[\s>#*+•-]+|\*\*", "", sentence).strip()
    return plain if len(plain) > 3 and len(_QUOTE.findall(plain)) % 2 == 0 else ""
