"""What a record costs, and what memory it takes, the more records there are."""

import ours
import report
from data import Data, remove, say
from report import megabytes

SIZES = [1_000_000, 10_000_000]
RECORDS_PER_USER = 50

# Between runs on a shared machine this much is noise.
NOISE = 0.9

# What --memory allows where it is not given, and from which size on a load
# needs all that it will ever need.
LIMIT = 1 << 30
FULL = 10_000_000

WORKS = {
    "load": ours.load,
    "extract-1%": lambda data: ours.extract(data, "1%"),
    "extract-all": lambda data: ours.extract(data, "all"),
}


def main(args):
    sizes = sorted({*(n for n in SIZES if n < args.records), args.records})
    print(report.machine() + "\n")
    print("| records | work | s | us/record | cpu us/record | peak_rss MB |")
    print("|---:|---|---:|---:|---:|---:|")
    costs = [measure(n) for n in sizes]
    print()
    met = [line for work in WORKS for line in compare(work, costs)]
    return 0 if all(met) else 1


def measure(records):
    """Loads and extracts one size; the Run of each work by its name."""
    data = Data(records, records // RECORDS_PER_USER)
    data.make(for_peer=False)
    runs = {}
    for work, do in WORKS.items():
        say(f"{work}, {records} records")
        r = runs[work] = do(data)
        each = 1e6 / records
        print(f"| {records} | {work} | {r.seconds:.2f} | {r.seconds * each:.3f} | {r.cpu * each:.3f} | {r.rss / report.MB:.0f} |", flush=True)
    remove(data.out)
    return records, runs


def compare(work, costs):
    """The lines of one work: time a record and peak memory at the largest size,
    against those at the one before and against the limit."""
    (n, large) = costs[-1]
    now = large[work]
    yield report.ratio(f"scale-{work}-limit", megabytes(now.rss), megabytes(LIMIT), LIMIT / now.rss, 1)
    if len(costs) < 2:
        return
    (m, small) = costs[-2]
    before = small[work]
    yield report.ratio(f"scale-{work}-time", each(now, n), each(before, m), (before.seconds / m) / (now.seconds / n), NOISE)
    if m >= FULL:
        yield report.ratio(f"scale-{work}-memory", megabytes(now.rss), megabytes(before.rss), before.rss / now.rss, NOISE)


def each(r, records):
    return f"{r.seconds / records * 1e6:.3f}us"
