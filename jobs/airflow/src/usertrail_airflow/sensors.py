"""Waiting for the logs of a night: LogsSensor."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, PokeReturnValue

from usertrail_airflow import status
from usertrail_airflow._airflow import AirflowException, AirflowSensorTimeout, AirflowSkipException, conf
from usertrail_airflow.hook import UsertrailHook
from usertrail_airflow.looks import Look, Looker
from usertrail_airflow.operators import options


class LogsSensor(BaseSensorOperator):
    """Waits until the logs of some days are there and stand still.

    It asks bulkload --dry-run --wait, which reads the job, local paths and hdfs:// alike.
    The logs are there when there is a file and no behaviour that the job marks as required
    is without one. Where the job names a marker (ready), what is there has to have it;
    where not, it has to stand still.

    When the time is up, an empty night is skipped, unless the job requires something of
    it; all else fails for good and says what it waited for. A wrong job fails at once.

    Every mode will do: poke, reschedule, or deferrable.

    :param from_date: the first date, YYYY-MM-DD
    :param to_date: the last date, included; the first, where none is given
    :param types: behaviours, as a list or separated by commas
    :param missing_ok: whether a behaviour that is not required may be without a file
    :param settle: how long the logs have to stand still; 0 is not at all
    :param job, table, conn_id, bin, env, cwd: as of UsertrailOperator
    """

    template_fields: Sequence[str] = ("from_date", "to_date", "types", "job", "table", "bin", "env", "cwd")
    ui_color = "#e8ecd0"

    def __init__(
        self,
        *,
        from_date: str,
        to_date: str | None = None,
        types: str | Sequence[str] | None = None,
        missing_ok: bool = True,
        settle: timedelta | float = 60,
        job: str | None = None,
        table: str | None = None,
        conn_id: str | None = None,
        bin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        deferrable: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.from_date = from_date
        self.to_date = to_date
        self.types = types
        self.missing_ok = missing_ok
        self.settle = settle.total_seconds() if isinstance(settle, timedelta) else settle
        self.job = job
        self.table = table
        self.conn_id = conn_id
        self.bin = bin
        self.env = env
        self.cwd = cwd
        self.deferrable = conf.getboolean("operators", "default_deferrable", fallback=False) if deferrable is None else deferrable
        self._looker: Looker | None = None
        self._seen: Look | None = None

    def execute(self, context: Any) -> Any:
        if self.deferrable:
            return self.wait_elsewhere()
        try:
            return super().execute(context)
        except AirflowSensorTimeout:
            raise self.late(self._seen) from None

    def wait_elsewhere(self) -> None:
        from usertrail_airflow.triggers import LogsTrigger

        looker, until = self.looker(), time.time() + self.timeout
        self.defer(
            trigger=LogsTrigger(
                argv=looker.argv, env=dict(looker.env), cwd=looker.cwd, missing_ok=looker.missing_ok, settle=looker.settle,
                poke_interval=self.poke_interval, until=until,
            ),
            method_name="came",
        )  # fmt: skip

    def came(self, context: Any, event: dict[str, Any]) -> dict[str, Any]:
        """Goes on with what LogsTrigger saw."""
        seen = Look(**event["look"])
        self.refuse(seen)
        if not event["ready"]:
            raise self.late(seen)
        return seen.counts()

    def poke(self, context: Any) -> PokeReturnValue:
        self._looker = self.looker()
        ready, self._seen = self._looker.ready()
        self.refuse(self._seen)
        return PokeReturnValue(is_done=ready, xcom_value=self._seen.counts())

    def on_kill(self) -> None:
        if self._looker:
            self._looker.end()

    def looker(self) -> Looker:
        hook = UsertrailHook(self.conn_id, bin=self.bin or None, env=self.env)
        flags = options(
            job=self.job or hook.job, table=self.table or hook.table,
            **{"from": self.from_date, "to": self.to_date or self.from_date}, types=self.types,
        )  # fmt: skip
        argv = [hook.program("bulkload"), "--dry-run", "--sample", "0", *flags]
        self.log.info("%s", shlex.join(argv))
        return Looker(argv, log=self.log, env=hook.env, cwd=self.cwd or None, missing_ok=self.missing_ok, settle=self.settle)

    def refuse(self, seen: Look) -> None:
        """Raises what is wrong with a look that is more than early."""
        if seen.failed:
            raise status.error_of(seen.status, f"bulkload --dry-run ended with status {seen.status}: {seen.error}")

    def late(self, seen: Look | None) -> AirflowException:
        """What becomes of the task when the time is up."""
        dates = self.from_date if self.to_date in (None, "", self.from_date) else f"{self.from_date} to {self.to_date}"
        waited = f"waited {timedelta(seconds=self.timeout)} for the logs of {dates}"
        if self.soft_fail or seen and seen.empty:
            return AirflowSkipException(f"{waited}: {seen}")
        return AirflowSensorTimeout(f"{waited}: {seen}")
