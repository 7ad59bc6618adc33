"""The sensor that waits for the logs of some days: LogsSensor."""

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
from usertrail_airflow.logs import LogsCheck, LogsState
from usertrail_airflow.operators import options


class LogsSensor(BaseSensorOperator):
    """Waits until the logs of some days have arrived and are complete.

    It runs bulkload --dry-run --wait, which reads the job, and local paths as well as hdfs://.
    The logs have arrived when at least one file exists, and every behaviour that the job requires
    has a file. If the job names a marker (ready), a log is complete when its marker exists.
    Otherwise it is complete when it has been unchanged for settle.

    When timeout is over and there is no log at all, the task is skipped, unless the job requires
    a log. In all other cases the task fails without another try, and names the logs that it
    waited for. If the job is wrong, the task fails at once.

    The sensor works with mode="poke", with mode="reschedule", and with deferrable=True.

    :param from_date: the first date, YYYY-MM-DD
    :param to_date: the last date, included; by default from_date
    :param types: behaviours, as a list or separated by commas
    :param missing_ok: whether files of behaviours that are not required may be missing
    :param settle: how long a log must be unchanged; 0 turns the check off
    :param job, table, conn_id, bin, env, cwd: as in UsertrailOperator
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
        self._check: LogsCheck | None = None
        self._seen: LogsState | None = None

    def execute(self, context: Any) -> Any:
        if self.deferrable:
            return self.defer_to_trigger()
        try:
            return super().execute(context)
        except AirflowSensorTimeout:
            raise self.time_is_over(self._seen) from None

    def defer_to_trigger(self) -> None:
        from usertrail_airflow.triggers import LogsTrigger

        check, until = self.check(), time.time() + self.timeout
        self.defer(
            trigger=LogsTrigger(
                argv=check.argv, env=dict(check.env), cwd=check.cwd, missing_ok=check.missing_ok, settle=check.settle,
                poke_interval=self.poke_interval, until=until,
            ),
            method_name="execute_complete",
        )  # fmt: skip

    def execute_complete(self, context: Any, event: dict[str, Any]) -> dict[str, Any]:
        """Ends the task by the event of LogsTrigger."""
        seen = LogsState(**event["logs"])
        self.raise_if_failed(seen)
        if not event["ready"]:
            raise self.time_is_over(seen)
        return seen.counts()

    came = execute_complete  # the method of tasks that version 0.1.0 deferred

    def poke(self, context: Any) -> PokeReturnValue:
        self._check = self.check()
        ready, self._seen = self._check.ready()
        self.raise_if_failed(self._seen)
        return PokeReturnValue(is_done=ready, xcom_value=self._seen.counts())

    def on_kill(self) -> None:
        if self._check:
            self._check.end()

    def check(self) -> LogsCheck:
        hook = UsertrailHook(self.conn_id, bin=self.bin or None, env=self.env)
        flags = options(
            job=self.job or hook.job, table=self.table or hook.table,
            **{"from": self.from_date, "to": self.to_date or self.from_date}, types=self.types,
        )  # fmt: skip
        argv = [hook.program("bulkload"), "--dry-run", "--sample", "0", *flags]
        self.log.info("%s", shlex.join(argv))
        return LogsCheck(argv, log=self.log, env=hook.env, cwd=self.cwd or None, missing_ok=self.missing_ok, settle=self.settle)

    def raise_if_failed(self, seen: LogsState) -> None:
        """Raises the error of a check that failed in a way that waiting does not mend."""
        if seen.failed:
            raise status.error_of(seen.status, f"bulkload --dry-run ended with status {seen.status}: {seen.error}")

    def time_is_over(self, seen: LogsState | None) -> AirflowException:
        """Returns the exception with which the task ends when timeout is over."""
        dates = self.from_date if self.to_date in (None, "", self.from_date) else f"{self.from_date} to {self.to_date}"
        waited = f"waited {timedelta(seconds=self.timeout)} for the logs of {dates}"
        if self.soft_fail or seen and seen.empty:
            return AirflowSkipException(f"{waited}: {seen}")
        return AirflowSensorTimeout(f"{waited}: {seen}")
