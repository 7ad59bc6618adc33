"""Measures time per record and peak memory by the number of records."""

import ours
import report
from data import Data, remove, say
from report import megabytes

SIZES = [1_000_000, 10_000_000]
RECORDS_PER_USER = 50

# On a shared machine, runs differ by this factor.
NOISE = 0.9

# The default of --memory, and the number of records from which on a load needs its largest memory.
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
    """Loads and extracts one number of records. Returns the Run of each work by its name."""
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
    """Prints the ratios of one work. Time per record and peak memory at the largest size are compared
    with the size before. Peak memory is also compared with the limit."""
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
