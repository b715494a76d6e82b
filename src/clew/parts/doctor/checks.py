"""The checks of `clew doctor` and /doctor, one function each. They read, run harmless programs, and change nothing."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from clew.config.load import LoadedSettings, load_settings
from clew.config.schema import LanguageServers as LspSettings
from clew.config.schema import Provider
from clew.config.schema import SandboxSettings as SandboxSettings
from clew.host.workspace import with_saved_keys
from clew.llm.models.connect import ProviderStatus, configured_providers, key_words
from clew.llm.models.providers import CLOUD_LOGINS
from clew.llm.probe.report_card import ReportCard, report_cards
from clew.lsp.servers import program_of, servers_of
from clew.mcp.approvals import McpApprovals
from clew.mcp.files import ServerPlaces, find_servers
from clew.parts.doctor.model_check import check_model
from clew.permissions.trust import TrustStore
from clew.protocol.lookups.place import CheckRow
from clew.skills.findings import skill_findings
from clew.system.clipboard import copy_ways, terminal_takes, way_words
from clew.system.environment import find_program, find_shell, platform_words
from clew.system.git.layout import find_project_root
from clew.system.home import clew_home
from clew.system.peers import has_peer_credentials
from clew.system.sandbox.promises import promises
from clew.system.sandbox.status import SandboxStatus, probe_now
from clew.system.search_binary import SearchBinary, choose
from clew.tools.search.in_python import search_files
from clew.tools.search.query import SearchQuery
from clew.transcript.log.store import SessionStore

State = Literal["ok", "info", "warning", "problem"]
"""As in CheckRow."""
PROBE_TIMEOUT_S = 10
NEEDLE = "clew-doctor-needle"


def examine(
    env: Mapping[str, str], cwd: Path | None, *, loaded: LoadedSettings | None = None, model: str = ""
) -> Iterator[CheckRow]:
    """All checks. One that breaks is a finding of its own and never ends the report. `cwd`: None when the current
    directory was removed under us. `loaded`, `model`: of a session; else those that a new one would have."""
    home = clew_home(env)
    root = find_project_root(cwd) if cwd is not None else None
    trust = TrustStore(home)
    trusted = root is not None and trust.is_trusted(root)
    loaded = loaded or load_settings(home=home, project_root=root, trusted=trusted, env=env, lenient=True)
    roots = (str(root),) if root is not None else ()
    checks: tuple[tuple[str, Callable[[], CheckRow]], ...] = (
        ("python", check_python),
        ("bash", lambda: check_bash(env, roots)),
        ("git", lambda: check_git(env, roots)),
        ("sandbox", lambda: check_sandbox(loaded.settings.sandbox)),
        ("search", lambda: check_search(env, roots)),
        ("terminal", lambda: check_terminal(env)),
        ("clipboard", lambda: check_clipboard(env)),
        ("home", lambda: check_home(home)),
        ("settings", lambda: check_settings(loaded)),
        ("providers", lambda: check_providers(loaded, with_saved_keys(env, home))),
        ("model", lambda: check_model(loaded, with_saved_keys(env, home), model)),
        ("lsp", lambda: check_language_servers(loaded.settings.lsp, env, roots)),
        ("mcp", lambda: check_servers(home, root, trusted=trusted)),
        ("trust", lambda: check_trust(trust, root, trusted=trusted)),
        ("skills", lambda: check_skills(env, home, root, trusted=trusted)),
        ("attach", check_attach),
    )
    for name, check in checks:
        yield guarded(name, check)
    if cards := report_cards(home):
        yield guarded("models", lambda: check_models(cards))


def guarded(name: str, check: Callable[[], CheckRow]) -> CheckRow:
    """A check's own failure as a finding."""
    try:
        return check()
    except Exception as error:  # one broken check must not hide the others: that is what doctor is for
        return CheckRow(name=name, state="problem", summary=f"the check failed: {type(error).__name__}: {error}")


