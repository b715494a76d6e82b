"""What people say that must hold later, written down before the code that keeps it: rules, wishes and facts in plain
words, in several languages, as orders and as statements."""

SAID = (
    "Use pnpm, not npm",
    "ask before each commit",
    "we never touch vendor/",
    "bitte keine neuen Abhängigkeiten",
    "The API has to stay backwards compatible.",
    "commit messages in imperative mood, max 50 chars",
    "I prefer small functions over clever ones",
    "tests live next to the code here",
    "hands off the generated files",
    "Python 3.9 is what production runs",
    "no emojis in the UI",
    "Die Doku bleibt auf Deutsch.",
    "wir rebasen, gemergt wird hier nicht",
    "les noms de variables en anglais s'il te plaît",
    "on ne pousse rien le vendredi",
    "el linter manda: cero avisos",
    "pregúntame antes de borrar datos",
    "пиши комментарии по-русски",
    "в этом проекте табы",
    "用 uv 管理依赖",
    "先问我再改数据库结构",
    "コメントは日本語で",
    "로그는 영어로 남겨줘",
    "kolumn w bazie nie usuwamy",
)
