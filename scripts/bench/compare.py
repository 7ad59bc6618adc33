"""Ours and DuckDB, work by work."""

import sys

import conditions
import ours
import peer
import report
from conditions import CONDITIONS
from data import Data, remove, say
from measure import Runs

# How many times as fast as the peer each work has to be.
REACH_LOAD = 1.8
REACH_EXTRACT = {
    "0.1%": {"daily": 20},
    "1%": {"daily": 5, "sorted": 3},
    "all": {"daily": 1.8},
}

# Benchmarks of one core, and the millions of cells a second they have to reach.
HFILE = {
    "hfile-write": ("BenchmarkAdd/cells=2e6/fast_diff/row/snappy", 6),
    "hfile-read": ("BenchmarkScan/cells=2e6/fast_diff/row/snappy", 25),
}

# Each condition over all users, on daily Parquet.
REACH_CONDITION = 1.5

# Seconds within which 99 of 100 screens stand.
SHOW, SCREENS = 0.050, 300

WORKS = ["load", *HFILE, *(f"extract-{share}" for share in REACH_EXTRACT), *CONDITIONS, "rolls", "show"]


def main(args):
    wanted = args.only.split(",") if args.only else WORKS
    unknown = [w for w in wanted if w not in WORKS]
    if unknown:
        sys.exit(f"bench: no such work: {', '.join(unknown)}; there are {', '.join(WORKS)}")
    data = Data(args.records, args.users)
    data.make()
    print(f"{report.machine()}; DuckDB {peer.version()}, {peer.THREADS} threads")
    print(f"{data.records} records, {data.users} users, {data.log_bytes() / 1e9:.2f} GB of csv, {args.runs} runs\n", flush=True)

    rows, ratios = [], []
    load(data, args.runs if "load" in wanted else 0, rows, ratios)
    for name, (benchmark, reach) in HFILE.items():
        if name in wanted:
            hfile(name, benchmark, reach, args.runs, rows, ratios)
    for share in REACH_EXTRACT:
        if f"extract-{share}" in wanted:
            extract(data, share, args.runs, rows, ratios)
    for name, c in CONDITIONS.items():
        if name in wanted:
            condition(data, name, c, args.runs, rows, ratios)
    if "rolls" in wanted:
        rolls(data, args.runs, rows, ratios)
    if "show" in wanted:
        show(data, rows, ratios)
    report.table(rows)
    met = [report.ratio(*r) for r in ratios]
    remove(data.out)
    remove(data.peer_out)
    return 0 if all(met) else 1


def load(data, runs, rows, ratios):
    """The csv into a table, and into a sorted Parquet. Without runs the table is
    made for the extracts, and not measured."""
    mine, theirs = Runs("load, ours"), Runs("load, DuckDB csv to sorted Parquet")
    for n in range(runs):
        say(f"load, run {n + 1} of {runs}")
        mine.add(ours.load(data))
        theirs.add(peer.run(peer.load(data.logs, data.peer_out)))
        must_equal("sorted Parquet", peer.digest(data.peer_out, zoned=False), peer.digest(data.sorted, zoned=False))
    if not runs:
        ours.load(data)
        return
    ours.extract(data, "all", "--active", "any")
    must_equal("the table", peer.digest(ours.parts(data), zoned=True), peer.digest(data.sorted, zoned=False))
    rows += [mine, theirs]
    ratios.append(("load", report.seconds(mine.median()), report.seconds(theirs.median()), theirs.median() / mine.median(), REACH_LOAD))


def hfile(name, benchmark, reach, runs, rows, ratios):
    """A benchmark of our own, which has a figure to reach and no peer."""
    mine, rates = Runs(f"{name}, go test"), []
    for n in range(runs):
        say(f"{name}, run {n + 1} of {runs}")
        rate, r = ours.hfile(benchmark)
        mine.add(r)
        rates.append(rate)
    rate = sorted(rates)[len(rates) // 2]
    rows.append(mine)
    ratios.append((name, f"{rate:.2f}Mcells/s", "none", rate, reach))


def extract(data, share, runs, rows, ratios):
    """A list of users, or all, against each form in which the peer has the data."""
    sources = {"daily": peer.from_daily(data.daily), "sorted": peer.from_sorted(data.sorted), "csv": peer.from_csv(data.logs)}
    mine = Runs(f"extract {share}, ours")
    theirs = {name: Runs(f"extract {share}, DuckDB {name}") for name in sources}
    for n in range(runs):
        say(f"extract {share}, run {n + 1} of {runs}")
        mine.add(ours.extract(data, share))
        answer = peer.digest(ours.parts(data), zoned=True)
        for name, source in sources.items():
            theirs[name].add(peer.run(peer.extract(source, data.list(share), data.peer_out, keep=name == "csv")))
            must_equal(f"extract {share}, {name}", answer, peer.digest(data.peer_out, zoned=False))
    rows += [mine, *theirs.values()]
    for name, reach in REACH_EXTRACT[share].items():
        ratios.append((
            f"extract-{share}-{name}", report.seconds(mine.median()), report.seconds(theirs[name].median()),
            theirs[name].median() / mine.median(), reach,
        ))


def condition(data, name, c, runs, rows, ratios):
    """A condition over all users against the same in SQL."""
    mine, theirs = Runs(f"{name}, ours"), Runs(f"{name}, DuckDB daily")
    for n in range(runs):
        say(f"{name}, run {n + 1} of {runs}")
        mine.add(ours.extract(data, "all", *c.flags, types=c.types))
        theirs.add(peer.run(conditions.sql(c, peer.from_daily(data.daily), data.peer_out)))
        must_equal(name, peer.digest(ours.parts(data), True, c.types), peer.digest(data.peer_out, False, c.types))
    rows += [mine, theirs]
    ratios.append((name, report.seconds(mine.median()), report.seconds(theirs.median()), theirs.median() / mine.median(), REACH_CONDITION))


def rolls(data, runs, rows, ratios):
    """A list of users with the rolls, and by the rows alone."""
    with_rolls, without = Runs("extract 1%, with rolls"), Runs("extract 1%, without rolls")
    for n in range(runs):
        say(f"rolls, run {n + 1} of {runs}")
        with_rolls.add(ours.extract(data, "1%"))
        answer = peer.digest(ours.parts(data), zoned=True)
        without.add(ours.extract(data, "1%", "--rolls", "off"))
        must_equal("extract 1% without rolls", peer.digest(ours.parts(data), zoned=True), answer)
    rows += [with_rolls, without]
    ratios.append(("rolls", report.seconds(with_rolls.median()), report.seconds(without.median()), without.median() / with_rolls.median(), 1))


def show(data, rows, ratios):
    """Screens of users drawn evenly, process start included."""
    with open(data.list("0.1%"), encoding="utf-8") as f:
        users = f.read().split()
    say(f"{SCREENS} screens")
    screens = Runs("show, a screen")
    for n in range(SCREENS):
        screens.add(ours.show(data, users[n % len(users)]))
    rows.append(screens)
    slow = sorted(r.seconds for r in screens.all)[SCREENS * 99 // 100]
    ratios.append(("show-p99", report.seconds(slow), "none", SHOW / slow, 1))


def must_equal(what, mine, theirs):
    """Ends the benchmark where answers differ: a wrong answer has no speed."""
    if mine != theirs:
        sys.exit(f"bench: {what}: users, rows and hash are {mine}, the peer's are {theirs}")
