"""Reads an extract with pyarrow, DuckDB and polars.

    readers.py FOLDER USER

prints what each of them says; the filters are those of readers_test.go.
"""

import datetime
import glob
import json
import sys

import duckdb
import polars
import pyarrow.compute as pc
import pyarrow.dataset as ds

folder, user = sys.argv[1:]
files = sorted(glob.glob(f"{folder}/part-*.parquet"))
noon = datetime.datetime(2014, 9, 2, 4, tzinfo=datetime.timezone.utc)


def micros(t):
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (t.astimezone(datetime.timezone.utc) - epoch) // datetime.timedelta(microseconds=1)


def by_pyarrow():
    d = ds.dataset(files, format="parquet")
    t = d.to_table()
    f = ds.field
    filters = [
        f("user_id") == user,
        f("time") >= noon,
        (f("behaviour") == "order") & (f("price") > 10),
        f("channel").is_null(),
        f("success") == False,  # noqa: E712
        (f("user_id") == user) & (f("seconds") < 600),
    ]
    per_user = t.group_by("user_id").aggregate([([], "count_all")]).to_pydict()
    times = pc.min_max(t["time"]).as_py()
    return dict(
        reader="pyarrow",
        rows=t.num_rows,
        per_user=dict(zip(per_user["user_id"], per_user["count_all"])),
        seconds=pc.sum(t["seconds"]).as_py(),
        price=pc.sum(t["price"]).as_py(),
        first=micros(times["min"]),
        last=micros(times["max"]),
        filters=[d.count_rows(filter=x) for x in filters],
    )


def by_duckdb():
    db = duckdb.connect()
    db.execute("set timezone = 'UTC'")
    table = f"read_parquet({files!r})"
    filters = [
        f"user_id = '{user}'",
        "time >= timestamptz '2014-09-02 04:00:00+00'",
        "behaviour = 'order' and price > 10",
        "channel is null",
        "success = false",
        f"user_id = '{user}' and seconds < 600",
    ]
    rows, seconds, price, first, last = db.execute(
        f"select count(*), sum(seconds)::bigint, sum(price), epoch_us(min(time)), epoch_us(max(time)) from {table}"
    ).fetchone()
    return dict(
        reader="DuckDB",
        rows=rows,
        per_user=dict(db.execute(f"select user_id, count(*) from {table} group by user_id").fetchall()),
        seconds=seconds,
        price=price,
        first=first,
        last=last,
        filters=[db.execute(f"select count(*) from {table} where {x}").fetchone()[0] for x in filters],
    )


def by_polars():
    t = polars.scan_parquet(files)
    c = polars.col
    filters = [
        c("user_id") == user,
        c("time") >= noon,
        (c("behaviour") == "order") & (c("price") > 10),
        c("channel").is_null(),
        ~c("success"),
        (c("user_id") == user) & (c("seconds") < 600),
    ]
    count = lambda x: x.select(polars.len()).collect().item()  # noqa: E731
    sums = t.select(
        polars.len().alias("rows"), c("seconds").sum(), c("price").sum(),
        c("time").min().dt.timestamp("us").alias("first"), c("time").max().dt.timestamp("us").alias("last"),
    ).collect().to_dicts()[0]
    per_user = t.group_by("user_id").len().collect()
    return dict(
        reader="polars",
        per_user=dict(zip(per_user["user_id"].to_list(), per_user["len"].to_list())),
        filters=[count(t.filter(x)) for x in filters],
        **sums,
    )


print(json.dumps([by_pyarrow(), by_duckdb(), by_polars()]))
