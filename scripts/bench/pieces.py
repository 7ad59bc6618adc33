"""Does ten pieces with one worker and with two, as xargs -P does."""

import concurrent.futures
import filecmp
import json
import os
import subprocess
import sys
import time

import ours
import peer
import report
from data import TYPES, Data, command, remove, say
from measure import Run

PIECES = 10
RECORDS_PER_USER = 50

# Two workers on two cores. The plan and the commit have one process.
REACH = 1.8


def main(args):
    data = Data(args.records, args.records // RECORDS_PER_USER)
    data.make()
    print(report.machine() + "\n")
    print(f"| {data.records} records, {PIECES} pieces | workers | s | cpu s | peak_rss MB | plan s | commit s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    works = {"load": load, "extract": extract}
    runs = {name: {workers: work(data, workers) for workers in (1, 2)} for name, work in works.items()}
    print()
    met = [
        report.ratio(f"pieces-{name}", report.seconds(r[2].seconds), report.seconds(r[1].seconds), r[1].seconds / r[2].seconds, REACH)
        for name, r in runs.items()
    ]
    remove(data.out)
    return 0 if all(met) else 1


def load(data, workers):
    """Loads all days into a new table."""
    remove(data.table)
    flags = ["--job", data.job, *ours.SPAN, "--table", data.table, "--piece-size", str(data.log_bytes() // PIECES)]
    r = by_pieces("bulkload", flags, workers)
    want = peer.digest(data.sorted, zoned=False)
    ours.extract(data, "all", "--active", "any")
    got = peer.digest(ours.parts(data), zoned=True)
    if got != want:
        sys.exit(f"bench: the table of {workers} workers has {got}, the logs have {want}")
    return r


def extract(data, workers):
    """Extracts all events of the table in pieces, and in one process."""
    size = ["--piece-size", str(data.records // PIECES)]
    flags = ["--table", data.table, "--users", "all", *ours.SPAN, "--types", ",".join(TYPES), "--active", "any", *size]
    whole = data.out + ".whole"
    remove(whole)
    ours.extract(data, "all", "--active", "any", *size)
    os.rename(data.out, whole)
    r = by_pieces("extract", [*flags, "--out", data.out], workers)
    different = differences(whole, data.out)
    if different:
        sys.exit(f"bench: the result of {workers} workers differs from the result of one process: {', '.join(different)}")
    remove(whole)
    return r


def differences(a, b):
    """Returns the parts that differ between two results. Manifests are not compared: they may differ
    in the cost of the extract."""
    names = sorted({n for n in os.listdir(a) + os.listdir(b) if n.startswith("part-")})
    _, mismatch, errors = filecmp.cmpfiles(a, b, names, shallow=False)
    return mismatch + errors


def by_pieces(program, flags, workers):
    """Plans, does each piece in a process of one thread, and commits."""
    say(f"{program}, {workers} workers")
    begin = time.monotonic()
    plan = subprocess.run([command(program), "plan", *flags], stdout=subprocess.PIPE, text=True, check=True)
    planned = time.monotonic()
    pieces = [line for line in plan.stdout.splitlines() if line]
    if not PIECES / 2 <= len(pieces) <= PIECES * 2:
        sys.exit(f"bench: {program} plan made {len(pieces)} pieces, not about {PIECES}")
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        usages = list(pool.map(lambda piece: one(program, piece), pieces))
    done = time.monotonic()
    commit = subprocess.run([command(program), "commit"], input=plan.stdout, stdout=subprocess.PIPE, text=True, check=True)
    end = time.monotonic()
    json.loads(commit.stdout.splitlines()[-1])
    r = Run(end - begin, sum(u.ru_utime + u.ru_stime for u in usages), max(u.ru_maxrss for u in usages) * 1024, commit.stdout)
    print(f"| {program} | {workers} | {r.seconds:.2f} | {r.cpu:.2f} | {r.rss / report.MB:.0f} | {planned - begin:.2f} | {end - done:.2f} |", flush=True)
    return r


def one(program, piece):
    """Does one piece. Returns its resource usage."""
    process = subprocess.Popen(
        [command(program), "run-piece", "--workers", "1", "--quiet"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env={**os.environ, "GOMAXPROCS": "1"},
    )
    with process.stdin as text:
        text.write(piece + "\n")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {program} run-piece: status {process.returncode}")
    return usage
