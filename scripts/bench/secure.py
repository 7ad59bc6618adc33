"""Compares our clients with Java's on a cluster with Kerberos and privacy, the CPU of gets with
Kerberos and without, and the encryption of tokens with gokrb5's."""

import os
import re

import clients
import cluster
import hbase
import measure
import report
from clients import must_equal, timed
from data import ROOT, say
from measure import Runs
from report import rate

# The ratio to the peer that each work must reach.
REACH = {"get": 1.5, "scan": 1.5, "hdfs-write": 1, "hdfs-read": 1, "seal": 4, "open": 4}
GET_CPU = 1.1  # the largest ratio of the CPU of a get with authentication and without Kerberos

MIB = 64  # size of the file on HDFS; Java writes about 4 MiB per second with privacy and without AES
TOKEN = 300_000  # bytes
PRIVACY = {"CLUSTER_SECURE": "yes", "CLUSTER_PROTECTION": "privacy", "CLUSTER_AES": "no", "CLUSTER_TLS": "no"}


def main(args):
    print(report.machine() + "\n", flush=True)
    rows, ratios = [], []
    with cluster.Cluster(**PRIVACY) as c:
        os.environ["HADOOP_CONF_DIR"] = c.conf
        b = hbase.Bench(c, args.rows, args.runs, rows, ratios, REACH)
        b.put(False)
        b.get()
        b.scan()
        hdfs(c, args.runs, rows, ratios)
    get_cpu(args, rows, ratios)
    tokens(args.runs, ratios)
    report.table(rows)
    met = [report.ratio(*r) for r in ratios]
    return 0 if all(met) else 1


def hdfs(c, runs, rows, ratios):
    """Measures writing and reading a file."""
    name = f"hdfs://{c.namenode}/test/bench"
    for work, args in ("write", [MIB]), ("read", []):
        mine, theirs = Runs(f"HDFS {work}, ours"), Runs(f"HDFS {work}, Java")
        for n in range(runs):
            say(f"HDFS {work}, run {n + 1} of {runs}")
            result, r = timed(clients.ours(c, work, name, *args))
            mine.add(r)
            said, r = timed(clients.java(work, name, *args, program="Files.java"))
            theirs.add(r)
            must_equal(theirs.name, result, said)
        rows += [mine, theirs]
        ratios.append((f"hdfs-{work}", rate(MIB, mine, "MiB"), rate(MIB, theirs, "MiB"), theirs.median() / mine.median(), REACH[f"hdfs-{work}"]))


def get_cpu(args, rows, ratios):
    """Measures the same gets on a cluster with authentication and on a cluster without Kerberos."""
    used, results = {}, {}
    for name, settings in ("authentication", PRIVACY | {"CLUSTER_PROTECTION": "authentication"}), ("no Kerberos", {"CLUSTER_SECURE": "no"}):
        used[name] = Runs(f"get, ours, {name}")
        with cluster.Cluster(**settings) as c:
            os.environ["HADOOP_CONF_DIR"] = c.conf
            b = hbase.Bench(c, args.rows, args.runs, rows, ratios, REACH)
            b.put(False)
            for n in range(args.runs):
                say(f"{used[name].name}, run {n + 1} of {args.runs}")
                results[name], r = b.ours("get", hbase.TABLE, args.rows, args.rows, hbase.BATCH)
                used[name].add(r)
    must_equal("get without Kerberos", results["authentication"], results["no Kerberos"])
    rows += used.values()
    secured, plain = (used[name].cpu() for name in ("authentication", "no Kerberos"))
    ratios.append(("get-cpu-authentication", f"{secured:.2f}s", f"{plain:.2f}s", plain / secured, 1 / GET_CPU))


def tokens(runs, ratios):
    """Measures the megabytes that one core seals and opens in a second."""
    say("sealing and opening tokens")
    r = measure.run(
        ["go", "test", "-run", "^$", "-cpu", "1", "-count", str(runs), "-bench", f"SealAndOpen/././bytes={TOKEN}", "./internal/store/secure/etype"], cwd=ROOT
    )
    best = {}
    for work, who, speed in re.findall(rf"SealAndOpen/(\w+)/(\w+)/bytes={TOKEN}\s.*?([0-9.]+) MB/s", r.stdout):
        best[work, who] = max(best.get((work, who), 0), float(speed))
    for work in "seal", "open":
        mine, theirs = best[work, "ours"], best[work, "gokrb5"]
        ratios.append((work, f"{mine:.0f}MB/s", f"{theirs:.0f}MB/s", mine / theirs, REACH[work]))
