"""How requests are put: the words that lead in, ask, complain, limit and point; what is noise around them."""

import re

LEADING = re.compile(
    r"^(?:"
    r"(?:hi|hello|hey|ok(?:ay)?|so|now|well|also|and|then|great|thanks?(?:\s+you)?|cool|nice|perfect|yes|yeah|"
    r"right|alright|hmm+|actually|first(?:ly)?|next|"
    r"again|but|oh|sure|yep|finally|as\s+a\s+first\s+step|btw|by\s+the\s+way)\b[,.!:;\s]+"
    r"|no\b[,.!;]+\s*|(?:please|pls|kindly|just)\b[,\s]+|(?:new|next|another)\s+(?:task|topic|request)\s*[:,.]\s*|"
    r"i\s+want\s+(?=an?\s|the\s)"
    r"|(?:can|could|would|will)\s+(?:you|we|u)\s+(?:please\s+|also\s+|maybe\s+|kindly\s+|just\s+|help\s+(?:me|"
    r"us)\s+(?:to\s+)?)*"
    r"|(?:i|we)(?:'d|\s+would)?\s+(?:really\s+)?(?:like|love|want|need|wish)\s+(?:(?:for\s+)?(?:you|us|claude|"
    r"codex|it)\s+)?to\s+"
    r"|(?:i|we)\s+(?:have|need|want|should|must)\s+(?:to\s+)?(?=(?:fix|add|make|get|update|change|create|move|"
    r"remove)\b)"
    r"|i\s+think\s+(?:that\s+)?(?:we\s+should\s+|you\s+should\s+|it\s+would\s+be\s+good\s+to\s+)?"
    r"|let'?s\s+(?:also\s+|now\s+|just\s+|first\s+|try\s+to\s+|go\s+ahead\s+and\s+)*"
    r"|help\s+(?:me|us)\s+(?:to\s+)?|you\s+(?:should|must|need\s+to|have\s+to)\s+|your\s+(?:task|job|"
    r"goal)\s+is\s+to\s+|the\s+(?:task|goal)\s+is\s+to\s+"
    r"|i(?:'m|\s+am)\s+(?:trying|looking)\s+to\s+|we(?:'re|\s+are)\s+(?:trying|going)\s+to\s+|"
    r"go\s+ahead\s+and\s+|is\s+it\s+possible\s+to\s+|would\s+it\s+be\s+possible\s+to\s+"
    r"|bitte\s+|kannst\s+du\s+(?:bitte\s+)?|könntest\s+du\s+(?:bitte\s+)?|ich\s+möchte,?\s+(?:dass\s+du\s+)?|"
    r"wir\s+müssen\s+"
    r"|(?:s'il\s+(?:te|vous)\s+pla[iî]t,?|peux-tu|pouvez-vous|pourrais-tu|je\s+(?:veux|voudrais)(?:\s+que\s+tu)?|"
    r"il\s+faut)\s+"
    r"|por\s+favor,?\s+|(?:puedes|podrías|quiero\s+(?:que\s+)?|necesito\s+(?:que\s+)?)\s*"
    r"|(?:пожалуйста,?|можешь(?:\s+ли)?|мне\s+(?:нужно|надо)|нужно|надо|давай(?:те)?|хочу(?:,?\s+чтобы)?)\s+"
    r"|(?:请|請)(?:你|帮我|幫我|帮忙|幫忙)?|(?:帮我|幫我|麻烦(?:你)?|麻煩(?:你)?|我想要?|我要|我希望|你(?:能|可以)(?:帮我|幫我)?|能不能|可以|现在|現在|然后|然後|"
    r"另外|接下来|接下來)[,，\s]*"
    r"|(?:すみません|では|それでは|次に)[、,\s]*"
    r")+",
    re.IGNORECASE,
)
TRAILING = re.compile(
    r"(?:[,.\s]*(?:please|pls|thanks?(?:\s+you)?(?:\s+in\s+advance)?|if\s+possible|for\s+me|bitte|danke|"
    r"por\s+favor|gracias|пожалуйста|спасибо|merci|谢谢|謝謝|お願いします|ください))+[.!\s]*$",
    re.IGNORECASE,
)
VERBS_WORDS = """
    add analyse analyze address adjust allow apply audit automate bring build bump bundle change check clean
    clear clone combine commit compare compile complete configure connect convert copy correct create cut debug
    define delete deploy describe design detect determine diagnose disable discover display document draft drop
    edit enable ensure establish evaluate examine execute explain explore export expose extend extract fetch
    figure fill find finish fix follow format generate get give handle have help identify implement import
    improve include initialize inline insert inspect install integrate introduce investigate keep learn link
    lint list load locate log look lower make measure merge migrate minimize mock modernise modernize modify
    move name normalize open optimise optimize organize outline parse patch pick pin plan port prepare prevent print
    propose publish pull push put read rebase rebuild recreate redesign reduce refactor refresh regenerate
    register release remove rename reorganize replace reproduce rerun resolve restore restructure return revert
    review rewrite rework rollback run save scan schedule search see select separate set setup ship show shrink
    simplify skip solve sort speed split start stop store suggest summarise summarize support swap switch sync
    tag take tell test tidy track translate trim try turn understand undo unify unblock unlock update upgrade
    upload use validate verify view wire wrap write
"""
VERBS = frozenset(VERBS_WORDS.split())
PROBLEM = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|error|bug|broken|crash(?:es|ed)?|exception|wrong|incorrect|missing|doesn'?t|"
    r"does\s+not|isn'?t|can'?t|cannot|won'?t|slow|leak|stuck|hangs?|issue|problem|regression|"
    r"not\s+work(?:ing)?|NaN|timeout|takes?\s+(?:almost|over|about|more\s+than|~)?\s*\d+\s*(?:s|secs?|seconds?|"
    r"minutes?|hours?)|too\s+long|duplicate[sd]?)\b|报错|錯誤|错误|失败|失敗|问题|問題|"
    r"エラー|失敗|バグ|ошибк|не работает|падает|"
    r"fehler|kaputt|erreur|bogue|fallo|falla",
    re.IGNORECASE,
)
META = re.compile(
    r"\b(?:step\s+by\s+step|let\s+me\s+know|any\s+questions|do\s+not\s+(?:ask|stop)|don'?t\s+(?:ask|stop|commit)|"
    r"ultrathink|think\s+(?:hard|carefully)|take\s+your\s+time|be\s+(?:concise|careful|thorough)|"
    r"^you(?:'re|\s+are)\b|act\s+as|^(?:agis\s+(?:comme|en\s+tant)|tu\s+es\b|actúa\s+como|eres\b|du\s+bist\b|"
    r"ты\s+[-—]|你是(?:一|位|个)|あなたは)|as\s+an?\s+(?:ai|expert)|(?:this|that|it|which)\s+(?:is|"
    r"was)\s+(?:just\s+)?(?:so|because)|for\s+example|e\.g\.|note\s+that|important:|thanks)|"
    r"\b(?:ignore|disregard|forget)\s+(?:all|any|the|previous|prior|above|earlier)\b.*\b(?:instruction|rule|"
    r"prompt|message)|\b(?:recap|summary)\s+(?:must|should|has\s+to|shall)\s+(?:say|state|read)|"
    r"(?:in|for)\s+(?:the|your|any)\s+(?:recap|summary)\b|\bsystem\s+prompt\b|\brecap(?:per|ping)?\s*:\s",
    re.IGNORECASE,
)
INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget)\s+(?:all|any|the|your|previous|prior|above|earlier)\b.*\b(?:instruction|rule|prompt|message)|"
    r"\b(?:recap|summary)\s+(?:must|should|has\s+to|shall)\s+(?:say|state|read)|\b(?:in|for)\s+(?:the|your|any)\s+(?:recap|summary)\b|"
    r"\bsystem\s+prompt\b",
    re.IGNORECASE,
)
"""Words that order the recap to say something; no fact about the work."""
LOGLIKE = re.compile(
    r"^(?:\d{2,4}[-:/.]\d|\[?\d{1,2}:\d{2}|\s*at\s+\S+\(|[A-Z]+:\s|[$❯>%]\s|#\s+[a-z./]|\S+@\S+[:~]|File \"|Traceback|"
    r"[✓✔✗✘•⨯]|\+{1,3}\s|-{2,3}\s|\{|\}|\(\w+\)\s*=>|\w+\(.*\)\s*;?$|\s*\d+\s*[|+-])|[{}]\s*$|;\s*$|\d:\d{2}(?::\d{2})?[.,\d]*\]?\s+\[?(?:ERROR|WARN|INFO|DEBUG|TRACE|FATAL)|(?:(?<!\S)[^\s=]++=\S++\s+){2}"
)
POINTER = re.compile(r"\b(?:it|this|that|them|these|those|here|there|so)\b|^(?:why|how)\b", re.IGNORECASE)
JOINT = re.compile(
    r"\s+(?:because|since|so\s+that|so|which|where|while|although|but|given|instead|in\s+order|such\s+as|like|"
    r"e\.g\.|and\s+then|and|or|with|before|after|when|if)\s|[,;:(—–]\s*|\s-\s|\.\s"
)
CJK_JOINT = re.compile(r"[，,；;：:、（(]")
TAIL_WORDS_WORDS = """
    a an the of to in on for with and or by at from as is are be that this it its our your my into if when but
    not so than then can should would
"""
TAIL_WORDS = frozenset(TAIL_WORDS_WORDS.split())
INNER = re.compile(
    r"\b(?:I|we)(?:'d|\s+would)?\s+(?:also\s+)?(?:want|like|need|love)\s+(?:you\s+|us\s+)?to\s|\bplease\s|"
    r"\b(?:can|could)\s+you\s|\blet'?s\s",
    re.IGNORECASE,
)
DEMAND = re.compile(r"\b(?:must|should|needs?\s+to|has\s+to|have\s+to)\b", re.IGNORECASE)
NAMES = re.compile(r"`|\w[/_.]\w|[a-z][A-Z]|\b(?!OK\b)[A-Z]{2,}\b|#\d+")
PROMPT = re.compile(
    r"^(?:\S+\s+){0,4}?[❯➜$%✗»]\s+(?:\S+\s+git:\(\S+\)\s+(?:✗\s+)?)?(?P<command>[a-z][\w./-]*(?:[ "
    r"\t].*)?)$",
    re.MULTILINE,
)
COURTESY = re.compile(
    r"^(?:take a look|what do you think|is that (?:ok|possible)|propose|suggest|any ideas|thoughts|"
    r"does that make sense)",
    re.IGNORECASE,
)
URL = re.compile(r"https?://(?:www\.)?([^\s/]+)(?:/\S*)?")
CITE = re.compile(r"\[\^?\d+\]|[*_]{2,}|^[\"'“”‘’`]+(?=[A-Z])")


