"""Exceptions by exit status, and programs that are interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import usertrail
from usertrail._pipe import Pipe


def test_an_exception_has_the_words_of_the_command(table: Path) -> None:
    for call, kind, status, words in (
        (lambda: usertrail.extract(table, types="plai"), usertrail.UsageError, 64, 'no behaviour "plai" (did you mean play?); it has play, order, visit, login'),
        (lambda: usertrail.extract("nowhere"), usertrail.MissingInputError, 66, "no such table: nowhere"),
        (lambda: usertrail.load("usertrail.yaml", "2014-09-01", "2014-09-02"), usertrail.NothingToDo, 99, "were loaded before"),
        (lambda: usertrail.load("none.yaml", "2014-09-01", "2014-09-02"), usertrail.UsageError, 64, "none.yaml"),
        (lambda: usertrail.show(table), usertrail.UsageError, 64, "--user"),
        (lambda: usertrail.inspect("usertrail.yaml"), usertrail.UsageError, 64, "not something that usertrail writes"),
        (lambda: usertrail.inspect("nowhere"), usertrail.MissingInputError, 66, "nowhere"),
        (lambda: usertrail.explain(table, where="play.second > 1"), usertrail.UsageError, 64, "seconds"),
    ):
        with pytest.raises(kind) as caught:
            call()
        assert isinstance(caught.value, usertrail.UsertrailError)
        assert caught.value.status == caught.value.result["status"] == status
        assert words in str(caught.value) and str(caught.value) == caught.value.result["error"]


def test_a_program_that_cannot_run(monkeypatch: pytest.MonkeyPatch, table: Path) -> None:
    monkeypatch.setenv("USERTRAIL_BIN", "/nowhere")
    with pytest.raises(FileNotFoundError):
        usertrail.extract(table)


def test_a_killed_program_is_an_error(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = stopped(table, monkeypatch)
    os.kill(batches._process.pid, signal.SIGKILL)
    with pytest.raises(usertrail.Failed, match="ended by SIGKILL") as caught:
        list(batches)
    assert caught.value.status == -signal.SIGKILL


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Has SIGINT raise KeyboardInterrupt. A shell has programs in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_program(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = stopped(table, monkeypatch)
    process = batches._process._process
    reading = threading.Event()
    read = Pipe.read

    def interrupted(pipe: Pipe, size: int) -> memoryview:
        reading.set()
        return read(pipe, size)

    monkeypatch.setattr(Pipe, "read", interrupted)

    def interrupt() -> None:
        reading.wait()
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        threading.Thread(target=interrupt).start()
        batches.read_all()
    assert process.returncode is not None


def test_a_script_that_ends_leaves_no_program(table: Path) -> None:
    script = f"import usertrail; b = usertrail.extract_batches({str(table)!r}, active='any'); print(b._process.pid)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def stopped(table: Path, monkeypatch: pytest.MonkeyPatch) -> usertrail.Batches:
    """Returns the batches of an extract that stands still after its first part, which fits into
    the pipe, and so writes no more. The programs of the tests are built with breakpoints."""
    few = usertrail.extract(table, types="all", active="any")["user_id"].unique()[:3]
    monkeypatch.setenv("USERTRAIL_BREAKPOINT", "part:1")
    batches = usertrail.extract_batches(table, users=few, types="all", active="any")
    await_stop(batches._process.pid)
    return batches


def await_stop(pid: int) -> None:
    """Waits until a process has stopped itself."""
    while (state := Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]) != "T":
        assert state != "Z", "the process has ended, and did not stop"
        time.sleep(0.01)
