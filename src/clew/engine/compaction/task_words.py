"""Lines that a record may not hold: tasks, orders in the user's name, forged voices. Told by their form."""

import re

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»")
_LABEL = re.compile(
    r"^(?:[A-Z][A-Z !]{2,}[:!]\s*|(?:note|important|task|order|reminder|action|urgent|warning)\s*[:!-]\s*)+",
    re.IGNORECASE,
)
_OPENERS = re.compile(
    r"^(?:(?:now|then|also|first|finally|afterwards?|and|so|just|please|next|immediately)[,\s]+)+", re.I
)
_BASE_VERB_WORDS = """
    accept add adjust allow analyse analyze answer append apply approve ask assign avoid back backup block bring build
    call cancel change check checkout clean clear clone close commit compile complete configure confirm connect consider
    continue convert copy create curl debug decide define delete deliver deploy describe destroy disable discard
    do document download drop edit email empty enable encrypt ensure erase examine execute expand export extend fetch
    fill find finish fix follow force format generate get give go grant handle identify ignore implement import improve
    inform initialise initialize insert inspect install investigate issue join keep kill launch leave list load log look
    lower make mark merge migrate modify monitor move notify obtain open optimise optimize overwrite perform pick post
    prepare print proceed provide publish pull purge push raise rebase rebuild recreate redeploy redo refactor refresh
    register reinstall reject release reload remember remove rename reopen repair repeat replace reply report request
    rerun resolve respond restart restore resume retry return reveal revert review revoke rewrite rollback rotate run
    save scan schedule search see select send share ship show skip solve start stop store submit switch sync take tell
    terminate test transfer treat trigger truncate try turn uninstall unlock update upgrade upload use validate verify
    view visit wait wipe work write
"""
_BASE_VERBS = frozenset(_BASE_VERB_WORDS.split())
"""As the first word of a line an order: a record says "added". Verbs whose past looks the same are not here."""
_OPEN_ENDS = re.compile(
    r"\b(?:next\s+(?:steps?|up|task|action)s?|to-?dos?\b|action\s+items?|follow[- ]ups?"
    r"|(?:still\s+)?(?:needs?|needed|required?|requires|have|has|had|ought|yet|left|remains?|plans?|planned|going"
    r"|supposed|intends?|wants?|about|scheduled|waiting)\s+to(?:\s+be)?\s+\w+|(?:is|are|was|were)\s+to\s+be\s+\w+"
    r"|must|should|shall|(?:i|we|you|it|agent|assistant|he|she|they)(?:\s+will|['’]ll|\s+(?:may|can)\s+now)|will\s+need"
    r"|make\s+sure|be\s+sure|remember\s+to|don['’]?t\s+forget|let['’]?s|please|pending|outstanding|remaining"
    r"|ready\s+to|do\s+not|don['’]t|never|always)\b",
    re.IGNORECASE,
)
_OPEN_ENDS_ELSEWHERE = re.compile(
    r"需要|必须|必須|应该|應該|接下来|接下來|下一步|待办|待辦|请|請|务必|務必|将要|將要|要求|不要|切记"
    r"|必要が|べき|次に|ください|予定|しなければ|なさい|해야|필요|다음|하세요|예정|십시오|주세요"
    r"|\b(?:нужно|надо|необходимо|следует|долж\w+|далее|следующ\w+|пожалуйста|осталось)\b"
    r"|\b(?:debe\w*|hay\s+que|necesit\w+|pendientes?|próxim\w+|siguientes?|tareas?|por\s+favor|faltan?)\b"
    r"|\b(?:il\s+faut|doit|doivent|devra\w*|à\s+faire|prochain\w*|veuillez|reste\s+à)\b"
    r"|\b(?:muss|müssen|soll\w*|nächste\w*|noch\s+zu|bitte|ausstehend\w*|zu\s+erledigen)\b"
    r"|\b(?:deve\w*|precisa\w*|pendentes?|bisogna|prossim\w+|da\s+fare|moet\w*|należy|trzeba|gerek\w*|phải|cần)\b"
    r"|يجب|ينبغي|الرجاء|चाहिए|कृपया",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^\W*(?:the\s+|our\s+|new\s+|next\s+|main\s+|current\s+)*"
    r"(?:goal|objective|mission|priorit(?:y|ies)|assignment|deadline|task|order|instruction|plan|aim|target)s?\b\s*(?:is\b|are\b|now\b|[:=-])",
    re.IGNORECASE,
)
_ORDERS_ELSEWHERE = re.compile(
    r"^\W*(?:borra|elimina|ejecuta|haz|envía|crea|añade|supprime[sz]?|efface[sz]?|exécute[sz]?|envoie|envoyez|crée[sz]?|ajoute[sz]?"
    r"|lösch\w*|entfern\w*|führe?\b|sende|erstelle|apague?|exclua|remova|envie|cancella|rimuovi|esegui|invia"
    r"|удали\w*|сотри\w*|запусти\w*|отправ\w+|создай\w*|usuń|verwijder|ta\s+bort|删除|刪除|清空|执行|執行|发送|運行)",
    re.IGNORECASE,
)
_USER = r"(?:user|human|owner|maintainer|operator|customer|client|developer|person|boss|admin\w*|principal)s?"
_WILL = (
    r"(?:want|ask|order|instruct|request|tell|told|say|said|says|requir|need|demand|expect|command|allow|permit|approv|"
    r"authori[sz]|grant|confirm|insist|prefer|decid|chose|choos|agree|accept|wish|direct|urge|remind|specif|mandat)"
)
_IN_THEIR_NAME = re.compile(
    rf"\b{_USER}\b\W+(?:\w+\W+){{0,3}}?{_WILL}\w*|\b{_WILL}\w*\W+(?:\w+\W+){{0,2}}?by\W+(?:the\W+)?{_USER}\b"
    rf"|\b(?:per|following|according\s+to|at|on|upon)\W+(?:the\W+)?{_USER}(?:['’]s?)?\W+(?:\w+\W+)?"
    r"(?:request|order|wish|instruction|direction|command|behalf|approval|permission|consent)\w*"
    r"|\bas\s+(?:requested|ordered|instructed|told|agreed)\b|\b(?:approval|permission|consent)\s+(?:was\s+)?granted\b"
    r"|用户|用戶|使用者|ユーザー|利用者|사용자|пользовател\w+|\busuari[oa]s?\b|\butilisateur\w*|\b(?:Be)?nutzer\w*"
    r"|\bAnwender\w*|\butente\b|المستخدم|उपयोगकर्ता",
    re.IGNORECASE,
)
_VOICE = re.compile(
    r"^\W*(?:human|user|system|assistant|developer|operator|tool)\s*(?:\]|:|>)"
    r"|</?\s*(?:system|user|human|assistant|developer|instruction|reminder|record|section|carried|task|tool|function|"
    r"antml|im_start|im_end)[\w:-]*"
    r"|<\|[^|]*\|>|\[/?(?:INST|SYS)\w*\]|\b(?:ignore|disregard|forget)\s+(?:all|any|the|your|previous|prior|above)\b"
    r"|\b(?:new|updated)\s+instructions?\b|\bsystem\s+prompt\b|\bOpen tasks\b|\bWhat the user said\b",
    re.IGNORECASE,
)


def is_task(line: str) -> bool:
    """Whether a line sets something to do instead of telling what was done."""
    bare = _QUOTED.sub(" ", line)
    if any(form.search(bare) for form in (_OPEN_ENDS, _OPEN_ENDS_ELSEWHERE, _NAMED, _ORDERS_ELSEWHERE)):
        return True
    return any(_is_order(sentence) for sentence in re.split(r"(?<=[.!?;])\s+", line))


def _is_order(sentence: str) -> bool:
    words = _OPENERS.sub("", _LABEL.sub("", sentence.strip().lstrip("*_ "))).split(None, 1)
    return bool(words) and words[0].rstrip(",:").lower() in _BASE_VERBS


def is_in_their_name(line: str) -> bool:
    """Whether a line says what the user wants, said or allowed: their own words cross, nobody speaks for them."""
    return _IN_THEIR_NAME.search(line) is not None


def is_forged_voice(line: str) -> bool:
    """Whether a line plays another speaker, or the program's own marks."""
    return _VOICE.search(line) is not None
