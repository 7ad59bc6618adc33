"""Measures usertrail, and peers that do the same work on the same data: DuckDB and
ClickHouse, or HBase's own client and tools.

    python scripts/bench compare [--records N] [--users N] [--runs N] [--only WORK,...]
    python scripts/bench scale   [--records N]
    python scripts/bench pieces  [--records N]
    python scripts/bench upkeep  [--records N] [--runs N]
    python scripts/bench hbase   [--rows N] [--runs N] [--only WORK,...]
    python scripts/bench secure  [--rows N] [--runs N]
    python scripts/bench arrow   [--records N] [--runs N]
    python scripts/bench layouts [--records N] [--each "N N .."] [--where files,hbase] [--layouts A,B..] [--asked N] [--json FILE] [--publish]

Each prints a table and then one line for each work:

    ratio NAME ours=… peer=… ratio=… reach=… ok|short

A higher ratio is better. It is the ratio of the medians. Runs of ours and of the peer
alternate. Every result is compared with the peer's result before its time counts. The data is
in bench/data. The data of compare, scale and pieces is kept, and used again for the same
parameters. hbase, secure and layouts start a cluster of their own on the loopback, and need
Java. layouts compares our layouts with each other, and has no peer. It prints tables. With
--publish it writes the tables and plots into the documents, and the figures into bulkload
advise.
"""

import argparse
import sys

import arrow
import compare
import hbase
import layouts
import pieces
import scale
import secure
import upkeep


def main():
    args = arguments()
    works = {"compare": compare.main, "arrow": arrow.main, "scale": scale.main, "pieces": pieces.main, "upkeep": upkeep.main, "hbase": hbase.main, "secure": secure.main, "layouts": layouts.main}
    return works[args.command](args)


def arguments():
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("compare", help="ours, DuckDB and ClickHouse, one table")
    one.add_argument("--records", type=int, default=10_000_000)
    one.add_argument("--users", type=int, default=200_000)
    one.add_argument("--runs", type=int, default=3)
    one.add_argument("--only", default="", help="some of: " + ", ".join(compare.WORKS))
    two = commands.add_parser("scale", help="time per record and peak memory, by the number of records")
    two.add_argument("--records", type=int, default=10_000_000, help="the largest size; 1 and 10 million are measured before it")
    ten = commands.add_parser("pieces", help="ten pieces with one worker and with two")
    ten.add_argument("--records", type=int, default=10_000_000)
    year = commands.add_parser("upkeep", help="a compacted table of a year of nights, and a table that was loaded by months")
    year.add_argument("--records", type=int, default=1_000_000)
    year.add_argument("--runs", type=int, default=5)
    rows = commands.add_parser("arrow", help="results from Python, as an Arrow stream and as Parquet parts")
    rows.add_argument("--records", type=int, default=5_000_000)
    rows.add_argument("--runs", type=int, default=3)
    three = commands.add_parser("hbase", help="HBase clients, loads and snapshots, ours and Java's")
    three.add_argument("--rows", type=int, default=100_000, help="rows of 20 cells, and random gets; five times as many lines are loaded")
    three.add_argument("--runs", type=int, default=3)
    three.add_argument("--only", default="", help="some of: " + ", ".join(hbase.WORKS))
    guarded = commands.add_parser("secure", help="our clients and Java's on a cluster with Kerberos")
    guarded.add_argument("--rows", type=int, default=100_000, help="rows of 20 cells, and random gets")
    guarded.add_argument("--runs", type=int, default=3)
    six = commands.add_parser("layouts", help="every layout, by the number of events per user")
    six.add_argument("--records", type=int, default=10_000_000)
    six.add_argument("--each", default="1 10 100 1000 10000", help="events per user, several numbers")
    six.add_argument("--where", default="", help="some of: " + ", ".join(layouts.WHERE))
    six.add_argument("--layouts", default="", help="some of: " + ", ".join(layouts.LAYOUTS))
    six.add_argument("--asked", type=int, default=300, help="number of queries of each name that is about one user")
    six.add_argument("--json", default="", help="file of the figures; figures that it has for the same number of records are not measured again")
    six.add_argument("--dir", default="", help="folder of the data during the run (default bench/data/layouts)")
    six.add_argument("--publish", action="store_true", help="write docs/explanation/layouts.md, its plots, and the figures of bulkload advise")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
