"""DuckDB does the same work on the same two cores.

Run as a program, it executes the SQL on its standard input. It prints the seconds of the
execution and the first row of the result as JSON. Python's start and DuckDB's import do not
count. Only that program imports DuckDB: a child process starts with the memory of its parent, so
the peak memory of the other programs would be higher.
"""

import dataclasses
import glob
import json
import os
import sys
import time

import measure

THREADS = 2

# The fields of jobs/settopbox.yaml, with DuckDB's types, so that DuckDB does not guess them.
COLUMNS = {
    "play": {"programme": "VARCHAR", "channel": "VARCHAR", "seconds": "BIGINT", "url": "VARCHAR"},
    "order": {"product": "VARCHAR", "price": "DOUBLE", "quantity": "BIGINT", "note": "VARCHAR"},
    "visit": {"page": "VARCHAR", "referrer": "VARCHAR", "duration": "BIGINT"},
    "login": {"device": "VARCHAR", "ip": "VARCHAR", "success": "BOOLEAN"},
}


def fields(types):
    """Returns the fields of some behaviours."""
    return [name for kind in types for name in COLUMNS[kind]]


SPAN = "time >= TIMESTAMP '2014-09-01' AND time < TIMESTAMP '2014-09-11'"
PARQUET = "(FORMAT parquet, COMPRESSION zstd)"


def csv_of(logs, kind):
    """Returns SQL for the csv of all days of one behaviour."""
    return _csv(f"{logs}/*/{kind}.csv", kind)


def _csv(path, kind):
    columns = {"user_id": "VARCHAR", "time": "TIMESTAMP", **COLUMNS[kind]}
    return f"SELECT * FROM read_csv({quote(path)}, header=true, quote='\"', escape='\"', columns={columns})"


def _union(select):
    """Returns SQL for all four behaviours as one table. select(kind) returns SQL for one."""
    return " UNION ALL BY NAME ".join(f"SELECT '{kind}' AS behaviour, * FROM ({select(kind)})" for kind in COLUMNS)


def from_csv(logs):
    return _union(lambda kind: csv_of(logs, kind))


def from_daily(daily):
    return _union(lambda kind: f"SELECT * FROM read_parquet({quote(f'{daily}/*/{kind}.parquet')})")


def from_sorted(path):
    return f"SELECT * FROM read_parquet({quote(path)})"


def load(logs, out):
    """Returns SQL that writes the csv of all days as one Parquet file in order of user and time."""
    return f"COPY (SELECT * FROM ({from_csv(logs)}) WHERE {SPAN} ORDER BY user_id, time) TO {quote(out)} {PARQUET}"


def extract(source, users, out, keep=False):
    """Returns SQL that writes the rows of the users who did all four behaviours, in order, as Parquet.

    The SQL reads the rows twice: once to find the active users, and once for their rows. With keep
    DuckDB keeps the rows of the first time. For all users that is faster from csv, and slower from
    Parquet.
    """
    did = " AND ".join(f"bool_or(behaviour = '{kind}')" for kind in COLUMNS)
    rows = f"SELECT * FROM ({source}) WHERE {SPAN}"
    if users:
        rows += f" AND user_id IN (SELECT user_id FROM read_csv({quote(users)}, header=false, columns={{'user_id': 'VARCHAR'}}))"
    return f"""
        COPY (
            WITH e AS {"" if keep else "NOT"} MATERIALIZED ({rows})
            SELECT * FROM e
            WHERE user_id IN (SELECT user_id FROM e GROUP BY user_id HAVING {did})
            ORDER BY user_id, time
        ) TO {quote(out)} {PARQUET}"""


def write_list(logs, n, path):
    """Writes a list of n users of the logs, the same users in each run."""
    run(f"""
        COPY (
            SELECT user_id FROM (SELECT DISTINCT user_id FROM ({from_csv(logs)})) ORDER BY md5(user_id) LIMIT {n}
        ) TO {quote(path)} (FORMAT csv, HEADER false)""")


def write_daily(logs, out):
    """Writes one Parquet file for each csv, as in a warehouse."""
    for day in sorted(os.listdir(logs)):
        os.makedirs(os.path.join(out, day))
        for kind in COLUMNS:
            source = os.path.join(logs, day, kind + ".csv")
            if os.path.exists(source):
                run(f"COPY ({_csv(source, kind)}) TO {quote(os.path.join(out, day, kind + '.parquet'))} {PARQUET}")


def digest(path, zoned, types=tuple(COLUMNS)):
    """Returns the number of users, the number of rows and the sum of hashes of a result. They do not
    depend on the order of the rows.

    With zoned, times are in UTC, as in our results. Otherwise they are local, as in the logs.
    Shanghai has no summer time.
    """
    local = "epoch_us(time) + 8 * 3600000000" if zoned else "epoch_us(time)"
    if not glob.glob(path):
        return [0, 0, None]  # the result has no user
    hashed = ", ".join(["user_id", local, "behaviour", *fields(types)])
    return ask(f"SELECT count(DISTINCT user_id), count(*), sum(hash({hashed})::HUGEINT)::VARCHAR FROM read_parquet({quote(path)})")


def run(sql):
    """Executes sql in a process of its own. Returns a Run with the time of the SQL alone."""
    r = measure.run([sys.executable, os.path.abspath(__file__)], text=sql)
    return dataclasses.replace(r, seconds=json.loads(r.stdout)["seconds"])


def ask(sql):
    """Returns the first row of the result of sql."""
    return json.loads(measure.run([sys.executable, os.path.abspath(__file__)], text=sql).stdout)["row"]


def version():
    return ask("SELECT version()")[0]


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def main():
    import duckdb

    sql = sys.stdin.read()
    start = time.monotonic()
    db = duckdb.connect()
    db.execute(f"SET threads = {THREADS}")
    row = db.execute(sql).fetchone()
    print(json.dumps({"seconds": time.monotonic() - start, "row": row}))


if __name__ == "__main__":
    main()
