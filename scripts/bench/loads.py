"""Compares our loads of HFiles with ImportTsv and BulkLoadHFilesTool, and with our own puts. It also
compares reading their table from a snapshot with TableSnapshotScanner.

All load the same lines on HDFS into new tables with the same regions and the same settings of
the family. One reader compares the tables. hbasebench/lines.go defines what is compared.
"""

import os
import sys

import clients
import cluster
import measure
import report
from clients import must_equal, last_line, timed
from data import command, last_json, remove, say
from measure import Runs

DAY, BEHAVIOUR = "2014-09-01", "visit"
FIELDS = [f"f{j:02d}" for j in range(1, 21)]
ASKED = [FIELDS[2], FIELDS[10], FIELDS[16]]

REGIONS = 12
# Users begin with hex digits, and so do their reverses.
SPLITS = [f"{i * (1 << 32) // REGIONS:08x}" for i in range(1, REGIONS)]
FAMILY = {"VERSIONS": "1", "BLOOMFILTER": "ROW", "DATA_BLOCK_ENCODING": "FAST_DIFF", "COMPRESSION": "SNAPPY"}

# On HDFS.
DIR = "/bench"
LOG = f"{DIR}/logs/{DAY}/{BEHAVIOUR}.tsv"
HFILES = f"{DIR}/hfiles"
RESTORED = f"{DIR}/restored"

BY_HFILES, BY_PUTS, BY_JAVA = "benchhfiles", "benchputs", "benchtsv"
SNAPSHOT = "benchsnapshot"
TASKS = 2  # tasks that LocalJobRunner runs at once

# The ratio to the peer that each work must reach.
REACH = {"hfile-load": 8, "hfile-put": 5, "hfile-server-cpu": 10, "snapshot": 5, "snapshot-filter": 5}


