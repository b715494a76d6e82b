"""Memory files of a workspace: those read at the start, and those found further down on the way."""

from pathlib import Path

from clew.engine.middleware.nested_memory import NestedMemory
from clew.host.workspace import Workspace
from clew.permissions.trust import TrustStore
from clew.prompts.memory import Memory, load_memory, load_nested_memory


def project_memory(workspace: Workspace) -> Memory:
    """The memory files the user and the trusted project bring."""
    if not workspace.settings.memory.enabled:
        return Memory()
    return load_memory(
        home=workspace.home,
        project_root=workspace.root,
        cwd=workspace.cwd,
        trusted=workspace.trusted,
        trusts=TrustStore(workspace.home).is_trusted,
    )


def nested_memory(workspace: Workspace, known: Memory) -> NestedMemory:
    """Memory files further down, found when the agent gets there."""
    told = known

    def find(path: Path) -> str:
        nonlocal told
        if not workspace.settings.memory.enabled:
            return ""
        found = load_nested_memory(
            project_root=workspace.root,
            cwd=workspace.cwd,
            touched=path,
            trusted=workspace.trusted,
            known=told,
            trusts=TrustStore(workspace.home).is_trusted,
        )
        told = Memory(files=told.files + found.files)
        return found.text

    return NestedMemory(find, workspace.cwd)
