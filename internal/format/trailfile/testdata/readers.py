"""Reads trail files by pyarrow, DuckDB and polars and compares what they say
with the truth.

    readers.py DIRECTORY

DIRECTORY/samples.json lists the samples and what is in them, column by column. All
files of a sample hold the same.
One line is printed for each difference, and at the end how much was compared.
"""

import bisect
import datetime
import json
import math
import sys
from collections import Counter

import duckdb
import polars
import pyarrow
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet as parquet

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

ARROW = {
    "string": pyarrow.string(), "int64": pyarrow.int64(), "double": pyarrow.float64(),
    "bool": pyarrow.bool_(), "timestamp": pyarrow.timestamp("us", "UTC"), "date": pyarrow.date32(),
}
RAW = {"timestamp": pyarrow.int64(), "date": pyarrow.int32()}

compared = 0
sample = ""


def check(got, want, *where):
    global compared
    compared += 1
    if got != want:
        print(f"{sample}: {' '.join(map(str, where))}: got {str(got)[:200]}, want {str(want)[:200]}")


class Column:
    """A column as it should be: numbers for times and dates, None for null."""

    def __init__(self, said):
        self.name, self.type, self.nullable = said["name"], said["type"], said["nullable"]
        self.values = said["values"]
        if self.type == "double":
            self.values = [None if v is None else float.fromhex(v) if v[-1] not in "Nf" else float(v) for v in self.values]
        self.comparable = key(self.values)
        there = [v for v in self.values if v is not None]
        self.sorted = sorted(map(self.order, there)) if self.type == "double" else sorted(there)

    def order(self, v):
        """Sorts values as DuckDB and polars do: a NaN comes last."""
        return (math.isnan(v), 0 if math.isnan(v) else v) if self.type == "double" else v

    def native(self, v):
        """The value as a Python object that stands for it in the libraries."""
        if self.type == "timestamp":
            return EPOCH + datetime.timedelta(microseconds=v)
        if self.type == "date":
            return datetime.date(1970, 1, 1) + datetime.timedelta(days=v)
        return v

    def probes(self):
        """A few values to ask for: some that are there and one that is not."""
        there = self.sorted
        if not there:
            return []
        picked = [there[0], there[len(there) // 2], there[-1]]
        if self.type == "double":
            picked = [math.nan if nan else v for nan, v in picked]
        if self.type == "string":
            picked.append("not in any file")
        return picked

    def count(self, op, probe):
        at = self.order(probe)
        less, upto = bisect.bisect_left(self.sorted, at), bisect.bisect_right(self.sorted, at)
        return {"=": upto - less, "<": less, ">": len(self.sorted) - upto}[op]


def key(values):
    """Makes values comparable: a NaN equals a NaN, and zeros differ."""
    if float not in set(map(type, values)):
        return values
    return [repr(v) if isinstance(v, float) else v for v in values]


def by_pyarrow(path, columns, rows):
    file = parquet.ParquetFile(path, page_checksum_verification=True)
    table = file.read()
    check(table.num_rows, rows, "pyarrow: rows")
    check(table.schema.names, [c.name for c in columns], "pyarrow: columns")
    for c in columns:
        check(table.schema.field(c.name).type, ARROW[c.type], "pyarrow: type of", c.name)
        check(table.schema.field(c.name).nullable, c.nullable, "pyarrow: nullable", c.name)
        got = table.column(c.name).cast(RAW.get(c.type, ARROW[c.type])).to_pylist()
        check(key(got), c.comparable, "pyarrow: values of", c.name)
    footer(file.metadata, columns, rows)
    for c in columns:
        for v in c.probes():
            if c.type == "double":
                continue  # pyarrow compares NaN and zeros as IEEE 754 does
            found = parquet.read_table(path, columns=["user_id"], filters=[(c.name, "=", c.native(v))]).num_rows
            check(found, c.count("=", v), "pyarrow:", c.name, "=", v)


def footer(meta, columns, rows):
    check(meta.num_rows, rows, "pyarrow: rows in footer")
    check(sum(meta.row_group(g).num_rows for g in range(meta.num_row_groups)), rows, "pyarrow: sum of row groups")
    check(meta.created_by.split()[0], "usertrail", "pyarrow: created by")
    begin = 0
    for g in range(meta.num_row_groups):
        group = meta.row_group(g)
        sorting = [(s.column_index, s.descending) for s in group.sorting_columns]
        check(sorting, [(i, False) for i, c in enumerate(columns) if c.name in ("user_id", "time")], "pyarrow: sorting columns of group", g)
        for i, c in enumerate(columns):
            chunk(group.column(i), c, c.values[begin:begin + group.num_rows], f"group {g}, {c.name}")
        begin += group.num_rows


def chunk(meta, column, values, where):
    there = [v for v in values if v is not None]
    stats = meta.statistics
    check(stats.null_count, len(values) - len(there), "pyarrow: nulls of", where)
    nan = column.type == "double" and any(math.isnan(v) for v in there)
    check(meta.has_offset_index, True, "pyarrow: offset index of", where)
    check(meta.has_column_index, not nan, "pyarrow: column index of", where)
    bounded = bool(there) and not nan
    if bounded and column.type == "string":
        bounded = max(len(f(there).encode()) for f in (min, max)) <= 256
    check(stats.has_min_max, bounded, "pyarrow: bounds of", where)
    if bounded:
        check((stats.min, stats.max), (column.native(min(there)), column.native(max(there))), "pyarrow: bounds of", where)


def by_duckdb(db, path, columns, rows):
    ask = Queries(db, path)
    ask("SELECT count(*) FROM FILE", rows, "duckdb: rows")
    for c in columns:
        name = '"' + c.name + '"'
        got = {"timestamp": f"epoch_us({name})", "date": f"{name} - DATE '1970-01-01'"}.get(c.type, name)
        check(key([v for v, in ask.now(f"SELECT {got} FROM FILE")]), c.comparable, "duckdb: values of", c.name)
        nulls = c.values.count(None)
        ask(f"SELECT count({name}) FROM FILE", rows - nulls, "duckdb: count of", c.name)
        ask(f"SELECT count(*) FROM FILE WHERE {name} IS NULL", nulls, "duckdb:", c.name, "is null")
        for v in c.probes():
            literal = {"timestamp": "make_timestamptz(?)", "date": "DATE '1970-01-01' + ?::INTEGER"}.get(c.type, "?")
            for op in "=<>":
                ask(f"SELECT count(user_id) FROM FILE WHERE {name} {op} {literal}", c.count(op, v), "duckdb:", c.name, op, v, parameter=v)
    ask.all()
    bloom(ask.now, path, columns[0].values)


class Queries:
    """DuckDB's queries about one file. Queries whose result is one number are collected and
    run together: DuckDB plans and scans for each of them, but starts once."""

    def __init__(self, db, path):
        self.db, self.file = db, f"read_parquet('{path}')"
        self.sql, self.parameters, self.wanted = [], [], []

    def now(self, sql, *parameters):
        return self.db.execute(sql.replace("FILE", self.file), parameters).fetchall()

    def __call__(self, sql, want, *where, parameter=None):
        self.sql.append(sql.replace("SELECT", f"SELECT {len(self.sql)},", 1))
        self.parameters += [parameter] if "?" in sql else []
        self.wanted.append((want, where))

    def all(self):
        """Runs the collected queries and checks the results."""
        results = dict(self.now(" UNION ALL ".join(self.sql), *self.parameters))
        for i, (want, where) in enumerate(self.wanted):
            check(results[i], want, *where)


def bloom(ask, path, users):
    groups = ask(f"SELECT row_group_num_rows FROM parquet_metadata('{path}') WHERE path_in_schema = 'user_id' ORDER BY row_group_id")
    begin = 0
    bounds = []
    for n, in groups:
        bounds.append((begin, begin + n))
        begin += n

    def probe(asked):
        """What the filter of each row group says about each user."""
        sql = f"SELECT ?, row_group_id, bloom_filter_excludes FROM parquet_bloom_probe('{path}', 'user_id', ?)"
        return ask(" UNION ALL ".join([sql] * len(asked)), *[user for u in asked for user in (u, u)])

    there = sorted(set(users))[::max(1, len(set(users)) // 5)]
    if there:
        said = probe(there)
        check(Counter(user for user, _, _ in said), {user: len(groups) for user in there}, "duckdb: row groups with a bloom filter")
        for user, group, excluded in said:
            if user in users[slice(*bounds[group])]:
                check(excluded, False, "duckdb: bloom filter of group", group, "excludes", user)
    if groups:
        said = [excluded for _, _, excluded in probe([f"nobody {i}" for i in range(50)])]
        check(len(said), 50 * len(groups), "duckdb: row groups with a bloom filter")
        check(sum(said) > len(said) * 0.8, True, f"duckdb: bloom filters exclude {sum(said)} of {len(said)} that are not there")


def by_polars(path, columns, rows):
    frame = polars.read_parquet(path)
    check(frame.height, rows, "polars: rows")
    filters, wanted = [], []
    for c in columns:
        got = frame[c.name]
        if c.type in RAW:
            got = got.cast(polars.Int64)
        check(key(got.to_list()), c.comparable, "polars: values of", c.name)
        filters.append(polars.col(c.name).is_null())
        wanted.append((c.values.count(None), "polars:", c.name, "is null"))
        for v in c.probes():
            filters.append(polars.col(c.name) == polars.lit(c.native(v)))
            wanted.append((c.count("=", v), "polars:", c.name, "=", v))
    # Each filter reads the file for itself, as if it were the only one.
    each = polars.QueryOptFlags(comm_subplan_elim=False)
    found = polars.collect_all([polars.scan_parquet(path).filter(f) for f in filters], optimizations=each)
    for frame, (want, *where) in zip(found, wanted, strict=True):
        check(frame.height, want, *where)


DUCKDB = {
    "string": "VARCHAR", "int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN", "timestamp": "TIMESTAMPTZ", "date": "DATE",
}
POLARS = {
    "string": polars.String, "int64": polars.Int64, "double": polars.Float64, "bool": polars.Boolean,
    "timestamp": polars.Datetime("us", "UTC"), "date": polars.Date,
}


def by_table(table, columns, rows, reader):
    """Compares an Arrow table."""
    check(table.num_rows, rows, reader, "rows")
    check(table.schema.names, [c.name for c in columns], reader, "columns")
    for c in columns:
        check(table.schema.field(c.name).type, ARROW[c.type], reader, "type of", c.name)
        got = table.column(c.name).cast(RAW.get(c.type, ARROW[c.type])).to_pylist()
        check(key(got), c.comparable, reader, "values of", c.name)


def by_frame(frame, columns, rows):
    """Compares a polars frame."""
    check(frame.height, rows, "polars: rows")
    check(frame.columns, [c.name for c in columns], "polars: columns")
    for c in columns:
        got = frame[c.name]
        check(got.dtype, POLARS[c.type], "polars: type of", c.name)
        if c.type in RAW:
            got = got.cast(polars.Int64)
        check(key(got.to_list()), c.comparable, "polars: values of", c.name)


def by_query(db, source, columns, rows):
    """Has DuckDB read what source says."""
    as_number = {"timestamp": "epoch_us({})", "date": "{} - DATE '1970-01-01'"}
    wanted = ", ".join(as_number.get(c.type, "{}").format('"' + c.name + '"') for c in columns)
    read = db.execute(f"SELECT {wanted} FROM {source}").fetchall()
    check(len(read), rows, "duckdb: rows")
    for i, c in enumerate(columns):
        check(key([row[i] for row in read]), c.comparable, "duckdb: values of", c.name)


def duckdb_types(columns):
    return "{" + ", ".join(f"'{c.name}': '{DUCKDB[c.type]}'" for c in columns) + "}"


def by_arrow(db, path, columns, rows):
    with pyarrow.ipc.open_file(path) as file:
        table = file.read_all()
        check(table.schema.metadata, {b"trail.version": b"1"}, "pyarrow: metadata")
        for c in columns:
            check(table.schema.field(c.name).nullable, c.nullable, "pyarrow: nullable", c.name)
    by_table(table, columns, rows, "pyarrow:")
    by_frame(polars.read_ipc(path), columns, rows)
    db.register("arrow_file", table)
    by_query(db, "arrow_file", columns, rows)


def by_csv(db, path, columns, rows):
    with open(path, "rb") as file:
        check(file.readline().decode(), ",".join(c.name for c in columns) + "\n", "header")
    table = pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={c.name: ARROW[c.type] for c in columns},
            null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False,
        ),
    )
    by_table(table, columns, rows, "pyarrow:")
    by_query(db, f"read_csv('{path}', header = true, delim = ',', quote = '\"', escape = '\"', auto_detect = false, "
                 f"columns = {duckdb_types(columns)}, allow_quoted_nulls = false)", columns, rows)


def by_jsonl(db, path, columns, rows):
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = [json.loads(line) for line in file]
    check(len(lines), rows, "json: rows")
    for line in lines[:1] + lines[-1:]:
        check(list(line), [c.name for c in columns], "json: columns")
    for c in columns:
        if c.type in ("string", "int64", "bool"):
            check([line[c.name] for line in lines], c.values, "json: values of", c.name)
    by_query(db, f"read_json('{path}', format = 'newline_delimited', columns = {duckdb_types(columns)})", columns, rows)
    finite = all(math.isfinite(v) for c in columns if c.type == "double" for v in c.values if v is not None)
    if rows and finite:  # polars knows no word for the others
        by_frame(polars.read_ndjson(path, schema={c.name: POLARS[c.type] for c in columns}), columns, rows)


def main(directory):
    global sample
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    with open(directory + "/samples.json", encoding="utf-8") as f:
        samples = json.load(f)
    files = 0
    for s in samples:
        columns = [Column(c) for c in s["columns"]]
        for file in s["files"]:
            sample, path = f"{file}, {s['name']}", directory + "/" + file
            files += 1
            if path.endswith(".parquet"):
                by_pyarrow(path, columns, s["rows"])
                by_duckdb(db, path, columns, s["rows"])
                by_polars(path, columns, s["rows"])
            else:
                {"csv": by_csv, "jsonl": by_jsonl, "arrow": by_arrow}[path.rpartition(".")[2]](db, path, columns, s["rows"])
    print(f"{files} files, {compared} comparisons")


main(sys.argv[1])
