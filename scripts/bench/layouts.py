"""Compares the layouts, in tables of files and in HBase, with the same events and with few
and many events per user. It measures the time of a load, the size of the table and the time
of queries. The benchmark ends if a result differs from the result of the first layout. At one
size, the results of the first layout are also compared with DuckDB's results over the logs.

The figures are a list of

    {layout, where: files|hbase, each, records, load_seconds, bytes,
     questions: {NAME: {p50_ms, p99_ms, per_second, rows, cells, calls, behaviours, asked}}}

Each is the number of events per user. Rows, cells and calls are the averages that a query
reads. The names are the names in queries.py. scripts/bench/layoutbench runs the queries and
measures them.
"""

import datetime
import os
import signal
import sys

import cluster
import layoutdocs
import measure
import queries
import report
from data import BIN, FROM, ROOT, command, job_text, last_json, remove, say

LAYOUTS = ["reversed", "tall", "wide", "game", "game-time", "hashed", "fixed/8"]
WHERE = ["files", "hbase"]

NIGHTS = 30
DATES = [str(datetime.date.fromisoformat(FROM) + datetime.timedelta(days=d)) for d in range(NIGHTS)]
SPAN = ["--from", DATES[0], "--to", DATES[-1]]

REGIONS = 12
TABLE = "benchlayout"

# The heap of a RegionServer. Two fifths of it are its block cache. The caches of three servers hold the whole table, in every layout.
HEAP = "4g"

# DuckDB checks the results at the size that is nearest to this.
PROVED = 100


def main(args):
    sizes = numbers(args.each)
    layouts = some("layout", args.layouts, LAYOUTS)
    where = some("place", args.where, WHERE)
    print(f"{report.machine()}\n{args.records} records of {NIGHTS} nights\n", flush=True)
    b = Bench(args.records, layouts, args.asked, args.dir or os.path.join(ROOT, "bench", "data", "layouts"), args.json)
    left = b.take_up(sizes, where)
    proved = min(sizes, key=lambda each: abs(each - PROVED))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    remove(b.dir)
    try:
        if left and "hbase" in where:
            with cluster.Cluster(CLUSTER_HEAP=HEAP) as c:
                os.environ["HADOOP_CONF_DIR"] = c.conf
                b.run(left, proved, c)
        else:
            b.run(left, proved, None)
    finally:
        remove(b.dir)
    b.figures.sort(key=lambda f: (sizes.index(f["each"]), layouts.index(f["layout"]), where.index(f["where"])))
    print(layoutdocs.tables(b.figures))
    if args.publish:
        layoutdocs.publish(b.figures, report.machine(), args.records, NIGHTS)
    return 0


def numbers(text):
    sizes = [int(word) for word in text.split()]
    if not sizes or min(sizes) < 1:
        sys.exit(f"bench: --each {text!r}: write numbers of events per user, as in \"1 100\"")
    return sizes


