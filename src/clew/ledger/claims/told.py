"""What a statement tells as done of the four kinds that are judged: tests, files, deliveries, commands."""

import re
from collections.abc import Iterator
from typing import Literal

from clew.ledger.claims.statements import Statement

Delivery = Literal["commit", "push", "pr"]
_FILE = r"⟦[FG](\d+)⟧"
_NOT = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|without|cannot|can't|neither|nor|unable|failed to|fails to|instead of|"
    r"rather "
    r"than|yet to|still (?:to|needs?)|needs? to|remains? to|nicht|kein\w*|nie|ohne|noch zu|pas|aucun\w*|jamais|sans|"
    r"ning[uú]n\w*|nunca|sin|todav[ií]a)\b|n't\b|\bn'|[未没沒无]|不(?!过)|尚",
    re.IGNORECASE,
)
_GOOD_NOTHING = re.compile(
    r"\b(?:with(?:out| no)|no|zero|0|not only|ohne|keine|sans|aucune?|sin|ning[uú]n)\s+(?:\w+\s+)?(?:errors?|"
    r"failures?|issues?|"
    r"warnings?|problems?|regressions?|changes? needed|fehler|erreurs?|errores|fallos|failed|failing)\b|"
    r"(?:没有|无)(?:任何)?(?:错误|问题|失败|报错)",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:if(?!-)|whether|once|until|unless|when|whenever|before|should|would|could|will|may|might|must|shall|can|"
    r"cannot|want|"
    r"wants|need|needs|please|let|let's|let me|plan|expect|expects|expected|ensure|ensures|make sure|verify|check|"
    r"confirm|so "
    r"that|in order|going to|about to|want to|(?:has|have|needs?|yet|still|remains?) to be|being|having|"
    r"suppose\w*|assum\w+|hope\w*|next|todo|"
    r"wenn|falls|ob|sobald|bis|sollte\w*|würde\w*|wird|werden kann|muss|müssen|kann|können|bevor|"
    r"si|quand|lorsque|dès que|avant|devra\w*|devrait|doit|doivent|faut|pourra\w*|afin|pour que|"
    r"cuando|antes de|debe\w*|debería\w*|hay que|podr\w+|para que|será\w*)\b|'ll\b|'d\b|"
    r"如果|若|应该|应当|将|要(?!求)|请|需|可以|确保|希望|待|之前|会|让",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:should|would|could|will|may|might|must|shall|can|needs? to|have to|(?<!continue )to pass|if|until|once|"
    r"when|"
    r"expected to|sollten?|"
    r"müssen|doivent|devraient|deben|deberían)\b|'ll\b|应|将|需|如果",
    re.IGNORECASE,
)
_AND = re.compile(r"[,，]|\s(?:and|und|et|y)\s")
_OTHERS = re.compile(
    r"\b(?:you|you've|user|author|maintainers?|upstream|someone|somebody|colleague|teammate|reviewer|"
    r"previous|previously|earlier|already|originally|original|formerly|last (?:week|month|year|session)|historically|"
    r"pre-existing|he(?!\s+\w+[ai]do\b)|she|they|the parent|another (?:agent|session|person|developer)|bereits|"
    r"schon|vorher|zuvor|"
    r"sie haben|"
    r"du hast|vous|déjà|précédemment|usted|ya|anteriormente)\b|已经存在|之前|此前|原来|用户|您|你",
    re.IGNORECASE,
)
_TESTS = (
    r"(?:⟦[TG]\d+⟧|\b(?:tests?|test[- ]?suites?|suites?|specs?|pytest|jest|vitest|go test|cargo test|npm test|"
    r"testsuite|"
    r"testfälle|pruebas?)\b)"
)
_PASSED = (
    r"(?:\b(?:pass(?:es)?(?!\s+(?:the|a|an|it|in|to|through|arguments?)\b)|succeed(?:s|ed)?|green|"
    r"passed(?=\s*(?:[.,;:!)✅✓(]|$|in \d|with|on|locally|successfully|and|now|after|again|cleanly|without|under|"
    r"for|⟦))|"
    r"(?:is|are|all|now|still|\d+|remain) passing|passing(?=\s*(?:[.,;:!)✅✓(]|$))|"
    r"(?:runs?|ran|complete[sd]?|execut\w+|finish\w*|are|is|were|was) (?:successful(?:ly)?|clean(?:ly)?|ok)|"
    r"bestanden|grün\w*|bestehen|erfolgreich|laufen (?:alle )?durch|durchgelaufen|"
    r"passent|réussi(?:s|es|ssent)?|au vert|verts|pasan|pasaron|pasado|en verde|exitosas?|con éxito)\b|✅|✓|✔)"
)
_TESTS_PASS = (
    re.compile(rf"{_TESTS}[^.;]{{0,70}}?{_PASSED}", re.IGNORECASE),
    re.compile(
        rf"\b(?:pass(?:es|ed|ing)?|green)\s+(?:(?:all|the|its|every|existing|of|\d+|unit|integration|e2e|new|full|"
        rf"our)\s+)*"
        rf"{_TESTS}(?!\s+(?:data|fixtures?|input|file|case (?:to|into)))",
        re.IGNORECASE,
    ),
    re.compile(r"(?<![\d/.])[1-9][\d,]*\s+(?:tests?\s+)?passed\b(?!\s+(?:to|as|by|into|from))", re.IGNORECASE),
    re.compile(r"(?<![\d/.])(\d+)/\1\s+(?:tests?\s+)?(?:pass(?:ed|ing)?|green)\b", re.IGNORECASE),
    re.compile(r"测试[^。；]{0,15}?(?:通过|成功|全绿|✅)|通过了?(?:所有|全部|了)?[^。，]{0,6}测试"),
)
_ALL_PASS = re.compile(
    r"^\W*(?:all|everything)(?: \d+)?(?: checks?)?(?: now| still)? (?:pass(?:es|ed|ing)?|green)\b", re.IGNORECASE
)
_MAKES_PASS = re.compile(r"\b(?:make|makes|making|get|gets|getting|let|help)\s+(?:\S+\s+){0,4}$", re.IGNORECASE)
_LEFT_OUT = re.compile(
    r"\b(?:except|apart from|other than|besides|flaky|pre-existing|unrelated|ausgenommen|außer|sauf|excepto|"
    r"salvo)\b|除了",
    re.IGNORECASE,
)
_FAILS = re.compile(
    rf"\b(?:[1-9]\d*|one|two|three|some|several|a few|many)\s+(?:\S+\s+){{0,2}}?(?:{_TESTS}\s+)?(?:are\s+|"
    rf"still\s+)?fail(?:s|ed|ing|ures?)?\b|"
    rf"{_TESTS}[^.;,]{{0,50}}\b(?:fail|fails|failed|failing|broken|red|timed? out)\b|{_TESTS}[^.;]*❌|"
    rf"❌[^.;]*{_TESTS}|"
    rf"{_TESTS}[^.;,]{{0,50}}\b(?:fehlgeschlagen|fehl|échoue\w*|échoué\w*|fallan?|falló|fallaron)\b|"
    rf"测试[^。；]{{0,12}}失败",
    re.IGNORECASE,
)
_WAS_MENDED = re.compile(
    r"\b(?:fixed|resolved|were|was|had|previously|no longer|repaired|addressed|added|updated|changed)\b|"
    r"修复",
    re.IGNORECASE,
)
_CHANGED = (
    r"(?:created|wrote|written|added|updated|modified|edited|changed|deleted|removed|rewrote|rewritten|refactored|"
    r"renamed|"
    r"extended|fixed|implemented|cleaned up|generated|saved|simplified|adjusted|corrected|"
    r"replaced|moved|extracted|split|converted|inlined|introduced|resolved|dropped|appended|inserted|reverted|"
    r"documented|consolidated|populated|clarified|improved|enhanced|migrated|tightened|wrapped|switched|rewired|"
    r"erstellt|geschrieben|hinzugefügt|geändert|aktualisiert|angepasst|gelöscht|entfernt|angelegt|"
    r"créé|écrit|ajouté|modifié|mis à jour|supprimé|corrigé|"
    r"creado|creé|escrito|escribí|añadido|añadí|agregado|agregué|actualizado|actualicé|modificado|modifiqué|"
    r"eliminado|eliminé)"
)
_BEGIN = r"(?:^\W*|\b(?:I|I've|we|we've|have|and|also|then|successfully|by|done)\s+|[,:(.—–-]\s+|[✅✓✔]\s*)"
_FILES = rf"{_FILE}(?:(?:\s*,\s*(?:and\s+)?|\s+(?:and|und|et|y|&)\s+|\s*[+&]\s*){_FILE})*"
_ENDS = (
    r"(?=\s*(?:$|[.,:;()—–\[-]|(?:to|with|in|at|for|and|so|by|which|that|now|where|when|because|after|instead|from|"
    r"using|as|on|file|changes?|under|accordingly|pour|"
    r"para|mit|um)\b))"
)
_NO_OBJECT = (
    r"(?:for|of|about|via|with|using|like|by|as|on|against|than|over|under|between|that|which|who|to|in|from|at|"
    r"into|if|when|"
    r"how|where|and|or|references?|links?|\w+ing|für|von|mit|pour|de|avec|con|sobre)\b"
)
_WRITES_FILE = (
    re.compile(
        rf"{_BEGIN}{_CHANGED}(?:\s*:)?\s+"
        rf"(?:(?!{_NO_OBJECT})[\w-]+\s+){{0,4}}"
        rf"{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_BEGIN}{_CHANGED}\s+(?:(?!{_CHANGED}\b)[^.;⟦]|\.(?=\w)|⟦[CTH]\d+⟧){{0,120}}?(?<!\w)"
        rf"(?<!references )(?<!reference )(?<!links )(?<!link )(?<!similar )(?<!compared )(?<!related )"
        rf"(?<!identical )(?<!calls )"
        rf"(?<!imports )(?<!according )(?<!due )(?:(?:in|to|into|at|from)\s+(?:(?:the|a|new|"
        rf"file)\s+){{0,2}}{_FILES}{_ENDS}|\({_FILES}(?:\)|,|:))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^{_FILE}:?\s+(?:(?:two|three|four|several|minor|small|type|\d+)\s+)?(?:changes?|additions?|updates|"
        rf"fixes)\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\({_FILES}\)\s*:\s*{_CHANGED}\b", re.IGNORECASE),
    re.compile(
        rf"\bthe fix\s+(?:adds|was|is|changes|updates|removes)\b[^.;]{{0,120}}?(?:in|at|to|"
        rf"of)\s+{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:fix(?:es)?|changes?|changed|edits?|updates|additions?)\s+(?:(?:was|were|is|are)\s+)?(?:(?:entirely|"
        rf"only|all|"
        rf"I|made|done|one line)\s+){{0,3}}(?:in|to|at)\s+(?:(?:the|integration|unit|test|"
        rf"file)\s+){{0,4}}{_FILES}{_ENDS}|"
        rf"\bfix (?:was|is) (?:adding|updating|changing)\s+{_FILES}{_ENDS}|"
        rf"\b(?:fix(?:es)?|changes?|modified files?)\s+\({_FILES}\)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:(?:doc|document|report|plan|summary|script|file|test|notes?|results?|output)s?\s+(?:is |was |"
        rf"has been )?(?:written|saved|added|created|updated)|"
        rf"changes?(?:\s+made)?|edits?)\s+(?:in|to|at|as)\s+{_FILES}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:\d+[.)]\s+)?{_FILES}(?:\s*\([^)]*\))?(?:(?:\s+\w+){{0,2}}:\s*(?:[^.;]{{1,60}}(?:,|\band)\s+)?|"
        rf"\s+)(?:(?:is|was|now|also|field|fields|section|entry|"
        rf"function|method|tests?)\s+)?{_CHANGED}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_FILE}\s+(?:(?:file|files)\s+)?(?:was|were|has been|have been|is now|are now|wurde|wurden|a été|"
        rf"ont été|ha sido|"
        rf"fue)\s+(?:(?:also|now|successfully|newly|neu|également|también)\s+)?{_CHANGED}\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:ich habe|habe|wir haben)\s+{_FILE}\s+(?:\S+\s+){{0,4}}?{_CHANGED}\b", re.IGNORECASE),
    re.compile(rf"^(?:j'ai|he|hemos|nous avons)\s+{_CHANGED}\s+(?:\S+\s+){{0,2}}?{_FILE}", re.IGNORECASE),
    re.compile(
        rf"(?:已|已经)?(?:创建|新建|修改|更新|编辑|删除|写入|添加|新增|重写)(?:了)(?:文件|新文件)?\s*{_FILE}|"
        rf"已(?:经)?(?:创建|新建|修改|更新|编辑|删除|写入|添加|新增|重写)(?:文件|新文件)?\s*{_FILE}"
    ),
)
_NO_CHANGE = re.compile(rf"\b{_CHANGED}\s+(?:nothing|no|not|neither)\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s+(?:the\s+)?⟦[FG]")
_TAKES_OUT = re.compile(r"\b(?:removed|deleted|dropped|moved|extracted|entfernt|supprimé|eliminado)\b", re.IGNORECASE)
_FILE_LISTED = re.compile(rf"^{_FILE}")
_COMMITTED = (
    r"committed(?=\s*(?:$|[.,:!(✅]|(?:and|as|to|in|on|the|it|them|all|my|both|with|these|this|those|locally|"
    r"successfully|changes?)(?!\w)|⟦))"
    r"(?!\s+(?:and|or)\s+(?:temporary|uncommitted|staged|unstaged))"
)
_DELIVERED: tuple[tuple[Delivery, re.Pattern[str]], ...] = (
    (
        "commit",
        re.compile(
            rf"(?:^\W*|[,:]\s+|\b(?:I|we|I've|we've|have|and|now|also|then|successfully|done)\s+){_COMMITTED}|"
            r"\b(?:changes?|everything|all|work|it|fix(?:es)?|edits|implementation|updates?|improvements?|merge|"
            r"tests?)\s+(?:\w+\s+)?(?:(?:is|"
            r"are|were|was|has been|have been)\s+)?(?:now\s+|all\s+|also\s+)?committed\b(?!\s+(?:files?|code|by|"
            r"metadata|checkpoints?|version|changes))|"
            r"\bcommits?\s+(?:was |were |has been |have been )?(?:created|made)\b|\b(?:\d+|one|two|three|four|"
            r"five) commits on (?:the|this|my) branch\b|"
            r"^\W*commits?:?\s*⟦H\d+⟧|"
            r"\b(?:created|made|recorded|landed)\s+(?:(?:a|an|the|one|\d+|two|three|new|initial|single|git|local|"
            r"separate|clean)"
            r"\s+)*commits?\b(?!\s+(?:message|hook|template|objects?|trailers?))|"
            r"\bcommittet\b|\beingecheckt\b|\bcommitt?é(?:e|s|es)?\b|\bcommit (?:créé|effectué|creado|realizado|"
            r"hecho)\b|"
            r"\b(?:commiteado|hice (?:el|un) commit)\b|已(?:经)?(?:成功)?提交|提交了",
            re.IGNORECASE,
        ),
    ),
    (
        "push",
        re.compile(
            r"(?<![\w/-])(?<!the )(?:force-)?pushed(?=\s*(?:$|[.,:!)]|to|it|them|the|all|both|changes?|branch|"
            r"commits?|up|and|as|in|⟦|successfully|directly|with))|"
            r"\bgepusht\b|\bpoussé(?:e|s|es)?\b|\b(?:pusheado|hice push)\b|已(?:经)?(?:成功)?推送|推送了",
            re.IGNORECASE,
        ),
    ),
    (
        "pr",
        re.compile(
            r"\b(?:opened|created|submitted|raised|filed|made)\s+(?:(?:a|an|the|draft|new|⟦\w+⟧|"
            r"\w+)\s+){0,3}?(?:pull requests?|PRs?|"
            r"merge requests?|MRs?)\b(?!\s+(?:template|description|comment|review|title|body|check|workflow|link))|"
            r"\b(?:pull request|PR|merge request|MR)\s*(?:#?\d+|⟦\w+⟧)?\s*(?:(?:is|was|has been|is now|wurde|"
            r"a été|ha sido|fue)\s+)?(?:now\s+)?"
            r"(?:opened|created|submitted|(?<=is )(?:open|up)|erstellt|geöffnet|ouverte?|créée?|creado|abierto)\b|"
            r"^\W*(?:draft )?(?:PR|pull request|MR|merge request):?\s*(?:⟦U\d+⟧|#\d+ ⟦U\d+⟧)|"
            r"(?:已|已经)(?:创建|提交|打开)了?[^。，]{0,6}(?:PR|拉取请求|合并请求)|(?:创建|提交|开)了[^。，]{0,6}(?:PR|拉取请求|"
            r""
            r""
            r""
            r""
            r""
            r""
            r""
            r""
            r"合并请求)",
            re.IGNORECASE,
        ),
    ),
)
_OTHER_PUSH = re.compile(
    r"\b(?:stack|array|queue|notifications?|events?|transactions?|database|db|offsets?|buffer|list|slice|channel)\b",
    re.IGNORECASE,
)
_WENT_WELL = (
    r"(?:\b(?:succe(?:eds?|eded|ss|ssful)|clean|pass(?:es|ed)?|completes?d? successfully|works|worked|exit(?:s|"
    r"ed)? (?:with )?(?:code |status )?0|"
    r"(?:ran|runs|run|builds?|built|compiles?d?|finish\w*|complete[sd]?) (?:cleanly|fine|successfully|without)|"
    r"(?:is|was|are|were) (?:clean|green|successful|ok)|successfully|erfolgreich|avec succès|réussi\w*|con éxito|"
    r"correctamente)\b|成功|通过|✅|✓|✔)"
)
_COMMAND_WELL = re.compile(rf"⟦[CT](\d+)⟧(?=(?:[^.;⟦]|⟦[CT]\d+⟧){{0,60}}?{_WENT_WELL})", re.IGNORECASE)
_RAN_WELL = re.compile(
    r"\b(?:successfully (?:ran|executed|run)|ran|executed)\s+⟦[CT](\d+)⟧\s+(?:successfully|cleanly|"
    r"without (?:errors?|issues?|problems?))",
    re.IGNORECASE,
)
_TICKED = re.compile(r"^\W*[✅✓✔]\s*⟦[CT](\d+)⟧(?=\s*(?:$|[.:(,-]))")
_CHECK_WELL = (
    (
        "build",
        re.compile(
            rf"\b(?:build|compilation|project builds|code compiles|"
            rf"compiles)\b[^.;]{{0,40}}?{_WENT_WELL}",
            re.IGNORECASE,
        ),
    ),
    (
        "lint",
        re.compile(rf"\b(?:lint(?:er|ing|s)?|type[- ]?check(?:s|ing|er)?)\b[^.;]{{0,40}}?{_WENT_WELL}", re.IGNORECASE),
    ),
)


