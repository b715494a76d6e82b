"""A settings file of Claude Code, given by `--settings`: what clew knows is read, the rest is named. Pure."""

from typing import Any

from msgspec import Struct, field

from clew.config.text import Raw
from clew.config.walk import as_list, as_object
from clew.system.environment import is_secret_name

MODES = ("default", "plan", "acceptEdits", "bypassPermissions")
_ONLY_THEIRS = """
$schema agent allowManagedHooksOnly allowManagedPermissionRulesOnly allowedChannelPlugins allowedHttpHookUrls
allowedMcpServers alwaysThinkingEnabled apiKeyHelper attribution autoCompactEnabled autoMemoryDirectory
autoMemoryEnabled autoMode autoUpdatesChannel availableModels awsAuthRefresh awsCredentialExport
blockedMarketplaces channelsEnabled cleanupPeriodDays companyAnnouncements defaultShell defaultView
deniedMcpServers disableAutoMode disableDeepLinkRegistration disableSkillShellExecution disabledMcpjsonServers
editorMode effortLevel enableAllProjectMcpServers enabledMcpjsonServers enabledPlugins env extraKnownMarketplaces
fastMode fastModePerSessionOptIn feedbackSurveyRate fileSuggestion forceLoginMethod forceLoginOrgUUID
gcpAuthRefresh httpHookAllowedEnvVars includeCoAuthoredBy includeGitInstructions language minimumVersion
modelOverrides otelHeadersHelper plansDirectory pluginConfigs pluginTrustMessage prefersReducedMotion proxyAuthHelper
respectGitignore showClearContextOnPlanAccept showThinkingSummaries showTurnDuration skipAutoPermissionPrompt
skipDangerousModePermissionPrompt skipWebFetchPreflight spinnerTipsEnabled spinnerTipsOverride spinnerVerbs sshConfigs
statusLine strictKnownMarketplaces strictPluginOnlyCustomization teammateMode terminalProgressBarEnabled theme
useAutoModeDuringPlan verbose voice voiceEnabled worktree
"""
ONLY_THEIRS = frozenset(_ONLY_THEIRS.split())
"""Keys of Claude Code that clew's own settings do not have."""
_PERMISSIONS = frozenset({"defaultMode", "disableBypassPermissionsMode", "disableAutoMode"})
_SANDBOX = frozenset(
    {
        "allowUnsandboxedCommands",
        "autoAllowBashIfSandboxed",
        "enabled",
        "enableWeakerNestedSandbox",
        "excludedCommands",
        "failIfUnavailable",
        "filesystem",
        "ignoreViolations",
        "ripgrep",
    }
)
THEIR_RULES = ("SlashCommand(", "WebSearch(")
"""Rules that name one use of a tool whose uses have no names here."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")


class ClaudeSettings(Struct, kw_only=True):
    """What such a file comes to here."""

    raw: Raw
    """In clew's keys; still to be checked."""
    is_theirs: bool = False
    """It has keys that only Claude Code knows."""
    unused: list[str] = field(default_factory=list[str])
    """Their keys that nothing here follows."""
    env: dict[str, str] = field(default_factory=dict[str, str])
    """Variables for the session and its commands."""


def translated(raw: Raw) -> ClaudeSettings:
    """Keys of both stay as they are; keys of Claude Code are translated or named; any other is left for the check,
    which refuses it. Nothing is made looser than the file says."""
    found = ClaudeSettings(raw={key: value for key, value in raw.items() if key not in ONLY_THEIRS})
    for key in raw:
        if key in ONLY_THEIRS:
            found.is_theirs = True
            _top(found, key, raw[key])
    _permissions(found)
    _sandbox(found)
    return found


def _top(found: ClaudeSettings, key: str, value: Any) -> None:
    variables = as_object(value) if key == "env" else None
    match key, value:
        case "$schema", _:
            pass
        case "env", _ if variables is not None:
            found.env = {name: str(text) for name, text in variables.items() if isinstance(text, str | int | float)}
            kept = [name for name in found.env if not is_secret_name(name) and not name.endswith("*")]
            found.raw.setdefault("toolEnvironment", {}).setdefault("keep", kept)
        case "effortLevel", str() if value in EFFORTS:
            found.raw.setdefault("effort", value)
        case "autoCompactEnabled", bool():
            found.raw.setdefault("compaction", {}).setdefault("auto", value)
        case "prefersReducedMotion", bool():
            found.raw.setdefault("screen", {}).setdefault("reducedMotion", value)
        case _:
            found.unused.append(key)


def _allowed(found: ClaudeSettings, given: Raw) -> Raw:
    """Without what they allow in a way that means nothing here. A deny or ask rule of that kind stays, and is refused:
    leaving it out would protect nothing."""
    rules = as_list(given.get("allow")) or []
    vain = [rule for rule in rules if isinstance(rule, str) and rule.startswith(THEIR_RULES)]
    if not vain:
        return given
    found.is_theirs = True
    found.unused += [f"permissions.allow {rule}" for rule in vain]
    found.raw["permissions"] = given = {**given, "allow": [rule for rule in rules if rule not in vain]}
    return given


def _permissions(found: ClaudeSettings) -> None:
    given = as_object(found.raw.get("permissions"))
    if given is not None:
        given = _allowed(found, given)
    if given is None or _PERMISSIONS.isdisjoint(given):
        return
    found.is_theirs = True
    found.raw["permissions"] = {key: value for key, value in given.items() if key not in _PERMISSIONS}
    mode = given.get("defaultMode")
    if mode in MODES:
        found.raw.setdefault("permissionMode", mode)
    elif mode == "dontAsk":
        found.raw.setdefault("permissionMode", "default")
    elif mode is not None:
        found.unused.append("permissions.defaultMode")
    found.unused += [f"permissions.{key}" for key in given if key in _PERMISSIONS and key != "defaultMode"]


def _sandbox(found: ClaudeSettings) -> None:
    given = as_object(found.raw.get("sandbox"))
    if given is None or (_SANDBOX.isdisjoint(given) and not isinstance(given.get("network"), dict)):
        return
    found.is_theirs = True
    ours = {key: value for key, value in given.items() if key not in _SANDBOX and not isinstance(value, dict)}
    # `enabled: false` is their default and means that every command is asked about; ours stays confined, which is less.
    if given.get("enabled") is True and given.get("failIfUnavailable") is True:
        ours.setdefault("mode", "required")
    filesystem = as_object(given.get("filesystem")) or {}
    if paths := [path for path in as_list(filesystem.get("allowWrite")) or [] if isinstance(path, str)]:
        ours.setdefault("writablePaths", paths)
    found.raw["sandbox"] = ours
    followed = {"enabled", "failIfUnavailable"} if given.get("enabled") is True else set[str]()
    found.unused += [f"sandbox.{key}" for key in given if key not in ours and key not in followed | {"filesystem"}]
    found.unused += [f"sandbox.filesystem.{key}" for key in filesystem if key != "allowWrite"]
