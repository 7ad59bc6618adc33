"""Operators that run one command in one task: BulkloadOperator, ExtractOperator, VerifyOperator."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from airflow.sdk import Asset, BaseOperator

from usertrail_airflow import status
from usertrail_airflow._airflow import AirflowException, AirflowFailException
from usertrail_airflow.command import Command, Ended
from usertrail_airflow.hook import UsertrailHook

Dates = str | Sequence[str] | None


class UsertrailOperator(BaseOperator):
    """Runs a command of usertrail. The XCom is the object of its last line.

    Status 99 skips the task. The statuses 64, 65, 66 and 73 fail it without another try. After
    all other failures it is tried again. The events of all assets in outlets get the counts of
    the last line.

    :param job: the job file; an empty text means that this flag is not set, as for all flags
    :param table: the table, if it is not the job's
    :param flags: more flags, as a list or as one text in the syntax of a shell
    :param conn_id: a connection of type usertrail, see UsertrailHook
    :param bin: the folder of the programs
    :param env: environment variables, added to the worker's
    :param cwd: the working folder of the command
    :param grace: how long the command may take to stop when the task is killed
    """

    program: ClassVar[str]
    command: ClassVar[tuple[str, ...]] = ()
    streams: ClassVar[bool] = False

    template_fields: Sequence[str] = ("job", "table", "flags", "env", "bin", "cwd")
    ui_color = "#dfe9d8"

    def __init__(
        self,
        *,
        job: str | None = None,
        table: str | None = None,
        flags: str | Sequence[str] = (),
        conn_id: str | None = None,
        bin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        grace: timedelta | float = 15,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.job = job
        self.table = table
        self.flags = flags
        self.conn_id = conn_id
        self.bin = bin
        self.env = env
        self.cwd = cwd
        self.grace = grace
        self._running: Command | None = None

    def arguments(self, hook: UsertrailHook) -> list[str]:
        """Returns the flags of the command."""
        return options(job=self.job or hook.job, table=self.table or hook.table)

    def stdin(self) -> str:
        """Returns the standard input of the command."""
        return ""

    def execute(self, context: Any) -> Any:
        ended = self.run_command()
        if ended.status != status.DONE and not self.done_by_earlier_try(context, ended):
            if ended.result and self.do_xcom_push:
                context["ti"].xcom_push(key="return_value", value=ended.result)
            raise self.error_of(ended)
        self.add_to_events(context, ended.result)
        return self.xcom_value(context, ended)

    def xcom_value(self, context: Any, ended: Ended) -> Any:
        """Returns the XCom of a task that succeeds."""
        return ended.result

    def run_command(self) -> Ended:
        hook = UsertrailHook(self.conn_id, bin=self.bin or None, env=self.env)
        more = shlex.split(self.flags) if isinstance(self.flags, str) else [str(flag) for flag in self.flags]
        argv = [hook.program(self.program), *self.command, *self.arguments(hook), *more]
        self.log.info("%s", shlex.join(argv))
        self._running = Command(
            argv, log=self.log, env=hook.env, cwd=self.cwd or None, stdin=self.stdin(), streams=self.streams,
            grace=self.grace.total_seconds() if isinstance(self.grace, timedelta) else self.grace,
        )  # fmt: skip
        return self._running.run()

    def on_kill(self) -> None:
        if self._running:
            self._running.end()

    def done_by_earlier_try(self, context: Any, ended: Ended) -> bool:
        """Reports whether there was nothing to do because an earlier try of this task had done the
        work. That try was killed before it could report success."""
        return ended.status == status.NOTHING and bool(ended.result.get("already")) and context["ti"].try_number > 1

    def error_of(self, ended: Ended) -> AirflowException:
        """Returns the exception with which the task ends."""
        name = " ".join((self.program, *self.command))
        return status.error_of(ended.status, f"{name} ended with status {ended.status}: {ended.error}")

    def add_to_events(self, context: Any, result: dict[str, Any]) -> None:
        """Adds the subject and the counts to the extra of the event of each outlet."""
        extra = {**self.subject(), **{k: v for k, v in result.items() if isinstance(v, (bool, int, float, str))}}
        for outlet in self.outlets:
            if isinstance(outlet, Asset):
                context["outlet_events"][outlet].extra.update(extra)

    def subject(self) -> dict[str, str]:
        """Returns the subject of the command, such as its dates, for the event of an asset."""
        return {}


class OfDates(UsertrailOperator):
    """Runs a command that has dates and behaviours.

    :param from_date: the first date, YYYY-MM-DD
    :param to_date: the last date, included; by default from_date
    :param types: behaviours, as a list or separated by commas
    :param memory: the limit of the whole process, such as 4GiB
    :param workers: the number of workers of the process
    """

    template_fields = (*UsertrailOperator.template_fields, "from_date", "to_date", "types", "memory", "workers")

    def __init__(
        self,
        *,
        from_date: str | None = None,
        to_date: str | None = None,
        types: str | Sequence[str] | None = None,
        memory: str | None = None,
        workers: int | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.from_date = from_date
        self.to_date = to_date
        self.types = types
        self.memory = memory
        self.workers = workers

    def arguments(self, hook: UsertrailHook) -> list[str]:
        flags = {"from": self.from_date, "to": self.to_date or self.from_date, "types": self.types}
        return super().arguments(hook) + options(**flags, memory=self.memory, workers=self.workers)

    def subject(self) -> dict[str, str]:
        dates = {"from": self.from_date, "to": self.to_date or self.from_date}
        return {name: date for name, date in dates.items() if date}


class OfLoad(OfDates):
    """Has the flags of a load.

    :param mode: hfile, put or auto
    :param temp: a local folder for sorted runs
    """

    program = "bulkload"
    template_fields = (*OfDates.template_fields, "mode", "temp")

    def __init__(self, *, from_date: str, mode: str | None = None, temp: str | None = None, **kwargs: Any) -> None:
        super().__init__(from_date=from_date, **kwargs)
        self.mode = mode
        self.temp = temp

    def arguments(self, hook: UsertrailHook) -> list[str]:
        return super().arguments(hook) + options(mode=self.mode, temp=self.temp)


class BulkloadOperator(OfLoad):
    """Loads the logs of some days.

    If an earlier try of the same task has loaded them, the task succeeds. It is not skipped.
    """


class OfExtract(OfDates):
    """Has the flags of an extract.

    :param users: a file with one user ID on each line, FILE.parquet:COLUMN, FILE.csv:COLUMN, or all
    :param out: the folder that the trails are written to
    :param active: all, any or min:N
    :param overwrite: whether an existing folder is replaced
    :param append: whether the dates are added to the result in out; needs --partition-by=date in flags
    """

    program = "extract"
    template_fields = (*OfDates.template_fields, "users", "out", "active")

    def __init__(
        self,
        *,
        from_date: str,
        types: str | Sequence[str],
        out: str,
        users: str = "all",
        active: str | None = None,
        overwrite: bool = False,
        append: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(from_date=from_date, types=types, **kwargs)
        self.users = users
        self.out = out
        self.active = active
        self.overwrite = overwrite
        self.append = append

    def arguments(self, hook: UsertrailHook) -> list[str]:
        if self.out == "-":
            raise AirflowFailException("out: name a folder: a task cannot write the result to standard output")
        flags = options(users=self.users, out=self.out, active=self.active)
        return super().arguments(hook) + flags + (["--overwrite"] if self.overwrite else []) + (["--append"] if self.append else [])


class ExtractOperator(OfExtract):
    """Extracts the trails of users from a table.

    If an earlier try of the same task has written the folder, and the table has not changed since,
    the task succeeds. It also succeeds if an earlier try has appended the dates.
    """

    def done_by_earlier_try(self, context: Any, ended: Ended) -> bool:
        return super().done_by_earlier_try(context, ended) or ended.status == status.THERE and bool(ended.result.get("already")) and context["ti"].try_number > 1


class VerifyOperator(OfDates):
    """Compares some days of a table, or all, with the loads.

    If the table differs, the task fails without another try. If a load is unfinished, which may
    be the only difference, the task is tried again.
    """

    program = "bulkload"
    command = ("verify",)

    def error_of(self, ended: Ended) -> AirflowException:
        differs = [n for n in ("differing_days", "differing_regions", "foreign", "missing_files", "damaged_files") if ended.result.get(n)]
        if ended.status == status.FAILED and differs and not ended.result.get("unfinished"):
            counts = ", ".join(f"{n.replace('_', ' ')} {ended.result[n]}" for n in differs)
            return AirflowFailException(f"the table differs from its loads: {counts}: the log names them")
        return super().error_of(ended)


def options(**flags: Any) -> list[str]:
    """Returns the flags of a command line. A flag whose value is None or an empty text is omitted. An
    empty list, or an empty first date, would widen the command to everything, so it fails the task."""
    argv: list[str] = []
    for name, value in flags.items():
        if value in ([], ()) or (name, value) == ("from", ""):
            raise AirflowFailException(f"{name}: {value!r} is empty: correct the DAG, or the template that it comes from")
        if isinstance(value, (list, tuple)):
            value = ",".join(quoted(str(one)) for one in value)
        if value is not None and value != "":
            argv.append(f"--{name.replace('_', '-')}={value}")
    return argv


def quoted(name: str) -> str:
    """Returns a name of a list as flags read it: in quotes, as in CSV, if it has a comma or a quote."""
    if not any(c in name for c in ',"'):
        return name
    return '"' + name.replace('"', '""') + '"'
