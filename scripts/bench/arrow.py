"""Results from Python: the Arrow stream of usertrail.extract_batches, and the same rows read
from Parquet parts on the disk by pyarrow. Both readers count the rows batch by batch."""

import os
import sys

import measure
import ours
import report
from data import BIN, FROM, ROOT, TO, TYPES, Data, remove, say

# The least speed of the stream, as a share of the speed of the parts.
SHARE = 0.8

# The memory limit of the larger of both processes, Python and extract, for any number of rows.
MOST_MEMORY = 512 << 20

STREAM = """
import usertrail
with usertrail.extract_batches({table!r}, start={start!r}, end={end!r}, types={types!r}, active="any", progress=False) as batches:
    print(sum(batch.num_rows for batch in batches))
"""

PARTS = """
import glob, pyarrow.parquet
print(sum(batch.num_rows for name in sorted(glob.glob({parts!r})) for batch in pyarrow.parquet.ParquetFile(name).iter_batches(32768)))
"""

# The start of an interpreter, before the first row. Its time is subtracted from both.
START = "import glob, pyarrow.parquet, usertrail"


def main(args):
    os.environ["USERTRAIL_BIN"] = BIN
    os.environ["PYTHONPATH"] = os.path.join(ROOT, "python", "src")
    data = Data(args.records, args.records // 50)
    data.make(for_peer=False)
    if not os.path.exists(os.path.join(data.table, "manifest.json")):
        say("loading the table")
        ours.load(data)
    say("extracting the parts")
    ours.extract(data, "all", "--active", "any")
    stream = STREAM.format(table=data.table, start=FROM, end=TO, types=TYPES)
    parts = PARTS.format(parts=ours.parts(data))
    runs = {"python-stream": measure.Runs("Arrow stream"), "python-parts": measure.Runs("Parquet parts"), "start": measure.Runs("start alone")}
    rows = set()
    for i in range(args.runs):
        for name, script in zip(runs, (stream, parts, START)):
            say(f"{name}, run {i + 1}")
            r = measure.run([sys.executable, "-c", script])
            runs[name].add(r)
            if name != "start":
                rows.add(int(r.stdout))
    remove(data.out)
    if len(rows) != 1:
        sys.exit(f"bench: the stream and the parts do not have equal numbers of rows: {rows}")
    return 0 if show(runs, rows.pop()) else 1


def show(runs, rows):
    print(report.machine() + "\n")
    report.table(runs.values())
    start = runs["start"].median()
    ours_s, peer_s = (runs[name].median() - start for name in ("python-stream", "python-parts"))
    fast = report.ratio("python-stream", f"{rows / ours_s:.0f}rows/s", f"{rows / peer_s:.0f}rows/s", peer_s / ours_s, SHARE)
    rss = runs["python-stream"].rss()
    return report.ratio("python-memory", report.megabytes(rss), report.megabytes(MOST_MEMORY), MOST_MEMORY / rss, 1) and fast
