"""The same behaviours in every layout, in tables of files and in HBase, for users of
few behaviours and of many: what a load takes, how large the table is, and how long
questions take. An answer that is not that of the first layout ends the benchmark, and
so does one of the first layout that is not DuckDB's over the logs, at one size.

What comes out is a list of

    {layout, where: files|hbase, each, records, load_seconds, bytes,
     questions: {NAME: {p50_ms, p99_ms, per_second, rows, cells, calls, behaviours, asked}}}

where each is how many behaviours a user has, rows, cells and calls are what a question
reads on the average, and the names are those of questions.py. scripts/bench/layoutbench
asks and measures.
"""

import datetime
import os
import signal
import sys

import cluster
import layoutdocs
import measure
import questions
import report
from data import BIN, FROM, ROOT, command, job_text, last_json, remove, say

LAYOUTS = ["reversed", "tall", "wide", "game", "game-time", "hashed", "fixed/8"]
WHERE = ["files", "hbase"]

NIGHTS = 30
DATES = [str(datetime.date.fromisoformat(FROM) + datetime.timedelta(days=d)) for d in range(NIGHTS)]
SPAN = ["--from", DATES[0], "--to", DATES[-1]]

REGIONS = 12
TABLE = "benchlayout"

# Of a RegionServer, of which two fifths are its block cache: what three of them keep of a table is all of it, in every layout.
HEAP = "4g"

# The size nearest to this is the one at which DuckDB is asked, too.
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
        sys.exit(f"bench: --each {text!r}: write numbers of behaviours a user, as in \"1 100\"")
    return sizes


def some(what, text, known):
    """What a list with commas names, in the order of what is known; all if nothing."""
    wanted = [word for word in text.split(",") if word] or known
    unknown = [w for w in wanted if w not in known]
    if unknown:
        sys.exit(f"bench: no such {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    return [k for k in known if k in wanted]


class Bench:
    """Where things lie, and the figures so far."""

    def __init__(self, records, layouts, of_one, directory, kept):
        self.records, self.layouts, self.of_one, self.dir, self.kept = records, layouts, of_one, directory, kept
        self.figures, self.others, self.warm = [], [], False
        self.logs, self.job, self.files, self.catalog, self.answers, self.asked = (
            os.path.join(directory, name) for name in ("logs", "usertrail.yaml", "trails", "catalog", "answers", "questions.jsonl")
        )

    def take_up(self, sizes, where):
        """Takes the figures that an earlier run has kept, and returns by size what is left
        to measure, as (layout, place). What the first of them answers the others are
        compared with, so it is measured again wherever one is."""
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
                say(f"{each} behaviours a user: {layout}, {place}")
                self.measure(each, layout, place, c, each == proved)
                if self.kept:
                    layoutdocs.write_json(self.figures + self.others, self.kept)

    def warm_up(self, layout, c):
        """Has servers that have just begun do once what is measured after it: until then
        Java compiles."""
        say(f"warming up: {layout}, hbase")
        t = Live(self, layout, c)
        try:
            t.load()
            self.ask(t.address, False)
        finally:
            t.remove()
        self.warm = True

    def make(self, each):
        """Logs and questions of users with so many behaviours each."""
        say(f"{each} behaviours a user: making logs")
        remove(self.dir)
        os.makedirs(self.answers)
        measure.run([
            command("bulkload"), "sample", self.logs, "--records", str(self.records), "--each", str(each), "--numeric",
            "--days", str(NIGHTS), "--from", FROM, "--seed", "1", "--bad", "0",
        ])
        questions.write(self.asked, self.logs, -(-self.records // each), DATES, self.of_one)

    def measure(self, each, layout, place, c, proved):
        prove = proved and self.digests is None
        t = Files(self, layout) if place == "files" else Live(self, layout, c)
        try:
            loaded = t.load()
            size = t.size()
            answered = self.ask(t.address, prove)
        finally:
            t.remove()
        digests = {name: q.pop("digest") for name, q in answered.items()}
        if prove:
            self.prove()
        if self.digests is None:
            self.digests = digests
        for name, digest in digests.items():
            if digest != self.digests[name]:
                sys.exit(f"bench: {layout} in {place}, {each} behaviours a user: the answers to {questions.NAMES[name]!r} are not those of {self.layouts[0]}")
        self.figures.append({
            "layout": layout, "where": place, "each": each, "records": self.records, "load_seconds": round(loaded, 3), "bytes": size,
            "questions": {name: {what: round(x, 3) for what, x in q.items()} for name, q in answered.items()},
        })

    def ask(self, address, keep):
        return last_json(measure.run([
            os.path.join(BIN, "layoutbench"), *(["-answers", self.answers] if keep else []), self.asked, address,
        ]).stdout)

    def prove(self):
        say("asking DuckDB")
        wrong = questions.wrong(self.asked, self.logs, self.answers, DATES[-1])
        if wrong:
            sys.exit(f"bench: DuckDB has other answers to {', '.join(wrong)} over the logs than {self.layouts[0]}")

    def write_job(self, layout, table):
        text = job_text().replace("table: trails", f"layout: {layout}\ntable: {table}")
        with open(self.job, "w", encoding="utf-8") as f:
            f.write(text)

    def bulkload(self, *flags):
        """Loads all nights; the Run. Records past the last midnight are not asked for."""
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
    """A table in HBase, loaded by HFiles. Its family keeps behaviours forever, because
    the behaviours of the logs are years old."""

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
