"""Whether words tell a deed of the speaker as done: neither denied, nor wished for or planned, nor others'."""

import re

NOT = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|without|cannot|can't|neither|nor|unable|failed to|fails to|instead of|"
    r"rather "
    r"than|yet to|still (?:to|needs?)|needs? to|remains? to|nichts?|rien|nada|kein\w*|nie|ohne|noch zu|pas|"
    r"aucun\w*|jamais|sans|"
    r"ning[uú]n\w*|nunca|sin|todav[ií]a)\b|n't\b|\bn'|[未没沒无]|不(?!过)|尚",
    re.IGNORECASE,
)
GOOD_NOTHING = re.compile(
    r"\b(?:with(?:out| no)|no|zero|0|not only|nothing|without any|ohne|keine|null|sans|aucune?|sin|ning[uú]n|cero)\s+"
    r"(?:a\s+)?(?:\w+\s+)?(?:errors?|failures?|issues?|warnings?|problems?|regressions?|changes? needed|"
    r"failed|failing|failures|"
    r"to complain about|fehlern?|erreurs?|échecs?|errores|fallos|fallid[ao]s)\b|"
    r"\b(?:failures?|failed|errors?|fehler|échecs|fallos)\s*[:=]\s*0\b|"
    r"\bno (?:tests?|checks?) (?:broke|fails?|failed|is broken|are broken|regressed)\b|"
    r"(?:没有|无)(?:任何)?(?:错误|问题|失败|报错)",
    re.IGNORECASE,
)
UNREAL = re.compile(
    r"\b(?:if(?!-)|whether|once|until|unless|when|whenever|before|should|would|could|will|may|might|must|shall|can|"
    r"cannot|want|"
    r"wants|need|needs|please|let|let's|let me|plan(?:s|ned)? (?:to|for)|planned|expect|expects|expected|"
    r"ensure|ensures|make sure|verify|(?<!type )(?<!lint )(?<!-)check(?! out)|"
    r"confirm|so "
    r"that|in order|going to|about to|want to|(?:has|have|needs?|yet|still|remains?) to be|being|having|"
    r"suppose\w*|seems?|appears?|apparently|probably|likely|presumably|assum\w+|hope\w*|next|todo|"
    r"wenn|falls|ob|sobald|bis|sollte\w*|würde\w*|wird|werden kann|muss|müssen|kann|können|bevor|"
    r"si|quand|lorsque|dès que|avant|devra\w*|devrait|doit|doivent|faut|pourra\w*|afin|pour que|"
    r"cuando|antes de|debe\w*|debería\w*|hay que|podr\w+|para que|será\w*)\b|'ll\b|'d\b|"
    r"如果|若|应该|应当|将|要(?!求)|请(?!求)|需|可以|确保|希望|待|之前|会|让",
    re.IGNORECASE,
)
MODAL = re.compile(
    r"\b(?:should|would|could|will|may|might|must|shall|can|needs? to|have to|(?<!continue )to pass|if|until|once|"
    r"when|"
    r"expected to|sollten?|"
    r"müssen|doivent|devraient|deben|deberían)\b|'ll\b|应|将|需|如果",
    re.IGNORECASE,
)
SURE = re.compile(r"\bI can (?:now )?confirm(?: that)?\b|\bcan be (?:found|seen|read)\b", re.IGNORECASE)
"""What says a thing with more weight, with words of a wish."""
AND = re.compile(r"[,，]|\s(?:and|und|et|y)\s")
OTHERS = re.compile(
    r"\b(?:you|you've|user|author|maintainers?|upstream|someone|somebody|colleague|teammate|reviewer|"
    r"previous|previously|earlier|already|originally|original|formerly|last (?:week|month|year|session)|historically|"
    r"pre-existing|he(?!\s+(?:\w+[ai]do|hecho|escrito|abierto|puesto)\b)|she|they|the parent|another (?:agent|"
    r"session|person|developer)|bereits|"
    r"schon|vorher|zuvor|"
    r"sie haben|"
    r"du hast|vous|déjà|précédemment|usted|ya|anteriormente)\b|已经存在|之前|此前|原来|用户|您|你",
    re.IGNORECASE,
)
_DEEDS = (
    r"(?:created|wrote|added|changed|updated|deleted|removed|fixed|committed|pushed|opened|merged|introduced|filed)"
)
HISTORY = re.compile(
    r"\bin (?:19|20)\d\d\b|\bthe (?:PR|pull request|commit|patch|change|release) (?:that|which)\b|"
    r"\bin v?\d+\.\d+(?:\.\d+)?(?![\w.]| ?(?:s|ms|sec\w*|min\w*)\b)|\bin (?:version|release)\b|\b(?:git log|"
    r"the log|git blame|the history|"
    r"history) (?:shows?|says?|tells?)\b|\b(?:last|ago|since) (?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december|\w+day|\d{4})\b|"
    rf"\bthe (?:worker|agent|author|team|bot|maintainers?|developers?|parent|child|subagent|sub-agent)\s+{_DEEDS}\b|"
    rf"(?-i:(?:^|that\s|[,:]\s)(?!I\b|We\b|Also\b|Then\b|Now\b|Successfully\b)[A-Z]\w+\s{_DEEDS}\s(?:the|a|an|"
    rf"it|them)\b)",
    re.IGNORECASE,
)


def is_real(text: str, start: int, end: int) -> bool:
    """Whether what stands there is told as a deed of the speaker: neither denied, nor wished for, nor others'."""
    before = SURE.sub(" ", GOOD_NOTHING.sub(" ", text[:end]))
    near = AND.split(text[:start])[-1] + text[start:end]
    return not (
        NOT.search(before) or UNREAL.search(before) or OTHERS.search(near) or HISTORY.search(before + text[end:][:12])
    )
