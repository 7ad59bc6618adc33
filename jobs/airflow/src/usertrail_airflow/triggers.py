"""The trigger that checks for logs in Airflow's triggerer. It occupies no worker."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from usertrail_airflow.logs import LogsCheck


class LogsTrigger(BaseTrigger):
    """Checks the logs until they are complete, until a check fails in a way that waiting does not
    mend, or until the time is over. Its event is {"ready": bool, "logs": …}.

    :param argv, env, cwd, missing_ok, settle: as in LogsCheck
    :param poke_interval: seconds between two checks
    :param until: when the time is over, in seconds since 1970
    """

    def __init__(
        self, argv: list[str], env: dict[str, str], cwd: str | None, missing_ok: bool, settle: float, poke_interval: float, until: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.argv = argv
        self.env = env
        self.cwd = cwd
        self.missing_ok = missing_ok
        self.settle = settle
        self.poke_interval = poke_interval
        self.until = until

    def serialize(self) -> tuple[str, dict[str, Any]]:
        names = ("argv", "env", "cwd", "missing_ok", "settle", "poke_interval", "until")
        return "usertrail_airflow.triggers.LogsTrigger", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        check = LogsCheck(self.argv, log=self.log, env=self.env, cwd=self.cwd, missing_ok=self.missing_ok, settle=self.settle)
        try:
            while True:
                ready, seen = await asyncio.to_thread(check.ready)
                left = self.until - time.time()
                if ready or seen.failed or left <= 0:
                    yield TriggerEvent({"ready": ready, "logs": dataclasses.asdict(seen)})
                    return
                await asyncio.sleep(min(self.poke_interval, left))
        finally:
            check.end()