def tests_pass(statement: Statement) -> bool:
    """Whether it tells that tests pass."""
    text = _GOOD_NOTHING.sub(" ", statement.text)
    found = next((match for pattern in _TESTS_PASS if (match := pattern.search(text))), None)
    if found is None and re.search(r"\btests?\b", statement.around, re.IGNORECASE):
        found = _ALL_PASS.search(text)
    if found is not None and found.group(0).startswith("⟦G") and found.group(0)[-1] in "✅✓✔":
        return False  # a file of tests with a tick: whatever the tick is for
    if found is None or _LEFT_OUT.search(text) or _FAILS.search(text) or _MAKES_PASS.search(text[: found.start()]):
        return False
    near = _AND.split(text[: found.start()])[-1]
    unreal = _UNREAL.search(text[: found.start()]) or _MODAL.search(found.group(0))
    return not (unreal or _NOT.search(near + found.group(0)) or _OTHERS.search(near))


def tests_fail(statement: Statement) -> bool:
    """Whether it tells that some tests fail."""
    text = _GOOD_NOTHING.sub(" ", statement.text)
    found = _FAILS.search(text)
    return found is not None and not _UNREAL.search(text[: found.end()]) and not _WAS_MENDED.search(text)


def files_written(statement: Statement) -> Iterator[str]:
    """The files that it tells to be written, changed or deleted."""
    if statement.listed and (found := _FILE_LISTED.match(statement.text)):
        yield statement.name(found.group(1))
    first = _FILE_LISTED.match(statement.text) is not None
    for pattern in _WRITES_FILE:
        for found in pattern.finditer(statement.text):
            named = found.group(0)
            subject = named.startswith("⟦")
            if first and not subject:
                continue  # the line is about the file that it begins with
            if _FROM.search(named) and not _TAKES_OUT.search(named):
                continue
            told = _is_real(statement.text, found.start(), found.end() if subject else found.start())
            if told and not _NO_CHANGE.search(named):
                yield from (statement.name(number) for number in re.findall(_FILE, named))


