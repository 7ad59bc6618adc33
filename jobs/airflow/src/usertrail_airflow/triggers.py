"""Looking for logs from Airflow's triggerer, which holds no worker meanwhile."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from usertrail_airflow.looks import Looker


class LogsTrigger(BaseTrigger):
    """Looks until the logs are ready, until a look fails for good, or until the time is up.
    Its event is {"ready": bool, "look": …}.

    :param argv, env, cwd, missing_ok, settle: as of Looker
    :param poke_interval: seconds between two looks
    :param until: when the time is up, in seconds of the epoch
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
        looker = Looker(self.argv, log=self.log, env=self.env, cwd=self.cwd, missing_ok=self.missing_ok, settle=self.settle)
        try:
            while True:
                ready, seen = await asyncio.to_thread(looker.ready)
                left = self.until - time.time()
                if ready or seen.failed or left <= 0:
                    yield TriggerEvent({"ready": ready, "look": dataclasses.asdict(seen)})
                    return
                await asyncio.sleep(min(self.poke_interval, left))
        finally:
            looker.end()
