"""One run of a program."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

from ._errors import Note, error
from ._programs import program

# A program ends within ten seconds after SIGTERM.
GRACE_SECONDS = 15

# Lines of standard error that are kept: the result, and why a program failed.
LAST_LINES = 100

# The status of a program whose reader has closed the pipe.
GONE = 141


class Result(dict[str, Any]):
    """The object of a command's last line. text is the rest of its standard output, and notes
    are its remarks."""

    text: str = ""

    @property
    def notes(self) -> list[str]:
        return list(self.get("notes", []))

    def __str__(self) -> str:
        return self.text or super().__str__()


class Process:
    """A program that runs. Its standard error is read in a thread, and so is its standard
    input written.

    The program has a session of its own, so that Ctrl-C in a terminal reaches this process
    only. This process then calls stop.
    """

    def __init__(self, name: str, args: Sequence[str], stdin: Iterable[bytes] | None = None, heard: Callable[[dict[str, Any]], None] | None = None) -> None:
        self.command = [program(name), *args, "--log-format", "json"]
        self.result = Result()
        self._heard = heard
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._wrong: BaseException | None = None  # what reading the caller's input raised
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        RUNNING.add(self)
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        if stdin is not None:
            self._threads.append(threading.Thread(target=self._feed, args=(stdin,), daemon=True))
        for thread in self._threads:
            thread.start()

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self) -> Result:
        """Waits for the end of the program. It returns the result, or raises the exception for
        its status. The caller has read the standard output."""
        try:
            status = self._process.wait()
        except BaseException:
            self.stop()
            raise
        self._end()
        if self._wrong is not None:
            raise self._wrong
        if status != 0:
            raise error(self._message(status), status, self.result, self.command)
        for note in self.result.notes:
            warnings.warn(note, Note, stacklevel=outside())
        return self.result

    def stop(self) -> None:
        """Ends the program, and returns when it has ended. It may be called again."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.send_signal(signal.SIGCONT)
        self.stdout.close()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._end()

    def _end(self) -> None:
        RUNNING.discard(self)
        for thread in self._threads:
            thread.join()
        self.stdout.close()
        assert self._process.stderr is not None
        self._process.stderr.close()

    def _message(self, status: int) -> str:
        said = self.result.get("error") or "\n".join(self._lines)
        if said:
            return str(said)
        if status < 0:
            return f"{os.path.basename(self.command[0])} was ended by {signal.Signals(-status).name}"
        return f"{os.path.basename(self.command[0])} ended with status {status}"

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            said = parsed(line)
            if said is None:
                self._lines.append(line.decode(errors="replace").rstrip())
            elif "msg" not in said:
                self.result.update(said)
            elif said.get("level") in ("WARN", "ERROR"):
                self._lines.append(str(said["msg"]))
            elif self._heard is not None:
                self._heard(said)

    def _feed(self, stdin: Iterable[bytes]) -> None:
        assert self._process.stdin is not None
        try:
            with self._process.stdin as to:
                for chunk in stdin:
                    to.write(chunk)
        except BrokenPipeError:
            pass  # the program has ended, and says why
        except BaseException as e:
            self._wrong = e
            self._process.terminate()


# The programs that run. They end before the interpreter does, as long as threads still work.
RUNNING: weakref.WeakSet[Process] = weakref.WeakSet()


@atexit.register
def stop_all() -> None:
    for process in list(RUNNING):
        process.stop()


def outside() -> int:
    """Returns the stack level of the call that came from outside this package, for the caller's
    warnings."""
    level = 2
    frame = sys._getframe(level)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
        level += 1
    return level


def parsed(line: bytes) -> dict[str, Any] | None:
    """Returns the JSON object of a line, or None."""
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def run(name: str, args: Sequence[str], heard: Callable[[dict[str, Any]], None] | None = None, stdin: Iterable[bytes] | None = None) -> Result:
    """Runs a program whose standard output is text that ends with the line of JSON."""
    process = Process(name, args, stdin, heard)
    try:
        said = process.stdout.read().decode()
    except BaseException:
        process.stop()
        raise
    text, _, last = said.rstrip("\n").rpartition("\n")
    process.result.update(parsed(last.encode()) or {})
    result = process.wait()
    result.text = text + "\n" if text else ""
    return result
