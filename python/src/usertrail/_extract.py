"""Results of extract as Arrow."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa

from ._pipe import Pipe
from ._process import Process, Result
from ._progress import Bar
from ._users import flag

if TYPE_CHECKING:
    from typing_extensions import Unpack

Day = str | datetime.date
Place = str | os.PathLike[str]
Moment = str | datetime.datetime


class Batches:
    """The record batches of a result, in the order of parts. They come while the table is read.

    Each batch comes once. close, or the end of a with block, ends the program. After the last
    batch, result has the counts.

        with usertrail.extract_batches("trails", users="all", types="all") as batches:
            for batch in batches:
                …
            print(batches.result["events"])
    """

    def __init__(self, process: Process, bar: Bar) -> None:
        self.result = Result()
        self._process = process
        self._bar = bar
        self._done = False  # the program has ended
        self._whole = False  # the last batch was read
        try:
            self._stream = pa.ipc.open_stream(pa.PythonFile(Pipe(process.stdout.fileno()), mode="r"))
            self.schema: pa.Schema = self._stream.schema
        except pa.ArrowInvalid:  # nothing came: the program says why
            self._finish()
            raise
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Iterates over the remaining batches. A loop that was left early may be continued by
        another one."""
        self._check()
        return self._batches()

    def read_all(self) -> pa.Table:
        """Returns the remaining batches as a table."""
        return pa.Table.from_batches(list(self), self.schema)

    def to_reader(self) -> pa.RecordBatchReader:
        """Returns a reader of the remaining batches, as DuckDB, polars and pyarrow.dataset take it."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        while not self._whole:
            self._check()
            try:
                batch = self._stream.read_next_batch()
            except StopIteration:
                self._finish()
                self._whole = True
                return
            except (pa.ArrowInvalid, OSError):  # the stream was cut: the program says why
                self._finish()
                raise
            except BaseException:
                self.close()
                raise
            self._bar.add(batch.num_rows)
            yield batch

    def _check(self) -> None:
        if self._done and not self._whole:
            raise ValueError("the batches were closed before their end")

    def close(self) -> None:
        """Ends the program, if it still runs."""
        if not self._done:
            self._done = True
            self._process.stop()
            self._bar.close()

    def _finish(self) -> None:
        self._done = True
        self._bar.close()
        self.result = self._process.wait()

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_done"):
            self.close()


class Query(TypedDict, total=False):
    """The arguments of extract and extract_batches, except the table."""

    users: Any
    start: Day | None
    end: Day | None
    types: str | Sequence[str]
    active: str
    where: str | None
    where_first: bool
    having: str | None
    sequence: str | None
    without: str | Sequence[str] | None
    hours: str | None
    fields: str | Sequence[str] | None
    context: int | None
    latest: int | None
    at: Moment | None
    shape: str
    times: str
    job: Place | None
    memory: str | None
    workers: int | None
    strict: bool
    require_days: bool
    flags: Iterable[str]
    progress: bool | None


def extract_batches(table: Place | None = None, **query: Unpack[Query]) -> Batches:
    """Returns the record batches of a result while they are made. The arguments are those of
    extract."""
    query["flags"] = over_the_pipe(further(query.get("flags", ())))
    args, stdin = arguments("extract", table, query)
    process = Process("extract", ["--format", "arrow", "--out", "-", *args], stdin)
    return Batches(process, Bar(query.get("progress"), "extract"))


def extract(table: Place | None = None, **query: Unpack[Query]) -> pa.Table:
    """Returns the trails of active users as a table, one row for each event.

    table    a directory, hdfs://… or hbase://…; by default the table of the job
    users    "all"; "sample:20" for 20 active users at random; a list, Series or array of IDs; a file with one ID on each line; or
             "FILE.parquet:COLUMN"
    start    the first date, as text or datetime.date; by default the first that was loaded
    end      the last date, included; by default the last that was loaded
    types    behaviours, or "all"
    active   "all": users with every behaviour of types; "any"; or "min:N"
    where    keep events that match, such as "play.seconds >= 600"
    having   keep users whose kept events match, such as "count(play) >= 5"
    fields   fields of the result; by default all fields of types
    shape    "long", or "wide": one row for each user
    times    "utc", or "local": also the columns local_time and utc_offset, in the zone of the table
    job      a job file; by default $USERTRAIL_JOB, then ./usertrail.yaml
    memory   limit of the program's memory, such as "2GiB"
    flags    further flags of extract, as they are on its command line
    progress shows a bar; by default in a notebook and at a terminal

    The flags --where-first, --sequence, --without, --hours, --context, --latest, --at, --workers,
    --strict and --require-days are arguments of these names, with underscores.
    """
    with extract_batches(table, **query) as batches:
        return batches.read_all()


def arguments(command: str, table: Place | None, query: Query) -> tuple[list[str], Iterator[bytes] | None]:
    """Returns the arguments of a command that takes a query, and its standard input."""
    unknown = query.keys() - Query.__annotations__.keys()
    if unknown:
        raise TypeError(f"{', '.join(sorted(unknown))}: {command} has no such argument; it has {', '.join(Query.__annotations__)}")
    given: dict[str, Any] = {"users": "all", "types": "all", **query, "table": table}
    given.pop("progress", None)
    flags = further(given.pop("flags", ()))
    named, stdin = flag(given.pop("users"))
    return ["--users", named, *options(**given), *flags], stdin


def further(flags: Iterable[str]) -> list[str]:
    """Returns flags as a list."""
    if isinstance(flags, str):
        raise TypeError(f"flags: {flags!r} is a string: write a list, such as {flags.split()}")
    return list(flags)


def over_the_pipe(flags: list[str]) -> list[str]:
    """Returns flags. It refuses flags about the output, which comes over the pipe."""
    for arg in flags:
        name = "-o" if arg.startswith("-o") else arg.partition("=")[0]
        if name in ("--format", "--out", "-o"):
            raise ValueError(f"flags: {name} is not possible: the result comes as Arrow over a pipe; run the program extract for files")
    return flags


def options(**given: Any) -> list[str]:
    """Returns the flags of the arguments that are neither None nor False."""
    args: list[str] = []
    for name, value in given.items():
        flag = "--" + FLAGS.get(name, name).replace("_", "-")
        if value is True:
            args.append(flag)
        elif value is not None and value is not False:
            written = text(name, value)
            if not written and name in ALL_BY_DEFAULT:
                raise ValueError(f"{name}: {value!r} is empty: pass a value, or None for the default")
            args += [flag, written]
    return args


# The arguments whose flags have another name.
FLAGS = {"start": "from", "end": "to"}

# The arguments that an empty flag would widen to everything.
ALL_BY_DEFAULT = {"start", "end", "types", "fields"}


def text(name: str, value: Any) -> str:
    """Returns the value of a flag."""
    if isinstance(value, datetime.datetime):
        if name in FLAGS and value.time() != datetime.time():
            raise ValueError(f"{name}: {value} is not a whole day")
        if name in FLAGS:
            return value.date().isoformat()
        if value.tzinfo is None and value.fold:
            raise ValueError(f"{name}: {value} has fold=1 and no zone: pass a time with a zone")
        return value.isoformat(sep=" " if value.tzinfo is None else "T")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Iterable):
        return ",".join(quoted(str(one)) for one in value)
    return str(value)


def quoted(name: str) -> str:
    """Returns a name of a list as a flag reads it: in quotes, as in csv, if it has a comma or a quote."""
    if not any(c in name for c in ',"'):
        return name
    return '"' + name.replace('"', '""') + '"'