NUMBERED = re.compile(r"^\d{1,2}[.)]\s+(?=\S)|(?<=[^\s\d.])\s?[.:;]\d{1,2}\.$")
BELOW = re.compile(
    r"\b(?:problem|issue|task|bug|plan|error|request|description|question|story|ticket)s?\s+"
    r"(?:(?:that\s+is|as)\s+)?(?:described\s+|given\s+|shown\s+|stated\s+|listed\s+)?below\b|"
    r"\b(?:implement|execute|do|solve|fix|resolve|address|complete|follow)\s+the\s+following\b[^.]*:?$|^below\s+is\b|"
    r"(?:以下|下面|下記|次)の?(?:的)?(?:计划|計劃|計画|问题|問題|任务|任務|タスク|課題|Issue)",
    re.IGNORECASE,
)
"""A sentence that only says that the task stands under it."""


ASIDE = re.compile(r"i(?:'m|'ve|\s+(?:see|think|have|am|was|know|believe|guess|saw|tried))\b", re.IGNORECASE)
TELLING = re.compile(r"\b(?:I|i|we|my|our)\b")
"""The user tells a story; no title."""
OCCASION = re.compile(r"(?:when(?:ever)?|after|every\s+time|each\s+time)\b", re.IGNORECASE)
TASK = re.compile(r"(?:your|the|my)?\s*(?:task|goal|objective|mission|request)s?(?:\s+is)?\s*:?$", re.IGNORECASE)
"""A line over the task."""
LIMITS = re.compile(
    r"\b(?:constraints?|rules|requirements?|guidelines?|notes?|conventions|criteria|examples?|contraintes|règles|"
    r"restricciones|reglas|regeln|hinweise|ограничения|правила|примечания)\s*\W*$|(?:约束|約束|规则|規則|要求|注意|制約|ルール)\S*[:：]$",
    re.IGNORECASE,
)
"""A line over a list of limits to the task."""


CORE = 13
"""Words of the sentence that asks; what follows gets the rest."""
LONG_PATH = re.compile(r"(?<![\w:/])(?:~|\.{0,2})/?(?:[\w@.+-]+/){2,}[\w@+-][\w@.+-]*\.\w{1,8}\b")
GENERIC = re.compile(r"(?:SKILL\.md|index\.\w+|__init__\.py|mod\.rs|(?:page|layout|route|plugin)\.\w+)$", re.IGNORECASE)
"""Names that say nothing without their folder."""


LONG_FOLDER = re.compile(r"(?<![\w:/.])~?/(?:[\w@.+-]+/){2,}([\w@+-][\w@.+-]*)/(?=[\s,;:.)]|$)")
ENDLESS = re.compile(r"[!-~]{80,}")
