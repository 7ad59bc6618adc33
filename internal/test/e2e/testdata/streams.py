"""Reads what `extract --out -` writes, and compares it with the same result in a directory.

streams.py EXTRACT DIRECTORY ARG... prints one JSON object: for each format the numbers of rows and
of differing rows, the size of the largest record batch, and the status of the command.
"""

import io
import json
import subprocess
import sys

import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

program, directory, *args = sys.argv[1:]
want = ds.dataset(directory, format="parquet", exclude_invalid_files=False).to_table()


def stream(form):
    return subprocess.Popen([program, *args, "--format", form, "--out", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def compared(got, process, most=0):
    status = process.wait()
    columns = ", ".join(f'"{name}"' for name in want.column_names)
    db = duckdb.connect()
    db.register("want", want)
    db.register("got", got)
    one = lambda query: db.execute(query).fetchone()[0]  # noqa: E731
    other = one(f"select count(*) from (select {columns} from got except all select {columns} from want)")
    return {"rows": got.num_rows, "wanted": want.num_rows, "other": other, "schema": got.schema.equals(want.schema), "most": most, "status": status}


def arrow():
    process = stream("arrow")
    batches = list(pa.ipc.open_stream(process.stdout))
    return compared(pa.Table.from_batches(batches), process, max(b.num_rows for b in batches))


def arrow_polars():
    process = stream("arrow")
    return compared(polars.read_ipc_stream(io.BytesIO(process.stdout.read())).to_arrow().cast(want.schema), process)


def parquet():
    process = stream("parquet")
    file = pq.ParquetFile(io.BytesIO(process.stdout.read()))
    sorting = {len(file.metadata.row_group(i).sorting_columns) for i in range(file.num_row_groups)}
    return compared(file.read(), process, file.num_row_groups) | {"sorting": sorting == {2}}


print(json.dumps({f.__name__: f() for f in (arrow, arrow_polars, parquet)}))