def check_python() -> CheckRow:
    """The interpreter that runs us."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    summary = f"{version} at {sys.executable} on {platform_words()}"
    return CheckRow(name="python", state="ok", summary=summary, data={"version": version, "path": sys.executable})


def check_bash(env: Mapping[str, str], roots: tuple[str, ...]) -> CheckRow:
    """The one shell commands run in."""
    shell = find_shell(env, outside=[Path(root) for root in roots])
    if shell is None:
        return CheckRow(name="bash", state="problem", summary="not found: shell commands cannot run; install bash")
    data = {"path": shell.path, "version": shell.version}
    return CheckRow(name="bash", state="ok", summary=f"{shell.version or 'version unknown'} at {shell.path}", data=data)


def check_git(env: Mapping[str, str], roots: tuple[str, ...]) -> CheckRow:
    """Never asked inside the project: its version says enough."""
    path = find_program("git", env=env, outside=[Path(root) for root in roots])
    if not path:
        return CheckRow(
            name="git", state="warning", summary="not found: branch, changes and moved projects are not seen"
        )
    version = output_of([path, "--version"]).removeprefix("git version ")
    state: State = "ok" if version else "problem"
    summary = f"{version or 'does not answer'} at {path}"
    return CheckRow(name="git", state=state, summary=summary, data={"path": path, "version": version})


def check_sandbox(settings: SandboxSettings) -> CheckRow:
    """What the kernel enforces, by trying to break out just now."""
    status = probe_now()
    details: list[str] = []
    for attempt in status.tried:
        told = promises(attempt.kind, namespaces=attempt.namespaces, guards=attempt.guards)
        broken = [told[name] for name, ok in attempt.checks.items() if not ok]
        kind = SandboxStatus(kind=attempt.kind, namespaces=attempt.namespaces, guards=attempt.guards).label
        details.append(f"{kind}: " + ("every promise held just now" if not broken else "these promises did NOT hold"))
        details += [f"- {words}" for words in broken or told.values()]
    if status.why:
        details.append(status.why)
    data = {
        "kind": status.kind or None,
        "label": status.label,
        "enforced": status.enforced,
        "namespaces": status.namespaces,
        "guards": status.guards,
        "landlock_abi": status.abi,
        "bubblewrap": status.bwrap or None,
        "mode": settings.mode,
        "network": settings.network,
        "self_test": [
            {"kind": a.kind, "namespaces": a.namespaces, "guards": a.guards, "checks": a.checks} for a in status.tried
        ],
    }
    network = "network allowed by settings" if settings.network else "no network"
    summary = f"{status.label} (Landlock ABI {status.abi or 'none'}), {network}, mode {settings.mode}"
    state: State = "ok" if status.enforced and not status.why else "warning"
    if not status.enforced and settings.mode == "required":
        state = "problem"
    if settings.mode == "off":
        state, summary = "warning", f"switched off in the settings; this machine offers: {status.label}"
    return CheckRow(name="sandbox", state=state, summary=summary, details=tuple(details), data=data)


def check_search(env: Mapping[str, str], roots: tuple[str, ...]) -> CheckRow:
    """Mode, path, version, and a search that must find something (RG-6)."""
    binary = choose("auto", env.get("PATH", ""), untrusted=roots)
    version = (
        output_of([binary.path, "--version"]).split("\n")[0] if binary.path else f"Python {sys.version.split()[0]}"
    )
    works = probe_search(binary)
    data = {"mode": binary.mode, "path": binary.path or None, "version": version, "working": works, "note": binary.note}
    state: State = "problem" if not works else "warning" if binary.mode != "bundled" else "ok"
    words = "live search found what it should" if works else "live search did NOT find what it should"
    degraded = "degraded: " if binary.mode == "python" else ""
    summary = (
        f"{degraded}{binary.mode}, {version or 'version unknown'}{' at ' + binary.path if binary.path else ''}; {words}"
    )
    return CheckRow(
        name="search", state=state, summary=summary, details=(binary.note,) if binary.note else (), data=data
    )


def probe_search(binary: SearchBinary) -> bool:
    """Search a file of our own."""
    with tempfile.TemporaryDirectory(prefix="clew-doctor-") as folder:
        Path(folder, "hay").write_text(f"hay\n{NEEDLE}\nhay\n", encoding="ascii")
        if binary.mode == "python":
            found = search_files(SearchQuery(pattern=NEEDLE, root=os.path.realpath(folder)), PROBE_TIMEOUT_S)
            return len(found.rows) == 1
        arguments = [binary.path, "--no-config", "--files-with-matches", "-e", NEEDLE, "--", folder]
        return output_of(arguments).endswith("/hay")


def check_terminal(env: Mapping[str, str]) -> CheckRow:
    """What the screen can do."""
    out = sys.__stdout__ or sys.stdout  # a full screen puts something of its own in place of the second
    tty = out.isatty()
    encoding = (out.encoding or "unknown").lower()
    try:
        columns, rows = os.get_terminal_size()
        size = f", {columns}x{rows}"
    except OSError:
        size = ""
    name = env.get("TERM", "") or "not set"
    summary = f"{'terminal' if tty else 'no terminal on stdout'}, TERM {name}{size}, {encoding}"
    utf8 = encoding.replace("-", "") == "utf8"
    details = () if utf8 else ("the output encoding is not UTF-8: set LC_ALL=C.UTF-8 or your language's UTF-8 locale",)
    data = {"tty": tty, "term": env.get("TERM", ""), "encoding": encoding, "no_color": "NO_COLOR" in env}
    return CheckRow(name="terminal", state="ok" if utf8 else "warning", summary=summary, details=details, data=data)


def check_clipboard(env: Mapping[str, str]) -> CheckRow:
    """Who takes what is copied on the screen. Nothing is copied."""
    words, advice = way_words(env)
    data = {"programs": [way.name for way in copy_ways(env)], "terminal": terminal_takes(env)}
    details = (f"a copy that surely arrives: {advice}",) if advice else ()
    return CheckRow(name="clipboard", state="info" if advice else "ok", summary=words, details=details, data=data)


def check_home(home: Path) -> CheckRow:
    """Our own state is private and writable."""
    data: dict[str, Any] = {"path": str(home)}
    try:
        status = home.stat()
    except FileNotFoundError:
        why = unwritable(next(folder for folder in home.parents if folder.exists()))
        words = f"{home} does not exist and cannot be made: {why}" if why else f"{home} does not exist yet"
        return CheckRow(name="home", state="problem" if why else "info", summary=words, data=data)
    except OSError as error:
        return CheckRow(name="home", state="problem", summary=f"{home}: {error.strerror}", data=data)
    mode = stat.S_IMODE(status.st_mode)
    if not stat.S_ISDIR(status.st_mode):
        return CheckRow(name="home", state="problem", summary=f"{home} is not a directory", data=data)
    why = unwritable(home)
    data |= {"mode": f"{mode:04o}", "writable": not why, "own": status.st_uid == os.getuid()}
    if why:
        summary = f"{home} cannot be written ({why}): sessions are not kept"
        return CheckRow(name="home", state="problem", summary=summary, data=data)
    if mode & 0o077 or not data["own"]:
        details = (f"others may look into it: chmod 700 {home}",) if data["own"] else ("it belongs to another user",)
        return CheckRow(name="home", state="warning", summary=f"{home}, mode {mode:04o}", details=details, data=data)
    return CheckRow(name="home", state="ok", summary=f"{home}, private; a file could be written just now", data=data)


def unwritable(folder: Path) -> str:
    """Why no file can be written into a directory, found out by writing one that is gone at once; empty: one can."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"clew doctor")
            file.flush()
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def check_settings(loaded: LoadedSettings) -> CheckRow:
    """Broken layers are named and left out."""
    details = (*loaded.problems, *loaded.warnings, *(f"not read before trust: {path}" for path in loaded.unread))
    data = {"problems": list(loaded.problems), "warnings": list(loaded.warnings), "unread": list(loaded.unread)}
    if loaded.problems:
        summary = "a settings file is broken and was left out"
        return CheckRow(name="settings", state="problem", summary=summary, details=details, data=data)
    if loaded.warnings:
        return CheckRow(name="settings", state="warning", summary="read, with remarks", details=details, data=data)
    return CheckRow(name="settings", state="ok", summary="read without remarks", details=details, data=data)


