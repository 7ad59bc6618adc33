"""Compares an extract with the sample logs, both read by DuckDB.

    rows.py LOGS EXTRACT

Prints how many rows there are in each, how many are in one of them only (rows
that are equal are counted), and how many extracted rows are out of order.
"""

import json
import sys

import duckdb

logs, extract = sys.argv[1:]
FIELDS = {
    "play": dict(programme="varchar", channel="varchar", seconds="bigint", url="varchar"),
    "order": dict(product="varchar", price="double", quantity="bigint", note="varchar"),
    "visit": dict(page="varchar", referrer="varchar", duration="bigint"),
    "login": dict(device="varchar", ip="varchar", success="boolean"),
}
names = [n for fields in FIELDS.values() for n in fields]
KIND = {b: i for i, b in enumerate(FIELDS, 1)}

db = duckdb.connect()
db.execute("set timezone = 'UTC'")
selects = []
for behaviour, fields in FIELDS.items():
    columns = ", ".join(f"nullif({n}, '')::{fields[n]} as {n}" if n in fields else f"null as {n}" for n in names)
    # Shanghai is eight hours ahead of UTC all year.
    selects.append(
        f"select user_id, left(time, 10)::date as date, (time::timestamp - interval 8 hour) as time,"
        f" '{behaviour}' as behaviour, {columns}"
        f" from read_csv('{logs}/*/{behaviour}.csv', header=true, all_varchar=true, quote='\"', escape='\"', parallel=false)"
    )
db.execute("create table logged as " + " union all by name ".join(selects))
db.execute(
    f"create table extracted as select user_id, date, time::timestamp as time, behaviour, {', '.join(names)}"
    f" from read_parquet('{extract}/part-*.parquet')"
)
one = lambda q: db.execute(q).fetchone()[0]  # noqa: E731
kinds = "case behaviour " + " ".join(f"when '{b}' then {i}" for b, i in KIND.items()) + " end"
# A user is whole in one part, so the rows of each part are looked at by themselves.
disorder = f"""
    with rows as (select filename, file_row_number as n, (user_id, time, {kinds}, id) as key
                  from read_parquet('{extract}/part-*.parquet', filename=true, file_row_number=true))
    select count(*) from (select key, lag(key) over (partition by filename order by n) as before from rows)
    where before >= key
"""
print(json.dumps({
    "Logged": one("select count(*) from logged"),
    "Extracted": one("select count(*) from extracted"),
    "OnlyLogged": one("select count(*) from (select * from logged except all select * from extracted)"),
    "OnlyExtracted": one("select count(*) from (select * from extracted except all select * from logged)"),
    "OutOfOrder": one(disorder),
}))
