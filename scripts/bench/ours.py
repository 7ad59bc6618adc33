"""usertrail's commands, as a user would type them."""

import os
import re

import measure
from data import FROM, ROOT, TO, TYPES, command, last_json, remove

SPAN = ["--from", FROM, "--to", TO]

# One core, whatever the machine has.
GO_TEST = ["go", "test", "-run", "^$", "-cpu", "1", "-count", "1"]


def load(data):
    """All days into a table that is not there yet."""
    remove(data.table)
    r = measure.run([command("bulkload"), "--job", data.job, *SPAN, "--table", data.table, "--quiet"])
    said = last_json(r.stdout)
    if said["read"] != data.records:
        raise SystemExit(f"bench: bulkload read {said['read']} records of {data.records}")
    return r


def extract(data, share, active="all"):
    """The users of a list, or all, as Parquet files in data.out."""
    remove(data.out)
    return measure.run([
        command("extract"), "--table", data.table, "--users", data.list(share) or "all", *SPAN,
        "--types", ",".join(TYPES), "--active", active, "--out", data.out, "--quiet",
    ])


def hfile(benchmark):
    """Millions of cells a second that one of internal/hfile's benchmarks reports."""
    pattern = "/".join(f"^{part}$" for part in benchmark.split("/"))
    r = measure.run([*GO_TEST, "-bench", pattern, "./internal/hfile"], cwd=ROOT)
    found = re.search(r"([0-9.]+) Mcells/s", r.stdout)
    if not found:
        raise SystemExit(f"bench: {benchmark} says no Mcells/s:\n{r.stdout}")
    return float(found[1]), r


def parts(data):
    """What DuckDB reads an extract by."""
    return os.path.join(data.out, "*.parquet")
