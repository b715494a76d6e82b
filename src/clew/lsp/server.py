"""One server at work on one directory: its open files, and what it last said about each."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from clew.lsp.connection import LspConnection, ServerGone
from clew.lsp.diagnostics import Diagnostic, read_diagnostics
from clew.lsp.frames import Json
from clew.system.process import ProcessSpec

START_S = 60.0
"""A server that has not answered by then never will."""
BASELINE_S = 20.0
SETTLE_S = 0.15
"""After the first word about a change some servers say more."""
MAX_SILENCE_S = 20.0
MAX_OPEN = 40

CAPABILITIES: Json = {
    "textDocument": {
        "synchronization": {"didSave": False},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": False},
    },
    "workspace": {"configuration": True, "workspaceFolders": True},
    "general": {"positionEncodings": ["utf-16"]},
}


class _Open(Struct):
    text: str
    version: int = 1


class LanguageServerSession:
    """Started once; after any failure it stays ended, and `problem` says why."""

    def __init__(self, name: str, root: str) -> None:
        self.name = name
        self.root = root
        self.connection = LspConnection(self._hear)
        self._open: dict[str, _Open] = {}
        self._said: dict[str, tuple[Diagnostic, ...]] = {}
        self._news: dict[str, asyncio.Event] = {}
        self._one = asyncio.Lock()
        self._ready = False

    @property
    def problem(self) -> str:
        """Why there is no server any more."""
        return self.connection.problem

    async def start(self, command: ProcessSpec) -> None:
        """Until it can be asked. Raises ServerGone."""
        await self.connection.start(command)
        uri = Path(self.root).as_uri()
        try:
            async with asyncio.timeout(START_S):
                await self.connection.request(
                    "initialize",
                    {
                        "processId": None,  # it may live where our number means nothing; it ends with us anyway
                        "clientInfo": {"name": "clew"},
                        "rootUri": uri,
                        "workspaceFolders": [{"uri": uri, "name": os.path.basename(self.root) or "root"}],
                        "capabilities": CAPABILITIES,
                    },
                )
        except TimeoutError:
            self.connection.give_up(f"it did not start within {START_S:g} s")
            raise ServerGone(self.problem) from None
        self.connection.notify("initialized", {})
        self._ready = True

    async def changed(
        self, path: str, language: str, before: str | None, after: str
    ) -> tuple[Sequence[Diagnostic], Sequence[Diagnostic]]:
        """What it says about a file before and after a change; one change at a time. `before` None: the file is new.
        Raises ServerGone."""
        async with self._one:
            if not self._ready:
                raise ServerGone(self.problem or "it did not start")
            if path not in self._open:
                self._make_room()
                first = after if before is None else before
                await self._tell(path, first, language, limit_s=BASELINE_S if before is not None else MAX_SILENCE_S)
                if before is None:
                    return (), self._said.get(path, ())
            known = self._said.get(path, ())
            await self._tell(path, after, language, limit_s=MAX_SILENCE_S)
            return known, self._said.get(path, ())

    async def _tell(self, path: str, text: str, language: str, *, limit_s: float) -> None:
        """Open the file or change it, and wait until it was looked at. Raises ServerGone."""
        opened, uri = self._open.get(path), Path(path).as_uri()
        news = self._news[path] = asyncio.Event()
        if opened is None:
            opened = self._open[path] = _Open(text=text)
            item = {"uri": uri, "languageId": language, "version": opened.version, "text": text}
            self.connection.notify("textDocument/didOpen", {"textDocument": item})
        else:
            opened.text, opened.version = text, opened.version + 1
            named = {"uri": uri, "version": opened.version}
            self.connection.notify(
                "textDocument/didChange", {"textDocument": named, "contentChanges": [{"text": text}]}
            )
        try:
            async with asyncio.timeout(limit_s):
                await news.wait()
            await asyncio.sleep(SETTLE_S)
        except TimeoutError:
            self.connection.give_up(f"it said nothing for {limit_s:g} s")
        if self.problem:
            raise ServerGone(self.problem)

    def _make_room(self) -> None:
        while len(self._open) >= MAX_OPEN:
            oldest = next(iter(self._open))
            del self._open[oldest]
            self._said.pop(oldest, None)
            self.connection.notify("textDocument/didClose", {"textDocument": {"uri": Path(oldest).as_uri()}})

    def _hear(self, method: str, params: Json) -> None:
        if not method:  # it is gone: whoever waits need not
            for news in self._news.values():
                news.set()
            return
        uri = params.get("uri")
        if method != "textDocument/publishDiagnostics" or not isinstance(uri, str):
            return
        path = path_of(uri)
        opened = self._open.get(path)
        version = params.get("version")
        if opened is None or (isinstance(version, int) and version != opened.version):
            return  # about a file nobody asked for, or about an older text
        self._said[path] = read_diagnostics(params.get("diagnostics"))
        if path in self._news:
            self._news[path].set()

    async def close(self) -> None:
        """End it."""
        await self.connection.close()


def path_of(uri: str) -> str:
    """The file of a `file:` address; empty for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return os.path.normpath(unquote(parts.path)) if parts.scheme == "file" else ""