def deliveries(statement: Statement) -> Iterator[Delivery]:
    """What it tells to have been committed, pushed, or put up as a pull request."""
    for kind, pattern in _DELIVERED:
        for found in pattern.finditer(statement.text):
            if _is_real(statement.text, found.start(), found.end()) and not _OTHER_PUSH.search(statement.text):
                yield kind
                break


def commands_went_well(statement: Statement) -> Iterator[str]:
    """The commands that it tells to have succeeded, as it names them."""
    text = _GOOD_NOTHING.sub(" successfully ", statement.text)
    for pattern in (_COMMAND_WELL, _RAN_WELL, _TICKED):
        for found in pattern.finditer(text):
            if _is_real(text, found.start(), found.end()) and not _FAILS.search(text):
                yield statement.name(found.group(1))


def checks_went_well(statement: Statement) -> Iterator[str]:
    """The kinds of checks (`build`, `lint`) that it tells to have succeeded."""
    text = _GOOD_NOTHING.sub(" successfully ", statement.text)
    for kind, pattern in _CHECK_WELL:
        found = pattern.search(text)
        if found and _is_real(text, found.start(), found.end()) and not _FAILS.search(text):
            yield kind


def _is_real(text: str, start: int, end: int) -> bool:
    """Whether what stands there is told as a deed of the speaker: neither denied, nor wished for, nor others'."""
    before = _GOOD_NOTHING.sub(" ", text[:end])
    near = _AND.split(text[:start])[-1] + text[start:end]
    return not (_NOT.search(before) or _UNREAL.search(before) or _OTHERS.search(near))
