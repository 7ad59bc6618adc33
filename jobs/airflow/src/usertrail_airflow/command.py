"""Runs one command and collects its output.

Standard output and standard error are kept apart. Every line is logged as soon as it is
written. The last line of one of them is the result, one JSON object.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

GUARD = Path(__file__).with_name("guard.py")

# The longest wait for the last lines of a command that has ended. They arrive sooner, except if
# another process keeps the standard output of the command open.
LAST_LINES_SECONDS = 5

# The number of logged lines that are kept. The result and the last message are among them.
LAST_LINES = 100


@dataclass
class Ended:
    """The end of a command: its exit status, the object of its last line ({} if there is
    none), the other lines of its standard output, and its last message on standard error."""

    status: int
    result: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    message: str = ""

    @property
    def error(self) -> str:
        """The command's own message about its failure."""
        return str(self.result.get("error") or self.message or "the command printed no message")


class Command:
    """A command that ends when end is called, or when this process ends.

    If a command streams, its standard output is data, which is not logged. The result is then
    the last line of standard error.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        log: logging.Logger,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: str = "",
        streams: bool = False,
        grace: float = 15,
    ) -> None:
        self.argv = list(argv)
        self.log = log
        self.env = {**os.environ, **(env or {})}
        self.cwd = cwd
        self.stdin = stdin
        self.streams = streams
        self.grace = grace
        self._keep: int | None = None  # open as long as the command may run

    def run(self) -> Ended:
        """Runs the command until it ends. If an exception interrupts this, such as a timeout, the
        command is ended first."""
        theirs, self._keep = os.pipe()
        guard = [sys.executable, "-I", "-S", str(GUARD), str(theirs), str(self.grace)]
        # Standard input is a file and not a pipe, so no thread has to write it.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as stdin:
            stdin.write(self.stdin)
            stdin.seek(0)
            try:
                process = subprocess.Popen(
                    guard + self.argv, env=self.env, cwd=self.cwd, stdin=stdin, pass_fds=[theirs],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
                    start_new_session=True,
                )  # fmt: skip
            except BaseException:
                self.end()
                raise
            finally:
                os.close(theirs)
        if self.streams:
            out = _Reader(process.stdout, None, None)
        else:
            out = _Reader(process.stdout, self._log_line, LAST_LINES)
        err = _Reader(process.stderr, self._log_line, LAST_LINES)
        try:
            status = process.wait()
        except BaseException:
            self.end()
            process.wait()
            raise
        finally:
            self.end()
            for reader in (out, err):
                reader.join(LAST_LINES_SECONDS)
        return _ended(status, list(out.lines), list(err.lines), self.streams)

    def end(self) -> None:
        """Ends the command with SIGTERM, and with SIGKILL after grace, and does not wait for it.
        It may be called at any time, also from a signal handler."""
        keep, self._keep = self._keep, None
        if keep is not None:
            os.close(keep)

    def _log_line(self, line: str) -> None:
        self.log.log(level(line), "%s", line)


class _Reader(threading.Thread):
    """Passes each line of a stream to each as soon as it is written, and keeps the last lines, or
    all if last is None."""

    def __init__(self, stream: TextIO, each: Callable[[str], None] | None, last: int | None) -> None:
        super().__init__(daemon=True)
        self.stream, self.each = stream, each
        self.lines: deque[str] = deque(maxlen=last)
        self.start()

    def run(self) -> None:
        with self.stream:
            for line in self.stream:
                self.lines.append(line.rstrip("\r\n"))
                if self.each:
                    self.each(self.lines[-1])


def _ended(status: int, out: list[str], err: list[str], streams: bool) -> Ended:
    printed = err if streams else out
    result = parse_result(printed[-1]) if printed else None
    messages = [line for line in err if parse_result(line) is None]
    if result is not None and not streams:
        out = out[:-1]
    return Ended(status, result or {}, out, messages[-1] if messages else "")


def parse_result(line: str) -> dict[str, Any] | None:
    """Returns the object of a command's last line, or None for any other line."""
    if not line.startswith("{"):
        return None
    try:
        result = json.loads(line)
    except ValueError:
        return None
    return result if "status" in result else None


LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}
_LEVEL = re.compile(r'\blevel=([A-Z]+)|"level":"([A-Z]+)"')


def level(line: str) -> int:
    """Returns the level at which a line of a command is logged: the level in the line if it has
    one, otherwise INFO."""
    if found := _LEVEL.search(line[:200]):
        return LEVELS.get(found[1] or found[2], logging.INFO)
    return logging.INFO
