"""Checks whether the logs of some days have arrived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from usertrail_airflow import status
from usertrail_airflow.command import Command

# The grace of a check. A check writes nothing, so it has nothing to clean up.
GRACE_SECONDS = 5

# A check that waits until logs are unchanged takes at least their settle time. Its --wait is
# longer by this.
AFTERWARDS_SECONDS = 5


@dataclass(frozen=True)
class LogsState:
    """The result of one bulkload --dry-run."""

    status: int
    files: int = 0  # files that a load would load
    bytes: int = 0  # size of these files
    already: int = 0  # files that are loaded already
    missing: int = 0  # pairs of a day and a behaviour without a file
    error: str = ""

    @property
    def failed(self) -> bool:
        """Reports whether the check failed in a way that waiting does not mend."""
        return self.status not in (status.DONE, status.NOTHING, status.NO_INPUT, status.NOT_NOW)

    @property
    def empty(self) -> bool:
        """Reports whether there are no logs at all, and the job requires none."""
        return self.status in (status.DONE, status.NOTHING) and self.files + self.already == 0

    def complete(self, missing_ok: bool) -> bool:
        """Reports whether the logs are complete. With missing_ok, files of behaviours that are
        not required may be missing."""
        return self.status in (status.DONE, status.NOTHING) and not self.empty and (missing_ok or self.missing == 0)

    def counts(self) -> dict[str, int]:
        return {"files": self.files, "bytes": self.bytes, "already": self.already, "missing": self.missing}

    def __str__(self) -> str:
        if self.status not in (status.DONE, status.NOTHING):
            return self.error
        if self.empty:
            return "there are no logs yet"
        return f"{self.files} files of {self.bytes} bytes are there, {self.already} more are loaded already, {self.missing} are missing"


class LogsCheck:
    """Checks whether all logs that the job requires exist, and whether all logs that exist are
    complete.

    If the job names a marker, a log is complete when its marker exists. Otherwise it is complete
    when it has been unchanged for settle seconds. The check then takes at least that long.

    :param argv: bulkload --dry-run with the flags of the load
    """

    def __init__(
        self, argv: Sequence[str], *, log: Any, env: Mapping[str, str], cwd: str | None, missing_ok: bool, settle: float
    ) -> None:
        self.argv = list(argv)
        self.log = log
        self.env = env
        self.cwd = cwd
        self.missing_ok = missing_ok
        self.settle = settle
        self._running: Command | None = None

    def ready(self) -> tuple[bool, LogsState]:
        """Reports whether the logs are complete, and their state."""
        seen = self._run("--wait=0s", "--settle=0s")
        if seen.complete(self.missing_ok) and self.settle:
            seen = self._run(f"--wait={self.settle + AFTERWARDS_SECONDS}s", f"--settle={self.settle}s")
        ready = seen.complete(self.missing_ok)
        if not ready:
            self.log.info("not ready: %s", seen)
        return ready, seen

    def end(self) -> None:
        """Ends the running check."""
        if self._running:
            self._running.end()

    def _run(self, *waits: str) -> LogsState:
        self._running = Command([*self.argv, *waits], log=self.log, env=self.env, cwd=self.cwd, grace=GRACE_SECONDS)
        ended = self._running.run()
        if ended.status not in (status.DONE, status.NOTHING):
            return LogsState(ended.status, error=ended.error)
        return LogsState(ended.status, *(int(ended.result.get(name) or 0) for name in ("files", "bytes", "already", "missing")))
