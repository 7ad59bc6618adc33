"""Runs usertrail's commands."""

import os
import re

import measure
from data import FROM, ROOT, TO, TYPES, command, job_text, last_json, remove

SPAN = ["--from", FROM, "--to", TO]

# Go benchmarks on one core.
GO_TEST = ["go", "test", "-run", "^$", "-cpu", "1", "-count", "1"]


def load(data, compression=""):
    """Loads all days into a new table, with a compression or with the default."""
    remove(data.table)
    with open(data.job, "w", encoding="utf-8") as f:
        f.write(job_text(compression))
    r = measure.run([command("bulkload"), "--job", data.job, *SPAN, "--table", data.table, "--quiet"])
    result = last_json(r.stdout)
    if result["read"] != data.records:
        raise SystemExit(f"bench: bulkload read {result['read']} records of {data.records}")
    return r


def extract(data, share, *flags, types=tuple(TYPES)):
    """Extracts the users of a list, or all, as Parquet files in data.out."""
    remove(data.out)
    return measure.run([
        command("extract"), "--table", data.table, "--users", data.list(share) or "all", *SPAN,
        "--types", ",".join(types), "--out", data.out, "--quiet", *flags,
    ])


def show(data, user):
    """Shows the first page of one user's trail."""
    return measure.run([command("extract"), "show", "--table", data.table, "--user", user, *SPAN, "--page", "50"])


def hfile(benchmark):
    """Runs a benchmark of internal/format/hfile. Returns its millions of cells per second of one core."""
    pattern = "/".join(f"^{part}$" for part in benchmark.split("/"))
    r = measure.run([*GO_TEST, "-bench", pattern, "./internal/format/hfile"], cwd=ROOT)
    for line in r.stdout.splitlines():
        found = re.search(r"([0-9.]+) Mcells/cpu-s", line)
        if found and line.split()[0] == benchmark:
            return float(found[1]), r
    raise SystemExit(f"bench: {benchmark} prints no Mcells/cpu-s:\n{r.stdout}")


def parts(data):
    """Returns the pattern of the Parquet files of an extract."""
    return os.path.join(data.out, "*.parquet")
