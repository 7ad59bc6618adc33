"""Compares our HBase client with Java's on one cluster and the same rows, and extracts with
different plans. loads.py measures loads of HFiles and reading of snapshots.

hbasebench/rows.go and scripts/cluster.d/java/Peer.java define the same rows and cells. Both
clients digest every cell that they send or get, and the digests must be equal.
"""

import csv
import glob
import hashlib
import os
import sys

import clients
import cluster
import loads
import measure
import ours
import report
from clients import must_equal, timed
from data import FROM, ROOT, TO, TYPES, command, job_text, last_json, remove, say
from measure import Runs
from report import megabytes, rate

DIR = os.path.join(ROOT, "bench", "data", "hbase")
LOGS, JOB, OUT = (os.path.join(DIR, name) for name in ("logs", "usertrail.yaml", "out"))

TABLE, WARM = "bench", "benchwarm"
REGIONS = 12
COLUMNS = 20
BATCH = 200
GET_THREADS = [4, 8]  # threads of Java's client; the faster run counts
PUT_THREADS = 4

# The ratio to the peer that each work must reach.
REACH = {"get": 1.5, "get-cpu": 2, "put": 1.2, "scan": 1.5, "plan": 2, "plan-auto": 2, "memory": 0.67, "rolls-live": 3}

# The table of users. All users have each behaviour on most of ten days.
USERS, RECORDS_PER_USER = 20_000, 50
ASKED = 2_000

# A larger table. Its extract is of one user in a hundred.
MANY_USERS, FEW_RECORDS = 200_000, 20

# Two lists whose extracts must need the same memory, and its limit.
FEW, MANY = 1_000, 1_000_000
MEMORY = 128 << 20  # the least that extract takes

WORKS = ["put", "get", "scan", "plan", "memory", "rolls", "load", "snapshot"]
LINES_PER_ROW = 5  # lines that are loaded for each row that the clients put, as in a small night


def main(args):
    wanted = args.only.split(",") if args.only else WORKS
    unknown = [w for w in wanted if w not in WORKS]
    if unknown:
        sys.exit(f"bench: no such work: {', '.join(unknown)}: the works are {', '.join(WORKS)}")
    print(report.machine() + "\n", flush=True)
    remove(DIR)
    os.makedirs(DIR)
    try:
        with cluster.Cluster() as c:
            rows, ratios = work(c, args, wanted)
    finally:
        remove(DIR)
    report.table(rows)
    met = [report.ratio(*r) for r in ratios]
    return 0 if all(met) else 1


def work(c, args, wanted):
    rows, ratios = [], []
    b = Bench(c, args.rows, args.runs, rows, ratios)
    if set(wanted) & {"put", "get", "scan"}:
        b.put("put" in wanted)
    if "get" in wanted:
        b.get()
    if "scan" in wanted:
        b.scan()
    if set(wanted) & {"plan", "memory"}:
        u = Users(c, args.runs, rows, ratios, USERS, RECORDS_PER_USER, "put")
        if "plan" in wanted:
            u.plan()
        if "memory" in wanted:
            u.memory()
    if "rolls" in wanted:
        Users(c, args.runs, rows, ratios, MANY_USERS, FEW_RECORDS, "hfile").rolls()
    if set(wanted) & {"load", "snapshot"}:
        l = loads.Loads(c, args.rows * LINES_PER_ROW, args.runs, rows, ratios, DIR)
        if "load" in wanted:
            l.load()
        if "snapshot" in wanted:
            l.snapshot("load" in wanted)
    return rows, ratios