def check_providers(loaded: LoadedSettings, env: Mapping[str, str]) -> CheckRow:
    """Which models could be asked. No request is sent, no key is shown."""
    found = configured_providers(env, loaded.settings.providers)
    ready = [provider for provider in found if provider.ready and not provider.local]
    local = [provider for provider in found if provider.ready and provider.local]
    data = {
        "ready": [provider.name for provider in ready],
        "local": [provider.name for provider in local],
        "missing_key": {provider.name: provider.variable for provider in found if provider.method == "missing"},
        "incomplete": {provider.name: list(provider.lacks) for provider in found if unfinished(provider)},
    }
    half = tuple(f"{one.label} needs {words}" for one in found if unfinished(one) for words in one.lacks)
    if not ready:
        variables = ", ".join(one.variable for one in found if one.method == "missing" and one.variable)
        details = (
            *half,
            f"run clew auth, or set one of {variables}",
            "or start a local server; recap, sessions, search and show need no model",
        )
        return CheckRow(name="providers", state="warning", summary="no key is set", details=details, data=data)
    settings = loaded.settings.providers
    details = tuple(
        f"{one.label}: {one.base_url or 'its own addresses'} ({key_words(one, settings.get(one.name, Provider()))})"
        for one in ready
    )
    summary = ", ".join(provider.name for provider in ready)
    return CheckRow(name="providers", state="ok", summary=summary, details=(*details, *half), data=data)


