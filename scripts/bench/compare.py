"""Compares usertrail, DuckDB and ClickHouse in each work."""

import sys

import clickhouse
import conditions
import ours
import peer
import report
from conditions import CONDITIONS
from data import TYPES, Data, remove, say, size
from measure import Runs

# The factor by which ours must be faster than each peer.
REACH_LOAD = {"DuckDB": 2.4, "ClickHouse inserted": 1.2, "ClickHouse merged": 4}
REACH_EXTRACT = {
    "0.1%": {"DuckDB daily": 20, "ClickHouse merged": 4},
    "1%": {"DuckDB daily": 5, "DuckDB sorted": 3, "ClickHouse merged": 5},
    "all": {"DuckDB daily": 3, "ClickHouse merged": 2},
}
# The same for each condition over all users, against the fastest peer.
REACH_CONDITION = {"where": 2, "having": 3, "without": 3, "sequence": 3.5}

# Benchmarks of one core, and the millions of cells a second that they must reach.
HFILE = {
    "hfile-write": ("BenchmarkAdd/cells=2e6/fast_diff/row/snappy", 12),
    "hfile-read": ("BenchmarkScan/cells=2e6/fast_diff/row/snappy", 45),
}

LIST = 0.030  # seconds of an extract of 0.1% of the users, process start included
SHOW, SCREENS = 0.020, 300  # seconds in which 99 of 100 screens must be complete

# A table with compression zstd: the megabytes of 10 million records, and the ratio of the load times
# of zstd and snappy.
ZSTD_MB, ZSTD_TIME = 600, 1.25

WORKS = ["load", "zstd", *HFILE, *(f"extract-{share}" for share in REACH_EXTRACT), *CONDITIONS, "rolls", "show"]


def main(args):
    wanted = args.only.split(",") if args.only else WORKS
    unknown = [w for w in wanted if w not in WORKS]
    if unknown:
        sys.exit(f"bench: no such work: {', '.join(unknown)}: the works are {', '.join(WORKS)}")
    data = Data(args.records, args.users)
    data.make(clickhouse=True)
    print(f"{report.machine()}; DuckDB {peer.version()} and ClickHouse {clickhouse.version()}, {peer.THREADS} threads each")
    print(f"{data.records} records, {data.users} users, {data.log_bytes() / 1e9:.2f} GB of csv, {args.runs} runs\n", flush=True)

    rows, ratios = [], []
    load(data, args.runs if "load" in wanted else 0, rows, ratios)
    if "zstd" in wanted:
        zstd(data, args.runs, rows, ratios)
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
    report.sizes({
        "ours": size(data.table), "DuckDB sorted": size(data.sorted), "DuckDB daily": size(data.daily),
        **{f"ClickHouse {state}": clickhouse.size(data.merge_tree(state)) for state in clickhouse.STATES},
    })
    met = [report.ratio(*r) for r in ratios]
    remove(data.out)
    remove(data.peer_out)
    return 0 if all(met) else 1


def load(data, runs, rows, ratios):
    """Loads the csv into a table, into a sorted Parquet file, and into a MergeTree. Without runs it
    only makes the table for the extracts, and measures nothing."""
    if not runs:
        ours.load(data)
        return
    mine, theirs = Runs("load, ours"), {name: Runs(f"load, {name}") for name in REACH_LOAD}
    want = peer.digest(data.sorted, zoned=False)
    for n in range(runs):
        say(f"load, run {n + 1} of {runs}")
        mine.add(ours.load(data))
        theirs["DuckDB"].add(peer.run(peer.load(data.logs, data.peer_out)))
        must_equal("sorted Parquet", peer.digest(data.peer_out, zoned=False), want)
        for state in clickhouse.STATES:
            remove(data.merge_tree(state))
            theirs[f"ClickHouse {state}"].add(clickhouse.load(data.merge_tree(state), data.logs, state))
            clickhouse.run(data.merge_tree(state), clickhouse.everything(data.peer_out))
            must_equal(f"ClickHouse {state}", peer.digest(data.peer_out, zoned=False), want)
            remove(data.peer_out)
    ours.extract(data, "all", "--active", "any")
    must_equal("the table", peer.digest(ours.parts(data), zoned=True), want)
    rows += [mine, *theirs.values()]
    for name, reach in REACH_LOAD.items():
        ratios.append(ratio("load", mine, name, theirs[name], reach))


def zstd(data, runs, rows, ratios):
    """Measures the time of a load with compression zstd and the size of its table."""
    packed, plain = Runs("load, ours with zstd"), Runs("load, ours with snappy")
    for n in range(runs):
        say(f"zstd, run {n + 1} of {runs}")
        packed.add(ours.load(data, compression="zstd"))
        megabytes = size(data.table) / 1e6
        plain.add(ours.load(data))
    rows += [packed, plain]
    want = ZSTD_MB * data.records / 10_000_000
    ratios.append(("zstd-time", report.seconds(packed.median()), report.seconds(plain.median()), ZSTD_TIME * plain.median() / packed.median(), 1))
    ratios.append(("zstd-size", f"{megabytes:.0f}MB", "none", want / megabytes, 1))