class Bench:
    """Measures the two clients."""

    def __init__(self, c, n, runs, rows, ratios, reach=REACH):
        self.cluster, self.n, self.runs, self.rows, self.ratios, self.reach = c, n, runs, rows, ratios, reach
        self.splits = [f"{i * (1 << 32) // REGIONS:08x}" for i in range(1, REGIONS)]
        self.cells = n * COLUMNS

    def ours(self, *args):
        return timed(clients.ours(self.cluster, *args))

    def java(self, *args):
        return timed(clients.java(*args))

    def put(self, wanted):
        """Puts every row into a new table. The last table is compacted, and the reads use it."""
        mine, theirs = Runs("put, ours"), Runs(f"put, Java {PUT_THREADS} threads")
        for n in range(self.runs if wanted else 0):
            say(f"put, run {n + 1} of {self.runs}")
            for runs, client, threads in (theirs, self.java, [PUT_THREADS]), (mine, self.ours, []):
                self.fresh()
                said, r = client("put", TABLE, WARM, self.n, *threads)
                runs.add(r)
                must_equal(runs.name, said, self.ours("scan", TABLE)[0])
        if wanted:
            self.compare("put", self.cells, "cells", mine, theirs)
        else:
            self.fresh()
            self.ours("put", TABLE, WARM, self.n)
        self.cluster.admin.ask("drop", WARM)
        self.cluster.admin.ask("compact", TABLE)

    def fresh(self):
        for table in TABLE, WARM:
            self.cluster.admin.fresh(table, "d", self.splits, COMPRESSION="SNAPPY")

    def get(self):
        """Gets random rows, as many as the table has. Each get has the columns with three prefixes
        of ten."""
        mine = Runs("get, ours")
        theirs = {threads: Runs(f"get, Java {threads} threads") for threads in GET_THREADS}
        self.ours("get", TABLE, self.n, self.n, BATCH)  # the servers' caches fill, and their code is compiled
        for n in range(self.runs):
            say(f"get, run {n + 1} of {self.runs}")
            result, r = self.ours("get", TABLE, self.n, self.n, BATCH)
            mine.add(r)
            for threads, runs in theirs.items():
                said, r = self.java("get", TABLE, self.n, self.n, BATCH, threads)
                runs.add(r)
                must_equal(runs.name, result, said)
        best = min(theirs.values(), key=Runs.median)
        self.compare("get", self.n, "gets", mine, best, *(t for t in theirs.values() if t is not best))
        if "get-cpu" in self.reach:
            self.ratios.append(("get-cpu", f"{mine.cpu():.2f}s", f"{best.cpu():.2f}s", best.cpu() / mine.cpu(), self.reach["get-cpu"]))

    def scan(self):
        mine, theirs = Runs("scan, ours"), Runs("scan, Java")
        self.ours("scan", TABLE)
        for n in range(self.runs):
            say(f"scan, run {n + 1} of {self.runs}")
            result, r = self.ours("scan", TABLE)
            mine.add(r)
            said, r = self.java("scan", TABLE)
            theirs.add(r)
            must_equal(theirs.name, result, said)
        self.compare("scan", self.cells, "cells", mine, theirs)

    def compare(self, name, amount, unit, mine, theirs, *others):
        self.rows += [mine, theirs, *others]
        self.ratios.append((name, rate(amount, mine, unit), rate(amount, theirs, unit), theirs.median() / mine.median(), self.reach[name]))


