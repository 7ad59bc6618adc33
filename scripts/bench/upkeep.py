"""Compares a compacted table of a year of nights with a table that was loaded by months."""

import filecmp
import json
import os
import shutil
import sys

import measure
import report
from data import ROOT, TYPES, command, job_text, remove, say
from measure import Runs

FROM, TO, DAYS = "2014-01-01", "2014-12-31", 365
RECORDS_PER_USER = 50
SHARE = 100  # the list has one user in this many

# The least speed of an extract from the compacted table, as a share of the speed from the other.
REACH = 0.9


def main(args):
    year = Year(args.records)
    year.make()
    print(report.machine() + "\n")
    print(f"| {year.records} records, {DAYS} nights | HFiles | MB |")
    print("|---|---:|---:|")
    for name in TABLES:
        files, size = year.size(name)
        print(f"| {name} | {files} | {size / report.MB:.0f} |")
    print()
    runs = {name: Runs(f"extract 1% of a year, {name}") for name in TABLES}
    for _ in range(args.runs):
        for name in TABLES:
            runs[name].add(year.extract(name))
            year.same(name)
    report.table([year.compacting, *runs.values()])
    mine, months, nights = (runs[name].median() for name in ("compacted", "months", "nights"))
    met = report.ratio("upkeep-read", report.seconds(mine), report.seconds(months), months / mine, REACH)
    print(f"an extract from the nights before the compaction takes {nights / mine:.2f} times as long")
    return 0 if met else 1


TABLES = ["months", "nights", "compacted"]


class Year:
    """The paths of the files for a number of records."""

    def __init__(self, records):
        self.records = records
        self.dir = os.path.join(ROOT, "bench", "data", f"year-{records}")
        self.logs = os.path.join(self.dir, "logs")
        self.job = os.path.join(self.dir, "usertrail.yaml")
        self.list = os.path.join(self.dir, "users.txt")
        self.compacting = Runs("compact")

    def table(self, name):
        return os.path.join(self.dir, name)

    def out(self, name):
        return os.path.join(self.dir, "out-" + name)

    def make(self):
        """Makes the files that are missing. The compacted table is made again each time."""
        os.makedirs(self.dir, exist_ok=True)
        if not os.path.exists(self.list):
            say(f"making a year of {self.records} records")
            remove(self.logs)
            users = max(self.records // RECORDS_PER_USER, SHARE)
            measure.run([
                command("bulkload"), "sample", self.logs, "--records", str(self.records), "--users", str(users),
                "--days", str(DAYS), "--from", FROM, "--seed", "1", "--bad", "0",
            ])
            with open(self.job, "w", encoding="utf-8") as f:
                f.write(job_text())
            self.load("months", by_months())
            self.load("nights", [(d, d) for d in dates()])
            self.choose()
        remove(self.table("compacted"))
        shutil.copytree(self.table("nights"), self.table("compacted"))
        self.compacting.add(measure.run([command("bulkload"), "compact", "--table", self.table("compacted"), "--keep-for", "0s", "--quiet"]))

    def load(self, name, spans):
        say(f"loading {name}")
        remove(self.table(name))
        for first, last in spans:
            measure.run([command("bulkload"), "--job", self.job, "--from", first, "--to", last, "--table", self.table(name), "--quiet"])

    def choose(self):
        """Writes the list of users. All of them are in the table."""
        remove(self.out("all"))
        measure.run([
            command("extract"), "--table", self.table("months"), "--users", "all", "--from", FROM, "--to", FROM, "--types", ",".join(TYPES),
            "--active", "any", "--format", "csv", "--out", self.out("all"), "--quiet",
        ])
        users = set()
        for name in sorted(os.listdir(self.out("all"))):
            if name.startswith("part-"):
                with open(os.path.join(self.out("all"), name), encoding="utf-8") as f:
                    next(f)
                    users.update(line.split(",", 1)[0] for line in f)
        remove(self.out("all"))
        want = max(self.records // RECORDS_PER_USER // SHARE, 1)
        with open(self.list + ".part", "w", encoding="utf-8") as f:
            f.writelines(user + "\n" for user in sorted(users)[:want])
        os.rename(self.list + ".part", self.list)

    def extract(self, name):
        remove(self.out(name))
        return measure.run([
            command("extract"), "--table", self.table(name), "--users", self.list, "--from", FROM, "--to", TO,
            "--types", ",".join(TYPES), "--active", "any", "--out", self.out(name), "--quiet",
        ])

    def same(self, name):
        """Ends the benchmark if the result of a table differs from the others."""
        a, b = self.out(TABLES[0]), self.out(name)
        names = sorted({n for n in os.listdir(a) + os.listdir(b) if n.startswith("part-")})
        _, mismatch, errors = filecmp.cmpfiles(a, b, names, shallow=False)
        if mismatch + errors:
            sys.exit(f"bench: the result of {name} differs from the result of {TABLES[0]}: {', '.join(mismatch + errors)}")

    def size(self, name):
        r = measure.run([command("bulkload"), "inspect", self.table(name), "--json"])
        total = json.loads(r.stdout)["table"]["total"]
        return total["files"], total["size"]


def dates():
    months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return [f"2014-{m + 1:02}-{d + 1:02}" for m, days in enumerate(months) for d in range(days)]


def by_months():
    all_dates = dates()
    return [(min(d for d in all_dates if d[:7] == m), max(d for d in all_dates if d[:7] == m)) for m in sorted({d[:7] for d in all_dates})]