def unfinished(provider: ProviderStatus) -> bool:
    """It was begun on purpose: a key of its own is there, and something else is missing. A cloud's login alone says
    nothing about models."""
    return bool(provider.lacks) and provider.method != "missing" and provider.variable not in CLOUD_LOGINS


def check_skills(env: Mapping[str, str], home: Path, root: Path | None, *, trusted: bool) -> CheckRow:
    """Files that a session here would bring, and those that it could not use."""
    found = skill_findings(env, home=home, root=root, trusted=trusted)
    state: State = "warning" if found.broken else "ok"
    return CheckRow(name="skills", state=state, summary=found.summary, details=found.details, data=dict(found.counts))


def check_models(cards: tuple[ReportCard, ...]) -> CheckRow:
    """What `clew doctor --probe` found out earlier; nothing is asked anew."""
    bad = [card.model for card in cards if any(finding.grade == "problem" for finding in card.findings)]
    summary = f"{len(cards)} probed" + (f"; with problems: {', '.join(bad)}" if bad else "")
    details = tuple(f"{card.model} at {card.address}: {card.brief}" for card in cards)
    data = {"cards": [msgspec.to_builtins(card) for card in cards]}
    return CheckRow(name="models", state="warning" if bad else "info", summary=summary, details=details, data=data)


def check_language_servers(settings: LspSettings, env: Mapping[str, str], roots: tuple[str, ...]) -> CheckRow:
    """Which of them the user has; nothing is started."""
    found = {row.name: program_of(row, env, roots) for row in servers_of(settings.servers) if row.command}
    there = {name: path for name, path in found.items() if path}
    words = ", ".join(there) or "none found: no diagnostics after an edit"
    when = {"off": "switched off; ", "on": "", "auto": ""}[settings.mode]
    details = tuple(f"{name} at {path}; starts after the first edit of its files" for name, path in there.items())
    data = {"mode": settings.mode, "servers": there}
    return CheckRow(name="lsp", state="info", summary=f"{when}{words}", details=details, data=data)


def check_trust(store: TrustStore, root: Path | None, *, trusted: bool) -> CheckRow:
    """Whether this project may bring its own files."""
    if root is None:
        return CheckRow(name="trust", state="problem", summary="the current directory does not exist any more")
    data = {"root": str(root), "trusted": trusted}
    if store.problem:
        return CheckRow(name="trust", state="problem", summary=store.problem, data=data)
    words = "trusted" if trusted else "not trusted yet: nothing of it runs or is read as settings"
    return CheckRow(name="trust", state="ok" if trusted else "info", summary=f"{root} is {words}", data=data)


def check_attach() -> CheckRow:
    """Whether other terminals can reach a live session."""
    if has_peer_credentials():
        return CheckRow(name="attach", state="ok", summary="a live session can be reached from another terminal")
    return CheckRow(name="attach", state="info", summary="off: this system does not tell who connects to a socket")


def check_servers(home: Path, root: Path | None, *, trusted: bool) -> CheckRow:
    """Which MCP servers are written down; none is started (`clew mcp list` does)."""
    place = root or home
    found = find_servers(
        ServerPlaces(
            home=home, root=place, kept=SessionStore(home).project_dir(place), trusted=trusted and root is not None
        )
    )
    approvals = McpApprovals(home)
    waiting = [one.name for one in found.servers if not approvals.is_approved(one, place)]
    names = ", ".join(one.name for one in found.servers)
    summary = f"{len(found.servers)} written down ({names}); clew mcp list asks them" if names else "none"
    details = (*(f"not approved, so it does not run: {name}" for name in waiting), *found.problems, *found.notes)
    return CheckRow(name="mcp", state="warning" if found.problems else "info", summary=summary, details=details)


def output_of(argv: list[str]) -> str:
    """What a program prints, run outside the project; empty when it fails."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace").strip()
