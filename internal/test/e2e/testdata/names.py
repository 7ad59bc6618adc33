"""Counts the events of each behaviour in results, with DuckDB, pyarrow and polars.

    names.py long|wide|behaviour|date OUT

It prints, for each reader, an object of counts by behaviour.
"""

import json
import sys

import duckdb
import polars
import pyarrow
import pyarrow.compute
import pyarrow.dataset

shape, out = sys.argv[1:]
files = f"{out}/**/*.parquet"
counts = {}


def tally(names):
    got = {}
    for name in names:
        got[name] = got.get(name, 0) + 1
    return got


if shape == "wide":
    ends = "_count"
    table = pyarrow.dataset.dataset(out, format="parquet", exclude_invalid_files=True).to_table()
    counts["pyarrow"] = {c[: -len(ends)]: sum(table[c].to_pylist()) for c in table.column_names if c.endswith(ends)}
    rows = duckdb.sql(f"SELECT * FROM read_parquet('{files}')")
    counts["DuckDB"] = {c[: -len(ends)]: sum(r[i] for r in rows.fetchall()) for i, c in enumerate(rows.columns) if c.endswith(ends)}
    frame = polars.read_parquet(f"{out}/*.parquet")
    counts["polars"] = {c[: -len(ends)]: int(frame[c].sum()) for c in frame.columns if c.endswith(ends)}
else:
    options = {}
    if shape == "behaviour":
        options["partitioning"] = pyarrow.dataset.partitioning(pyarrow.schema([("behaviour", pyarrow.string())]), flavor="hive")
    table = pyarrow.dataset.dataset(out, format="parquet", exclude_invalid_files=True, **options).to_table()
    counts["pyarrow"] = tally(table["behaviour"].to_pylist())
    hive = ", hive_partitioning = true, hive_types = {'behaviour': VARCHAR}" if shape == "behaviour" else ""
    rows = duckdb.sql(f"SELECT behaviour, count(*) FROM read_parquet('{files}'{hive}) GROUP BY 1")
    counts["DuckDB"] = dict(rows.fetchall())
    kind = {"hive_schema": {"behaviour": polars.String}} if shape == "behaviour" else {}
    frame = polars.scan_parquet(files, hive_partitioning=shape == "behaviour", **kind).select("behaviour").collect()
    counts["polars"] = tally(frame["behaviour"].to_list())
print(json.dumps(counts))
