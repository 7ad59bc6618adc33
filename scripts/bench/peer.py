"""DuckDB doing the same work, on the same two cores.

Run as a program it executes the SQL on its standard input and prints, as JSON,
the seconds that took and the first row of the result: neither Python's start nor
DuckDB's import counts. Only that program imports DuckDB. A process begins with
the memory of the one that starts it, and its peak would never be below that.
"""

import dataclasses
import glob
import json
import os
import sys
import time

import measure

THREADS = 2

# As jobs/settopbox.yaml has them. Told to DuckDB, so that it need not guess.
COLUMNS = {
    "play": {"programme": "VARCHAR", "channel": "VARCHAR", "seconds": "BIGINT", "url": "VARCHAR"},
    "order": {"product": "VARCHAR", "price": "DOUBLE", "quantity": "BIGINT", "note": "VARCHAR"},
    "visit": {"page": "VARCHAR", "referrer": "VARCHAR", "duration": "BIGINT"},
    "login": {"device": "VARCHAR", "ip": "VARCHAR", "success": "BOOLEAN"},
}


def fields(types):
    """The fields of some behaviours."""
    return [name for kind in types for name in COLUMNS[kind]]


SPAN = "time >= TIMESTAMP '2014-09-01' AND time < TIMESTAMP '2014-09-11'"
PARQUET = "(FORMAT parquet, COMPRESSION zstd)"


def csv_of(logs, kind):
    """The csv of all days of one behaviour."""
    return _csv(f"{logs}/*/{kind}.csv", kind)


def _csv(path, kind):
    columns = {"user_id": "VARCHAR", "time": "TIMESTAMP", **COLUMNS[kind]}
    return f"SELECT * FROM read_csv({quote(path)}, header=true, quote='\"', escape='\"', columns={columns})"


def _union(select):
    """All four behaviours as one table; select(kind) gives the rows of one."""
    return " UNION ALL BY NAME ".join(f"SELECT '{kind}' AS behaviour, * FROM ({select(kind)})" for kind in COLUMNS)


def from_csv(logs):
    return _union(lambda kind: csv_of(logs, kind))


def from_daily(daily):
    return _union(lambda kind: f"SELECT * FROM read_parquet({quote(f'{daily}/*/{kind}.parquet')})")


def from_sorted(path):
    return f"SELECT * FROM read_parquet({quote(path)})"


def load(logs, out):
    """The csv of all days, as one Parquet file in order of user and time."""
    return f"COPY (SELECT * FROM ({from_csv(logs)}) WHERE {SPAN} ORDER BY user_id, time) TO {quote(out)} {PARQUET}"


def extract(source, users, out, keep=False):
    """The rows of those of the users who did all four, in order, as Parquet.

    Rows are asked for twice, once for who is active and once for what they did.
    With keep those of the first time are kept for the second: for all users that
    is faster from csv, and slower from Parquet.
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
    """Draws n users of the logs, the same ones each time."""
    run(f"""
        COPY (
            SELECT user_id FROM (SELECT DISTINCT user_id FROM ({from_csv(logs)})) ORDER BY md5(user_id) LIMIT {n}
        ) TO {quote(path)} (FORMAT csv, HEADER false)""")


def write_daily(logs, out):
    """One Parquet file for each csv, as a warehouse would keep them."""
    for day in sorted(os.listdir(logs)):
        os.makedirs(os.path.join(out, day))
        for kind in COLUMNS:
            source = os.path.join(logs, day, kind + ".csv")
            if os.path.exists(source):
                run(f"COPY ({_csv(source, kind)}) TO {quote(os.path.join(out, day, kind + '.parquet'))} {PARQUET}")


def digest(path, zoned, types=tuple(COLUMNS)):
    """What is in a result of some behaviours, whatever its order: users, rows and a
    sum of hashes.

    zoned says that times are in UTC, as ours are, and not local, as in the logs;
    there is no summer time in Shanghai.
    """
    local = "epoch_us(time) + 8 * 3600000000" if zoned else "epoch_us(time)"
    if not glob.glob(path):
        return [0, 0, None]  # nobody came out
    hashed = ", ".join(["user_id", local, "behaviour", *fields(types)])
    return ask(f"SELECT count(DISTINCT user_id), count(*), sum(hash({hashed})::HUGEINT)::VARCHAR FROM read_parquet({quote(path)})")


def run(sql):
    """Executes sql in a process of its own; see the top for what counts."""
    r = measure.run([sys.executable, os.path.abspath(__file__)], text=sql)
    return dataclasses.replace(r, seconds=json.loads(r.stdout)["seconds"])


def ask(sql):
    """The first row of what sql gives."""
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
