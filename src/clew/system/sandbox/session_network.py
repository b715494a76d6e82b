"""One loopback network for all commands of a session, held open by descriptors. Standard library only."""

import contextlib
import os

from clew.system.sandbox import kernel, namespaces


class SessionNetwork:
    """Made by the process starter when the first command needs it. A server that one command left running in the
    background is reached by the next one, and by nobody else."""

    def __init__(self) -> None:
        self._held: tuple[int, int] | None = None
        self._tried = False

    def prepare(self) -> None:
        """Once. Where it cannot be made, every command has a network of its own."""
        if self._tried:
            return
        self._tried = True
        ready, tell = os.pipe()
        done, let_go = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(let_go)
                namespaces.unshare_as_oneself(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET)
                namespaces.loopback_up()
                os.write(tell, b"r")
                os.read(done, 1)
                code = 0
            finally:
                os._exit(code)
        os.close(tell)
        os.close(done)
        with contextlib.suppress(OSError):
            if os.read(ready, 1):
                flags = os.O_RDONLY | os.O_CLOEXEC
                user = os.open(f"/proc/{child}/ns/user", flags)
                self._held = (user, os.open(f"/proc/{child}/ns/net", flags))
        os.close(ready)
        os.close(let_go)
        os.waitpid(child, 0)

    def join(self) -> bool:
        """Enter it, in the process that is about to become a command; False when there is none."""
        if self._held is None:
            return False
        user, network = self._held
        kernel.setns(user, kernel.CLONE_NEWUSER)
        kernel.setns(network, kernel.CLONE_NEWNET)
        return True