def hfile(name, benchmark, reach, runs, rows, ratios):
    """Runs a Go benchmark, which has a figure to reach and no peer."""
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
    """Compares an extract of a list of users, or of all, with each form of a peer's data."""
    users, out = data.list(share), data.peer_out
    sources = {"daily": peer.from_daily(data.daily), "sorted": peer.from_sorted(data.sorted), "csv": peer.from_csv(data.logs)}
    works = {
        f"DuckDB {name}": lambda name=name, source=source: peer.run(peer.extract(source, users, out, keep=name == "csv"))
        for name, source in sources.items()
    }
    works.update(on_merge_trees(data, clickhouse.extract(users, out)))
    mine = Runs(f"extract {share}, ours")
    theirs = {name: Runs(f"extract {share}, {name}") for name in works}
    for n in range(runs):
        say(f"extract {share}, run {n + 1} of {runs}")
        mine.add(ours.extract(data, share))
        result = peer.digest(ours.parts(data), zoned=True)
        for name, work in works.items():
            theirs[name].add(work())
            must_equal(f"extract {share}, {name}", result, peer.digest(out, zoned=False))
    rows += [mine, *theirs.values()]
    for name, reach in REACH_EXTRACT[share].items():
        ratios.append(ratio(f"extract-{share}", mine, name, theirs[name], reach))
    if share == "0.1%":
        ratios.append(("extract-0.1%-process", report.seconds(mine.median()), "none", LIST / mine.median(), 1))


def condition(data, name, c, runs, rows, ratios):
    """Compares a condition over all users with the same condition in SQL."""
    works = {"DuckDB daily": lambda: peer.run(conditions.sql(c, peer.from_daily(data.daily), data.peer_out))}
    works.update(on_merge_trees(data, clickhouse.extract(None, data.peer_out, c.types, c.rows, c.clickhouse)))
    mine, theirs = Runs(f"{name}, ours"), {who: Runs(f"{name}, {who}") for who in works}
    for n in range(runs):
        say(f"{name}, run {n + 1} of {runs}")
        mine.add(ours.extract(data, "all", *c.flags, types=c.types))
        result = peer.digest(ours.parts(data), True, c.types)
        for who, work in works.items():
            theirs[who].add(work())
            must_equal(f"{name}, {who}", result, peer.digest(data.peer_out, False, c.types))
    rows += [mine, *theirs.values()]
    best = min(theirs, key=lambda who: theirs[who].median())
    ratios.append(ratio(name, mine, best, theirs[best], REACH_CONDITION[name]))


def on_merge_trees(data, statement):
    """Returns the runs of a statement, one for each state of ClickHouse's table."""
    return {f"ClickHouse {state}": lambda state=state: clickhouse.run(data.merge_tree(state), statement) for state in clickhouse.STATES}


def rolls(data, runs, rows, ratios):
    """Compares an extract of a list of users with the rolls, and without them."""
    with_rolls, without = Runs("extract 1%, with rolls"), Runs("extract 1%, without rolls")
    for n in range(runs):
        say(f"rolls, run {n + 1} of {runs}")
        with_rolls.add(ours.extract(data, "1%"))
        result = peer.digest(ours.parts(data), zoned=True)
        without.add(ours.extract(data, "1%", "--rolls", "off"))
        must_equal("extract 1% without rolls", peer.digest(ours.parts(data), zoned=True), result)
    rows += [with_rolls, without]
    ratios.append(("rolls", report.seconds(with_rolls.median()), report.seconds(without.median()), without.median() / with_rolls.median(), 1))


def show(data, rows, ratios):
    """Measures screens of users who are drawn evenly. The time of ours includes the start of the
    process. ClickHouse has one process for all screens."""
    with open(data.list("0.1%"), encoding="utf-8") as f:
        users = f.read().split()
    say(f"{SCREENS} screens")
    asked = [users[n % len(users)] for n in range(SCREENS)]
    screens = Runs("show, a screen")
    for user in asked:
        screens.add(ours.show(data, user))
    rows.append(screens)
    theirs = clickhouse.each(data.merge_tree("merged"), [clickhouse.screen(user) for user in asked])
    slow, peers = p99([r.seconds for r in screens.all]), p99(theirs)
    ratios.append(("show-p99", report.seconds(slow), f"{report.seconds(peers)}(ClickHouse merged)", SHOW / slow, 1))


def p99(seconds):
    return sorted(seconds)[len(seconds) * 99 // 100]


def ratio(work, mine, name, theirs, reach):
    """Returns the arguments of report.ratio for one peer."""
    who = name.lower().replace(" ", "-")
    return f"{work}-{who}", report.seconds(mine.median()), report.seconds(theirs.median()), theirs.median() / mine.median(), reach


def must_equal(what, mine, theirs):
    """Ends the benchmark if results differ: a wrong result has no speed."""
    if mine != theirs:
        sys.exit(f"bench: {what}: users, rows and hash are {mine}, and the peer has {theirs}")
