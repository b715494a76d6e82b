"""Words people know from other agents: which command of ours means the same, or an honest word that there is none."""

COMMANDS_MEANT = {
    "help": "usage-help man ?? h",
    "quit": "bye close stop-session end leave x wq logout-session",
    "clear": "reset cls wipe clean empty forget",
    "new": "start begin fresh restart new-session newchat",
    "resume": "continue load open switch restore-session attach",
    "sessions": "history chats list ls threads conversations recent log logs",
    "branch": "duplicate clone split copy-session",
    "rewind": "checkpoint checkpoints revert rollback restore back goto jump time-travel",
    "undo": "u discard",
    "redo": "reapply",
    "diff": "changes changed modified patch git-diff files-changed",
    "model": "models provider providers llm switch-model set-model engine",
    "effort": "think thinking reasoning reason ultrathink budget-tokens",
    "mode": "approvals approve yolo auto auto-approve accept-edits autoedit architect ask code",
    "permissions": "allow allowed-tools deny rules trust policy tools-allowed permission",
    "context": "window tokens token context-window ctx memory-usage",
    "compact": "compress summarize summarise condense shrink squash trim",
    "plan": "plan-mode planning architect-plan blueprint",
    "pin": "keep star bookmark",
    "recall": "retrieve bring-back",
    "recap": "summary where whereami away-summary tldr",
    "title": "name label rename-session",
    "cost": "price spend spending money bill billing credits quota",
    "stats": "statistics metrics insights",
    "status": "whoami about info pwd cwd state session env",
    "version": "ver release about-version",
    "todos": "todo tasks-list plan-list checklist tasklist",
    "team": "teams crew teammates swarm members",
    "tasks": "jobs ps background processes bg shells shell-list kill fg",
    "copy": "yank clipboard cp pbcopy",
    "export": "save dump write transcript markdown",
    "theme": "themes color colors colour colours appearance style dark light",
    "keys": "shortcuts keybindings keybinds bindings hotkeys keymap keyboard terminal-setup",
    "memory": "remember memories instructions rules-file agents-md note notes",
    "hooks": "hook triggers",
    "mcp": "servers server connectors",
    "skills": "skill",
    "config": "settings setting preferences prefs options set configure",
    "vim": "vi emacs editor-mode",
    "commands": "command custom-commands slash-commands",
    "init": "setup onboard bootstrap agents.md claude.md",
    "review": "code-review security-review audit critique",
    "commit": "git checkin",
    "pr": "pull-request pr-comments pr_comments merge",
    "agents": "agent subagents subagent",
    "doctor": "health check diagnose diagnostics debug sandbox test-setup self-test",
}
"""Our command, and what people call it elsewhere."""

NOT_THERE = {
    "login": "There is no /login: run `clew auth` outside a session (docs/providers.md); /doctor shows what is set.",
    "logout": "There is no /logout: `clew auth remove PROVIDER` forgets a saved key; others are in the environment.",
    "plugin": "Plugins are not there yet.",
    "run": "There is no /run: type ! before a command to run it yourself.",
    "add": "There is no /add: type @ and a file's name in a prompt.",
    "add-dir": "There is no /add-dir: permissions.additionalDirectories in the settings adds directories.",
    "edit": "There is no /edit: ask for a change in a prompt.",
    "image": "There is no /image: name the file in a prompt; the agent can read pictures.",
    "web": "There is no /web: ask for a page in a prompt; the agent can fetch it.",
    "share": "Sharing is not there; /export writes the session to a file.",
    "bug": "There is no /bug: /export writes the session to a file that you can attach to a report.",
    "update": "There is no /update: update clew with what installed it; /version tells which one runs.",
    "ide": "There is no connection to an editor yet.",
    "workflow": "Workflows are not there yet.",
    "voice": "Speech is not there.",
}
"""What other agents have and clew has not, with the way there is."""
SAME = {
    "login": "auth signin sign-in connect apikey api-key key keys-set account",
    "logout": "signout sign-out",
    "plugin": "plugins extensions extension marketplace install",
    "run": "shell sh bash exec execute terminal cmd test",
    "add": "file files drop attach-file read mention",
    "add-dir": "add-directory workspace",
    "edit": "change fix write-file refactor implement",
    "image": "paste picture screenshot",
    "web": "fetch url browse search-web",
    "share": "publish gist upload unshare",
    "bug": "feedback report issue",
    "update": "upgrade release-notes changelog",
    "ide": "vscode editor",
    "workflow": "workflows loop schedule cron",
    "voice": "speech speak audio",
}
"""Other words for what is not there."""

MEANT = {word: name for name, words in COMMANDS_MEANT.items() for word in words.split()}
MISSING = {word: name for name, words in SAME.items() for word in (name, *words.split())}


def meant_by(word: str) -> str:
    """The command of ours that means the same; empty when none does."""
    return MEANT.get(word, "")


def not_there(word: str) -> str:
    """What to say of a command that other agents have; empty for a word that nobody knows."""
    return NOT_THERE[MISSING[word]] if word in MISSING else ""


def one_edit(left: str, right: str) -> bool:
    """Whether one letter more, less, other, or two neighbours swapped make one word of the other."""
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    at = next(
        (place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )
    rest_left, rest_right = left[at:], right[at:]
    return (
        rest_left[1:] == rest_right[1:]
        or rest_left[1:] == rest_right
        or rest_left == rest_right[1:]
        or (rest_left[:2] == rest_right[:2][::-1] and rest_left[2:] == rest_right[2:])
    )