class Loads:
    """Lines on HDFS, and the tables that are loaded from them."""

    def __init__(self, c, lines, runs, rows, ratios, directory):
        self.cluster, self.lines, self.runs, self.rows, self.ratios = c, lines, runs, rows, ratios
        self.cells = lines * len(FIELDS)
        self.files = f"hdfs://{c.namenode}"
        self.job, self.out = os.path.join(directory, "lines.yaml"), os.path.join(directory, "out")
        os.environ["HADOOP_CONF_DIR"] = c.conf
        say(f"making {lines} lines")
        path = os.path.join(directory, "lines.tsv")
        clients.ours(c, "lines", path, lines)
        self.bytes = os.path.getsize(path)
        c.admin.ask("mkdir", os.path.dirname(LOG))
        measure.run([cluster.SCRIPT, "hadoop", "org.apache.hadoop.fs.FsShell", "-put", path, LOG])
        os.remove(path)
        with open(self.job, "w", encoding="utf-8") as f:
            f.write(self.job_text())

    def job_text(self):
        fields = "".join(f"      {name}: string\n" for name in FIELDS)
        return (
            f"logs:\n  path: {self.files}{DIR}/logs/{{date}}/{{behaviour}}.tsv\n"
            f"  format: tsv\n  names: [user_id, time, {', '.join(FIELDS)}]\n"
            f"time: {{column: time, format: epoch_ms}}\n"
            f"behaviours:\n  {BEHAVIOUR}:\n    id: 1\n    fields:\n{fields}"
        )

    def load(self):
        """Lines to a readable table, by each way in turns."""
        files, puts = Runs("load by HFiles, ours"), Runs("load by puts, ours")
        java = [Runs("load by HFiles, Java"), Runs("load by HFiles, ImportTsv alone"), Runs("load by HFiles, BulkLoadHFilesTool alone")]
        files_cpu, puts_cpu = [], []
        for n in range(self.runs):
            say(f"load, run {n + 1} of {self.runs}")
            for runs, r in zip(java, self.by_java()):
                runs.add(r)
            want = self.content(BY_JAVA)
            for mode, name, runs, cpu in ("hfile", BY_HFILES, files, files_cpu), ("put", BY_PUTS, puts, puts_cpu):
                r, used = self.by_us(mode, name)
                runs.add(r)
                cpu.append(used)
                must_equal(runs.name, self.content(name), want)
        self.rows += [files, puts, *java]
        self.ratios.append((
            "hfile-load", report.seconds(files.median()), report.seconds(java[0].median()),
            java[0].median() / files.median(), REACH["hfile-load"],
        ))
        self.compare("hfile-put", self.cells, files, puts)
        mine, theirs = sorted(files_cpu)[self.runs // 2], sorted(puts_cpu)[self.runs // 2]
        self.ratios.append(("hfile-server-cpu", f"{mine:.2f}s", f"{theirs:.2f}s", theirs / mine, REACH["hfile-server-cpu"]))

    def by_us(self, mode, name):
        """A load into a fresh table; its Run, and the CPU seconds of the RegionServers
        until all is on HDFS and they are at rest again."""
        self.fresh(name)
        self.cluster.admin.ask("rm", f"/usertrail/default/{name}")
        self.cluster.rest()
        before = self.cluster.servers_cpu()
        r = measure.run([
            command("bulkload"), "--job", self.job, "--from", DAY, "--to", DAY, "--mode", mode,
            "--table", self.table(name), "--quiet",
        ])
        self.cluster.admin.ask("flush", name)
        self.cluster.rest()
        used = self.cluster.servers_cpu() - before
        said = last_json(r.stdout)
        if said["loaded"] != self.lines or said["mode"] != mode:
            sys.exit(f"bench: bulkload loaded {said['loaded']} lines of {self.lines} by {said['mode']}")
        return r, used

    def by_java(self):
        """The whole, ImportTsv's part and BulkLoadHFilesTool's."""
        self.fresh(BY_JAVA)
        self.cluster.admin.ask("rm", HFILES)
        made = measure.run(cluster.tool(
            "org.apache.hadoop.hbase.mapreduce.ImportTsv",
            f"-Dimporttsv.columns=HBASE_ROW_KEY,HBASE_TS_KEY,{','.join(f'd:{name}' for name in FIELDS)}",
            f"-Dimporttsv.bulk.output={HFILES}",
            f"-Dmapreduce.input.fileinputformat.split.maxsize={self.bytes // TASKS + 1}",
            f"-Dmapreduce.local.map.tasks.maximum={TASKS}", f"-Dmapreduce.local.reduce.tasks.maximum={TASKS}",
            BY_JAVA, LOG,
        ))
        loaded = measure.run(cluster.tool("org.apache.hadoop.hbase.tool.BulkLoadHFilesTool", HFILES, BY_JAVA))
        whole = measure.Run(made.seconds + loaded.seconds, made.cpu + loaded.cpu, max(made.rss, loaded.rss), "")
        return whole, made, loaded

    def fresh(self, name):
        self.cluster.admin.fresh(name, "d", SPLITS, **FAMILY)

    def content(self, name):
        said = last_line(clients.ours(self.cluster, "content", name))
        if [said["rows"], said["cells"]] != [self.lines, self.cells]:
            sys.exit(f"bench: {name} has {said['rows']} rows and {said['cells']} cells of {self.lines} and {self.cells}")
        return [said["cells"], said["digest"]]

    def snapshot(self, loaded):
        """The table of HFiles, whole and three of its twenty fields."""
        if not loaded:
            self.by_us("hfile", BY_HFILES)
        self.cluster.admin.ask("snapshot", SNAPSHOT, BY_HFILES)
        for name, fields in ("snapshot", FIELDS), ("snapshot-filter", ASKED):
            prefixes = [f"{field}," for field in fields] if fields is ASKED else []
            mine, theirs = Runs(f"{name}, ours"), Runs(f"{name}, TableSnapshotScanner")
            for n in range(self.runs):
                say(f"{name}, run {n + 1} of {self.runs}")
                result, r = timed(clients.ours(self.cluster, "snapshot", f"{self.files}/hbase", SNAPSHOT, BY_HFILES, *prefixes))
                mine.add(r)
                said, r = timed(clients.java("snapshot", SNAPSHOT, RESTORED, *prefixes))
                theirs.add(r)
                must_equal(name, result, said)
            self.rows += [mine, theirs]
            self.compare(name, self.lines * len(fields), mine, theirs)
        self.extract()
        self.cluster.admin.ask("drop-snapshot", SNAPSHOT)

    def extract(self):
        """The snapshot as Parquet, which the peer does not make: a row without a
        ratio."""
        mine = Runs("snapshot, ours to Parquet")
        for n in range(self.runs):
            say(f"snapshot to Parquet, run {n + 1} of {self.runs}")
            remove(self.out)
            r = measure.run([
                command("extract"), "--table", self.table(BY_HFILES), "--users", "all", "--from", DAY, "--to", DAY,
                "--types", BEHAVIOUR, "--plan", "snapshot", "--snapshot", SNAPSHOT, "--out", self.out, "--quiet",
            ])
            mine.add(r)
            if last_json(r.stdout)["events"] != self.lines:
                sys.exit(f"bench: extract found {last_json(r.stdout)['events']} lines of {self.lines}")
        self.rows.append(mine)

    def table(self, name):
        return f"hbase://{self.cluster.zookeeper}/{name}"

    def compare(self, name, cells, mine, theirs):
        self.ratios.append((
            name, report.rate(cells, mine, "cells"), report.rate(cells, theirs, "cells"),
            theirs.median() / mine.median(), REACH[name],
        ))
