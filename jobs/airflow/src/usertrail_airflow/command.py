"""One command and what it says.

Standard output and standard error are kept apart. Every line is logged as it comes; the
last line of one of them is the result, one JSON object.
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

# What is waited for the last lines of a command that has ended: more than they take,
# unless a stranger has kept its standard output.
LAST_LINES_SECONDS = 5

# Lines that are kept of what is logged anyway: the result and a command's last words.
LAST_LINES = 100


@dataclass
class Ended:
    """How a command ended: its exit status, the object of its last line ({} where it
    said none), and the lines of its standard output that are no result."""

    status: int
    result: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    last_words: str = ""

    @property
    def error(self) -> str:
        """Why it did not go well, in the command's own words."""
        return str(self.result.get("error") or self.last_words or "it did not say why")


class Command:
    """A command that ends when end is called, or when this process does.

    If a command streams, standard output is the result, which is not logged, and
    the result is the last line of standard error.
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
        """Runs the command to its end. What interrupts this, a time-out for one, ends the
        command first."""
        theirs, self._keep = os.pipe()
        guard = [sys.executable, "-I", "-S", str(GUARD), str(theirs), str(self.grace)]
        # A file and not a pipe: nobody has to write while others read.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as given:
            given.write(self.stdin)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    guard + self.argv, env=self.env, cwd=self.cwd, stdin=given, pass_fds=[theirs],
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
            out = _Reader(process.stdout, self._say, LAST_LINES)
        err = _Reader(process.stderr, self._say, LAST_LINES)
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
        """Tells the command to end, with SIGTERM and after grace with SIGKILL, and does not
        wait for it. It may be called at any time, from a signal's handler too."""
        keep, self._keep = self._keep, None
        if keep is not None:
            os.close(keep)

    def _say(self, line: str) -> None:
        self.log.log(level(line), "%s", line)


class _Reader(threading.Thread):
    """Says each line of a stream as it comes, and keeps the last of them, or all."""

    def __init__(self, stream: TextIO, say: Callable[[str], None] | None, last: int | None) -> None:
        super().__init__(daemon=True)
        self.stream, self.say = stream, say
        self.lines: deque[str] = deque(maxlen=last)
        self.start()

    def run(self) -> None:
        with self.stream:
            for line in self.stream:
                self.lines.append(line.rstrip("\r\n"))
                if self.say:
                    self.say(self.lines[-1])


def _ended(status: int, out: list[str], err: list[str], streams: bool) -> Ended:
    said = err if streams else out
    result = parse_result(said[-1]) if said else None
    words = [line for line in err if parse_result(line) is None]
    if result is not None and not streams:
        out = out[:-1]
    return Ended(status, result or {}, out, words[-1] if words else "")


def parse_result(line: str) -> dict[str, Any] | None:
    """The object of a command's last line, or None for any other line."""
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
    """The level at which a line of a command is logged: the line's own, where it has one."""
    if found := _LEVEL.search(line[:200]):
        return LEVELS.get(found[1] or found[2], logging.INFO)
    return logging.INFO
