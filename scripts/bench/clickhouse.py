"""ClickHouse, as the library chDB, does the same work in one process on the same two cores.

The table is a MergeTree ordered by user and time, in one of two states:

    inserted  after the inserts, in one part or more for each behaviour
    merged    after OPTIMIZE FINAL, in one part

Run as a program, it executes statements from its standard input and prints the
seconds of each as JSON. Python's start, the import of chDB and the opening of the
table do not count. chDB is in an environment of its own (make chdb), so only that
program imports it.
"""

import dataclasses
import json
import os
import sys
import time

import measure
from peer import COLUMNS, THREADS, fields, quote

PYTHON = os.environ.get("USERTRAIL_CHDB") or os.path.join(measure.ROOT, ".cache", "chdb", "bin", "python")
STATES = ("inserted", "merged")

TYPES = {"VARCHAR": "Nullable(String)", "BIGINT": "Nullable(Int64)", "DOUBLE": "Nullable(Float64)", "BOOLEAN": "Nullable(Bool)"}
SPAN = "time >= toDateTime64('2014-09-01 00:00:00', 6, 'UTC') AND time < toDateTime64('2014-09-11 00:00:00', 6, 'UTC')"
SETTINGS = {
    "max_threads": THREADS,
    "max_insert_threads": THREADS,
    "format_csv_null_representation": "",
    "output_format_parquet_compression_method": "zstd",
}


def _types(columns):
    return ", ".join(f"{name} {TYPES[kind]}" for name, kind in columns.items())


def load(directory, logs, state):
    """Loads the csv of all days into a new table. Times stay local."""
    every = {name: kind for columns in COLUMNS.values() for name, kind in columns.items()}
    statements = [f"""
        CREATE TABLE trails (user_id String, time DateTime64(6, 'UTC'), behaviour LowCardinality(String), {_types(every)})
        ENGINE = MergeTree ORDER BY (user_id, time)"""]
    for kind, columns in COLUMNS.items():
        names = ", ".join(["user_id", "time", *columns])
        structure = f"user_id String, time DateTime64(6, 'UTC'), {_types(columns)}"
        statements.append(
            f"INSERT INTO trails (behaviour, {names}) SELECT {quote(kind)}, {names} "
            f"FROM file({quote(f'{logs}/*/{kind}.csv')}, 'CSVWithNames', {quote(structure)}) WHERE {SPAN}")
    if state == "merged":
        statements.append("OPTIMIZE TABLE trails FINAL")
    return run(directory, *statements)


def active(kinds):
    """Returns SQL that is true if a user did all behaviours."""
    return " AND ".join(f"countIf(behaviour = {quote(kind)}) > 0" for kind in kinds)


def extract(users, out, kinds=tuple(COLUMNS), rows="true", having="true"):
    """Returns SQL that writes the rows of the users who did all behaviours, in order, as Parquet.
    users is a file with a list, or None for all. rows is a condition on rows, having on users."""
    listed = f" AND user_id IN (SELECT c1 FROM file({quote(users)}, 'LineAsString', 'c1 String'))" if users else ""
    asked = ", ".join(quote(kind) for kind in kinds)
    columns = ", ".join(["behaviour", "user_id", "time", *fields(kinds)])
    return f"""
        SELECT {columns} FROM trails
        WHERE {SPAN}{listed} AND behaviour IN ({asked}) AND ({rows})
            AND user_id IN (SELECT user_id FROM trails WHERE {SPAN}{listed} GROUP BY user_id HAVING {active(kinds)} AND ({having}))
        ORDER BY user_id, time
        INTO OUTFILE {quote(out)} TRUNCATE FORMAT Parquet"""


def everything(out):
    """Returns SQL that writes all rows of the table as Parquet."""
    return f"SELECT * FROM trails INTO OUTFILE {quote(out)} TRUNCATE FORMAT Parquet"


def screen(user):
    """Returns SQL for one user's first 50 events."""
    return f"SELECT * FROM trails WHERE user_id = {quote(user)} AND {SPAN} ORDER BY time LIMIT 50 FORMAT PrettyCompact"


def run(directory, *statements):
    """Executes statements in a process of their own, and returns the sum of their seconds."""
    r = _process(directory, statements)
    return dataclasses.replace(r, seconds=sum(json.loads(r.stdout)["seconds"]))


def each(directory, statements):
    """Executes statements one after the other in one process, and returns the seconds of each."""
    return json.loads(_process(directory, statements).stdout)["seconds"]


def size(directory):
    """Returns the size of the table, without parts that a merge has replaced."""
    return int(_ask(directory, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'trails'"))


def version():
    return _ask("", "SELECT version()")


def _ask(directory, statement):
    return json.loads(_process(directory, [statement]).stdout)["last"].strip()


def _process(directory, statements):
    if not os.path.exists(PYTHON):
        sys.exit(f"bench: {PYTHON} does not exist: run make chdb, or set $USERTRAIL_CHDB")
    return measure.run([PYTHON, os.path.abspath(__file__)], text=json.dumps([directory, statements]))


def main():
    import chdb.session

    directory, statements = json.load(sys.stdin)
    session = chdb.session.Session(directory or None)
    for name, value in SETTINGS.items():
        session.query(f"SET {name} = {value if isinstance(value, int) else quote(value)}")
    session.query("SELECT 1")
    took, last = [], ""
    for statement in statements:
        start = time.monotonic()
        last = session.query(statement, "TSV").bytes().decode()
        took.append(time.monotonic() - start)
    session.close()
    print(json.dumps({"seconds": took, "last": last}))


if __name__ == "__main__":
    main()
