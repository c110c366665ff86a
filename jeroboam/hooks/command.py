"""Commands: programs that the operator names in the hooks file."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    DriverContractError,
    HookRejectedError,
)
from jeroboam.hooks import answers, payload
from jeroboam.hooks.base import Hook, HookEvent, HookResult
from jeroboam.models import HookPhase, OperationKind
from jeroboam.models.hook import HookDeclaration

ATTEMPT_SECONDS = 150
"""The longest that one run may take; the engine gives an attempt three minutes."""

MAX_OUTPUT_BYTES = 64 * 1024
TRY_AGAIN = 75
"""The exit status ``EX_TEMPFAIL`` of sysexits.h."""

_READER_SECONDS = 5
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class CommandHook(Hook):
    """Runs a program without a shell, with the event as JSON on its standard input.

    Args:
        declaration: With the program and its arguments.
    """

    phases = tuple(HookPhase)
    operations = tuple(OperationKind)

    def __init__(self, declaration: HookDeclaration) -> None:
        self.name = declaration.name  # type: ignore[misc]  # one class serves all commands
        self._argv = declaration.argv
        self._seconds = min(declaration.timeout_seconds or ATTEMPT_SECONDS, ATTEMPT_SECONDS)

    def run(self, event: HookEvent) -> HookResult:
        """Run the program and read its answer."""
        status, output, errors = self._execute(
            payload.encode(self.name, event), _environment(event)
        )
        if status == 0:
            return answers.read(output, f"Command '{self.name}'").result(self.name, event.hidden)
        lines = errors.decode(errors="replace").strip().splitlines()
        reason = answers.one_line(lines[-1] if lines else f"exit status {status}", event.hidden)
        if status == TRY_AGAIN:
            raise CloudUnavailableError(f"Command '{self.name}' asks to try again: {reason}")
        raise HookRejectedError(f"Hook '{self.name}' refuses: {reason}")

    def _execute(self, given: bytes, environment: Mapping[str, str]) -> tuple[int, bytes, bytes]:
        """Return exit status, output and the end of the error output."""
        with tempfile.TemporaryFile() as stdin:
            stdin.write(given)
            stdin.seek(0)
            process = self._start(stdin, environment)
        with process:
            output, errors = _Reader(process.stdout), _Reader(process.stderr)
            try:
                status = process.wait(self._seconds)
            except subprocess.TimeoutExpired:
                raise CloudUnavailableError(
                    f"Command '{self.name}' did not end within {self._seconds} seconds."
                ) from None
            finally:
                # Whatever it left behind goes too; the pipes would stay open otherwise.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            if output.overflowed:
                raise DriverContractError(
                    f"Command '{self.name}' writes more than {MAX_OUTPUT_BYTES} bytes."
                )
            return status, output.first, errors.last

    def _start(self, stdin: IO[bytes], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - the operator's own file names it, no shell
                self._argv,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise ConfigurationError(
                f"Command '{self.name}' cannot be started ({error.strerror}). Check 'argv' in the "
                "hooks file, and that the program is on every worker."
            ) from None


class _Reader:
    """Reads a pipe to its end in a thread, and keeps the first and the last part of it."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        if pipe is None:
            raise ValueError("The process was started without this pipe.")
        self._pipe = pipe
        self._first = bytearray()
        self._last = b""
        self._count = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def first(self) -> bytes:
        """The first part."""
        self._thread.join(_READER_SECONDS)
        return bytes(self._first)

    @property
    def last(self) -> bytes:
        """The last part."""
        self._thread.join(_READER_SECONDS)
        return self._last

    @property
    def overflowed(self) -> bool:
        """Whether the first part is not all of it."""
        self._thread.join(_READER_SECONDS)
        return self._count > MAX_OUTPUT_BYTES

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(self._pipe.fileno(), MAX_OUTPUT_BYTES):
                self._count += len(chunk)
                self._first += chunk[: MAX_OUTPUT_BYTES - len(self._first)]
                self._last = (self._last + chunk)[-MAX_OUTPUT_BYTES:]


def _environment(event: HookEvent) -> Mapping[str, str]:
    """Return the whole environment: the worker's own may hold credentials."""
    given = {
        "PATH": _PATH,
        "LANG": "C.UTF-8",
        "JEROBOAM_OPERATION": event.operation,
        "JEROBOAM_PHASE": event.phase,
        "JEROBOAM_CLUSTER": event.spec.cluster.uuid,
    }
    return given | ({"JEROBOAM_HOOK_SECRET": event.secret} if event.secret else {})