class Users:
    """Measures extracts from a table that bulkload has loaded."""

    def __init__(self, c, runs, rows, ratios, people, each, mode):
        self.runs, self.rows, self.ratios = runs, rows, ratios
        records = people * each
        os.environ["HADOOP_CONF_DIR"] = c.conf
        self.table = f"hbase://{c.zookeeper}/benchusers"
        say("making sample logs")
        remove(LOGS)
        c.admin.ask("rm", "/usertrail/default/benchusers")
        measure.run([
            command("bulkload"), "sample", LOGS, "--records", str(records), "--users", str(people), "--days", "10",
            "--from", FROM, "--seed", "1", "--bad", "0",
        ])
        self.known = users(LOGS)
        # Rows begin with the reversed user ID, which ends in a digit or a letter to f.
        c.admin.fresh("benchusers", "d", list("123456789abcdef"), COMPRESSION="SNAPPY")
        with open(JOB, "w", encoding="utf-8") as f:
            f.write(job_text().replace("table: trails", f"table: {{path: \"{self.table}\", catalog: catalog-{mode}}}"))
        say("loading them")
        r = measure.run([command("bulkload"), "--job", JOB, *ours.SPAN, "--mode", mode, "--quiet"])
        said = last_json(r.stdout)
        if said["loaded"] != records:
            sys.exit(f"bench: bulkload loaded {said['loaded']} records of {records}")
        c.admin.ask("compact", "benchusers")

    def extract(self, path, *flags, active="any"):
        """Runs an extract of a list. Returns its counts with a digest of its parts, and its Run."""
        remove(OUT)
        r = measure.run([
            command("extract"), "--job", JOB, "--users", path, *ours.SPAN, "--types", ",".join(TYPES), "--active", active,
            "--out", OUT, "--quiet", *flags,
        ])
        said = last_json(r.stdout)
        return [said["users"], said["found"], said["events"], digest_files(os.path.join(OUT, "*.parquet"))], r

    def plan(self):
        """Extracts all events of a list of users in ten days, by gets and by scans."""
        path = write_list("asked", self.known[:: USERS // ASKED])
        plans = {plan: Runs(f"extract {ASKED} users, --plan {plan}") for plan in ("get", "scan", "auto")}
        for n in range(self.runs):
            say(f"extract by plan, run {n + 1} of {self.runs}")
            results = {}
            for plan, runs in plans.items():
                results[plan], r = self.extract(path, "--plan", plan)
                runs.add(r)
            must_equal("extract by scan", results["get"], results["scan"])
            must_equal("extract by auto", results["get"], results["auto"])
        get = plans["get"]
        self.rows += plans.values()
        for name, plan in ("plan", "scan"), ("plan-auto", "auto"):
            runs = plans[plan]
            self.ratios.append((name, rate(ASKED, runs, "users"), rate(ASKED, get, "users"), get.median() / runs.median(), REACH[name]))

    def rolls(self):
        """Extracts the users of a list who did all four behaviours, with the rolls and without."""
        path = write_list("hundredth", self.known[::100])
        use, off = Runs("extract 1% live, with rolls"), Runs("extract 1% live, without rolls")
        for n in range(self.runs):
            say(f"rolls, run {n + 1} of {self.runs}")
            result, r = self.extract(path, active="all")
            use.add(r)
            without, r = self.extract(path, "--rolls", "off", active="all")
            off.add(r)
            must_equal("extract without rolls", result, without)
        self.rows += [use, off]
        self.ratios.append(("rolls-live", report.seconds(use.median()), report.seconds(off.median()), off.median() / use.median(), REACH["rolls-live"]))

    def memory(self):
        """Extracts a short list, and a long list in which most users are unknown."""
        few, many = Runs(f"extract {FEW:,} users"), Runs(f"extract {MANY:,} users")
        short = write_list("few", self.known[:: USERS // FEW])
        long = write_list("many", [*self.known, *(f"nobody{i}" for i in range(MANY - USERS))])
        for path, runs in (short, few), (long, many):
            say(runs.name)
            runs.add(self.extract(path, "--memory", str(MEMORY))[1])
        self.rows += [few, many]
        self.ratios.append(("memory", megabytes(many.rss()), megabytes(few.rss()), few.rss() / many.rss(), REACH["memory"]))
        self.ratios.append(("memory-limit", megabytes(many.rss()), megabytes(MEMORY), MEMORY / many.rss(), 1))


def users(logs):
    """Returns the users in the logs."""
    known = set()
    for path in glob.glob(os.path.join(logs, "*", "*.csv")):
        with open(path, encoding="utf-8", newline="") as f:
            known.update(row["user_id"] for row in csv.DictReader(f))
    return sorted(known)


def write_list(name, ids):
    path = os.path.join(DIR, f"users-{name}.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f"{i}\n" for i in ids)
    return path


def digest_files(pattern):
    digest = hashlib.sha256()
    for path in sorted(glob.glob(pattern)):
        with open(path, "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()
