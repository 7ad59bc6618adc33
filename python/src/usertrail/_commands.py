"""The other commands."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._extract import Day, Moment, Place, Query, arguments, further, options
from ._process import Process, Result, run
from ._progress import Bar

if TYPE_CHECKING:
    from typing_extensions import Unpack


def load(
    job: Place | None = None,
    start: Day | None = None,
    end: Day | None = None,
    *,
    types: str | Sequence[str] | None = None,
    table: Place | None = None,
    mode: str | None = None,
    wait: str | None = None,
    dry_run: bool = False,
    flags: Iterable[str] = (),
    progress: bool | None = None,
) -> Result:
    """Loads the logs of the days start to end, and returns the counts.

    If all logs are loaded already, it raises NothingToDo. Arguments are the flags of bulkload.
    """
    args = options(job=job, start=start, end=end, types=types, table=table, mode=mode, wait=wait, dry_run=dry_run) + further(flags)
    bar = Bar(progress, "load")
    try:
        return run("bulkload", args, bar.say)
    finally:
        bar.close()


def show(
    table: Place | None = None,
    user: str | int | None = None,
    start: Day | None = None,
    end: Day | None = None,
    *,
    types: str | Sequence[str] | None = None,
    fields: str | Sequence[str] | None = None,
    latest: int | None = None,
    at: Moment | None = None,
    around: Moment | None = None,
    page: int | None = None,
    job: Place | None = None,
    flags: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """Returns the events of one user, in order of time.

    date is a datetime.date, time a datetime.datetime in UTC, and each field is under its name.

    latest  only the last events: their number
    at      only the last event of each behaviour at or before a time
    around  only the events before and after a time: 20, or the number in page
    page    at most this number of events

    A time is text or a datetime.datetime. Without a zone, it is in the zone of the table.
    """
    args = ["show", "--json", *options(table=table, user=user, start=start, end=end, types=types, fields=fields, at=at, job=job)]
    args += options(latest=latest, around=around, page=page) or ["--page", "0"]
    lines = run("extract", args + further(flags)).text.splitlines()
    return [event(json.loads(line)) for line in lines]


def event(shown: dict[str, Any]) -> dict[str, Any]:
    shown["date"] = datetime.date.fromisoformat(shown["date"])
    shown["time"] = datetime.datetime.fromisoformat(micros(shown["time"]))
    return shown


def micros(time: str) -> str:
    """Returns a time with six decimals, as Python 3.10 reads it."""
    seconds, _, decimals = time.removesuffix("Z").partition(".")
    return f"{seconds}.{decimals:0<6}+00:00"


def explain(table: Place | None = None, **query: Unpack[Query]) -> Result:
    """Estimates what a query would read, and returns the estimate. print shows it as text. The
    arguments are those of extract."""
    args, stdin = arguments("explain", table, query)
    return run("extract", ["explain", *args], stdin=stdin)


def inspect(path: Place, *, rows: int = 10) -> dict[str, Any]:
    """Returns what a file or directory of usertrail contains: a table, an HFile, a roll, a
    manifest, a ledger, a quarantine file, a result or one of its parts."""
    process = Process("extract", ["inspect", os.fspath(path), "--json", "--rows", str(rows)])
    try:
        said = process.stdout.read()
    except BaseException:
        process.stop()
        raise
    try:
        shown: dict[str, Any] = json.loads(said)
    except ValueError:
        process.result.update(json.loads(said.splitlines()[-1]) if said else {})
        shown = {}
    if "status" in shown:
        process.result.update(shown)
    process.wait()
    return shown