def some(what, text, known):
    """The words of a list with commas, in the order of known; all of known if the list is empty."""
    wanted = [word for word in text.split(",") if word] or known
    unknown = [w for w in wanted if w not in known]
    if unknown:
        sys.exit(f"bench: no such {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    return [k for k in known if k in wanted]


class Bench:
    """The paths of a run, and the figures so far."""

    def __init__(self, records, layouts, of_one, directory, kept):
        self.records, self.layouts, self.of_one, self.dir, self.kept = records, layouts, of_one, directory, kept
        self.figures, self.others, self.warm = [], [], False
        self.logs, self.job, self.files, self.catalog, self.results, self.asked = (
            os.path.join(directory, name) for name in ("logs", "usertrail.yaml", "trails", "catalog", "results", "queries.jsonl")
        )

    def take_up(self, sizes, where):
        """Reads the figures that an earlier run has kept. Returns for each size the pairs
        (layout, place) that are left to measure. The results of the first pair are the
        reference, so it is measured again if any other pair is."""
        kept = layoutdocs.read_json(self.kept) if self.kept and os.path.exists(self.kept) else []
        all_of = [(layout, place) for layout in self.layouts for place in where]
        found, left = {}, {}
        for f in kept:
            if f["records"] == self.records and f["each"] in sizes and (f["layout"], f["where"]) in all_of:
                found[f["each"], f["layout"], f["where"]] = f
            else:
                self.others.append(f)
        for each in sizes:
            missing = [x for x in all_of if (each, *x) not in found]
            if missing and missing[0] != all_of[0]:
                missing.insert(0, all_of[0])
                del found[each, *all_of[0]]
            if missing:
                left[each] = missing
        self.figures = [found[each, *x] for each in sizes for x in all_of if (each, *x) in found]
        return left

    def run(self, left, proved, c):
        for each, all_of in left.items():
            self.make(each)
            self.digests = None
            for layout, place in all_of:
                if place == "hbase" and not self.warm:
                    self.warm_up(layout, c)
                say(f"{each} events per user: {layout}, {place}")
                self.measure(each, layout, place, c, each == proved)
                if self.kept:
                    layoutdocs.write_json(self.figures + self.others, self.kept)

    def warm_up(self, layout, c):
        """Runs the first measurement once without keeping it, because Java still compiles in
        servers that have just started."""
        say(f"warming up: {layout}, hbase")
        t = Live(self, layout, c)
        try:
            t.load()
            self.ask(t.address, False)
        finally:
            t.remove()
        self.warm = True

    def make(self, each):
        """Makes the logs and the queries, with each events per user."""
        say(f"{each} events per user: making logs")
        remove(self.dir)
        os.makedirs(self.results)
        measure.run([
            command("bulkload"), "sample", self.logs, "--records", str(self.records), "--each", str(each), "--numeric",
            "--days", str(NIGHTS), "--from", FROM, "--seed", "1", "--bad", "0",
        ])
        queries.write(self.asked, self.logs, -(-self.records // each), DATES, self.of_one)

    def measure(self, each, layout, place, c, proved):
        prove = proved and self.digests is None
        t = Files(self, layout) if place == "files" else Live(self, layout, c)
        try:
            loaded = t.load()
            size = t.size()
            measured = self.ask(t.address, prove)
        finally:
            t.remove()
        digests = {name: q.pop("digest") for name, q in measured.items()}
        if prove:
            self.prove()
        if self.digests is None:
            self.digests = digests
        for name, digest in digests.items():
            if digest != self.digests[name]:
                sys.exit(f"bench: {layout} in {place}, {each} events per user: the results of {queries.NAMES[name]!r} differ from the results of {self.layouts[0]}")
        self.figures.append({
            "layout": layout, "where": place, "each": each, "records": self.records, "load_seconds": round(loaded, 3), "bytes": size,
            "questions": {name: {what: round(x, 3) for what, x in q.items()} for name, q in measured.items()},
        })

    def ask(self, address, keep):
        return last_json(measure.run([
            os.path.join(BIN, "layoutbench"), *(["-results", self.results] if keep else []), self.asked, address,
        ]).stdout)

    def prove(self):
        say("checking with DuckDB")
        wrong = queries.wrong(self.asked, self.logs, self.results, DATES[-1])
        if wrong:
            sys.exit(f"bench: the results of {self.layouts[0]} for {', '.join(wrong)} differ from DuckDB's over the logs")

    def write_job(self, layout, table):
        text = job_text().replace("table: trails", f"layout: {layout}\ntable: {table}")
        with open(self.job, "w", encoding="utf-8") as f:
            f.write(text)

    def bulkload(self, *flags):
        """Loads all nights and returns the Run. Records after the last midnight are skipped."""
        r = measure.run([command("bulkload"), "--job", self.job, *SPAN, "--quiet", *flags])
        said = last_json(r.stdout)
        if said["read"] != self.records or said["loaded"] + said["skipped"] != self.records:
            sys.exit(f"bench: bulkload loaded {said['loaded']} and skipped {said['skipped']} of {said['read']} records, want {self.records} in all")
        return r


class Files:
    """A table of files."""

    def __init__(self, b, layout):
        self.bench, self.address = b, b.files
        b.write_job(layout, b.files)

    def load(self):
        return self.bench.bulkload().seconds

    def size(self):
        return sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(self.address) for f in names)

    def remove(self):
        remove(self.address)


class Live:
    """A table in HBase, loaded by HFiles. Its family has no TTL, because the events of the
    logs are years old."""

    def __init__(self, b, layout, c):
        self.bench, self.cluster, self.layout = b, c, layout
        self.address = f"hbase://{c.zookeeper}/{TABLE}"
        b.write_job(layout, f"{{path: \"{self.address}\", catalog: {b.catalog}, ttl: forever}}")

    def load(self):
        sample = [] if self.layout == "hashed" else SPAN
        measure.run([command("bulkload"), "create-table", "--job", self.bench.job, *sample, "--regions", str(REGIONS)])
        r = self.bench.bulkload("--mode", "hfile")
        self.cluster.rest()
        return r.seconds

    def size(self):
        r = measure.run([cluster.SCRIPT, "hadoop", "org.apache.hadoop.fs.FsShell", "-du", "-s", f"/hbase/data/default/{TABLE}"])
        return int(r.stdout.split()[0])

    def remove(self):
        self.cluster.admin.ask("drop", TABLE)
        remove(self.bench.catalog)
