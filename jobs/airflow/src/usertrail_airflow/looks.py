"""Looking whether the logs of some days are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from usertrail_airflow import status
from usertrail_airflow.command import Command

# Grace of a look, which writes nothing that it would have to put in order.
GRACE_SECONDS = 5

# A look that waits until logs stand still has to last longer than they have to stand.
AFTERWARDS_SECONDS = 5


@dataclass(frozen=True)
class Look:
    """What bulkload --dry-run said."""

    status: int
    files: int = 0  # to be loaded
    bytes: int = 0  # of them
    already: int = 0  # files that are loaded
    missing: int = 0  # behaviours of a day without a file
    error: str = ""

    @property
    def failed(self) -> bool:
        """Whether something is wrong that waiting does not mend."""
        return self.status not in (status.DONE, status.NOTHING, status.NO_INPUT, status.NOT_NOW)

    @property
    def empty(self) -> bool:
        """Whether there are no logs at all, and the job does not say that there must be."""
        return self.status in (status.DONE, status.NOTHING) and self.files + self.already == 0

    def complete(self, missing_ok: bool) -> bool:
        return self.status in (status.DONE, status.NOTHING) and not self.empty and (missing_ok or self.missing == 0)

    def counts(self) -> dict[str, int]:
        return {"files": self.files, "bytes": self.bytes, "already": self.already, "missing": self.missing}

    def __str__(self) -> str:
        if self.status not in (status.DONE, status.NOTHING):
            return self.error
        if self.empty:
            return "there are no logs yet"
        return f"{self.files} files of {self.bytes} bytes are there, {self.already} more are loaded already, {self.missing} are missing"


class Looker:
    """Looks whether logs are there and whole: all that the job requires, and none that
    still grows. Where the job names a marker, that says it; where not, they have to stand
    still for settle seconds, which is how long a look then takes.

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

    def ready(self) -> tuple[bool, Look]:
        """Says whether the logs are ready, and what was seen of them."""
        seen = self._look("--wait=0s", "--settle=0s")
        if seen.complete(self.missing_ok) and self.settle:
            seen = self._look(f"--wait={self.settle + AFTERWARDS_SECONDS}s", f"--settle={self.settle}s")
        ready = seen.complete(self.missing_ok)
        if not ready:
            self.log.info("not ready: %s", seen)
        return ready, seen

    def end(self) -> None:
        """Ends a look that is under way."""
        if self._running:
            self._running.end()

    def _look(self, *waits: str) -> Look:
        self._running = Command([*self.argv, *waits], log=self.log, env=self.env, cwd=self.cwd, grace=GRACE_SECONDS)
        ended = self._running.run()
        if ended.status not in (status.DONE, status.NOTHING):
            return Look(ended.status, error=ended.error)
        return Look(ended.status, *(int(ended.result.get(name) or 0) for name in ("files", "bytes", "already", "missing")))
