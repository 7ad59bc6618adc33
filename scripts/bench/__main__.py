"""Measures usertrail, and DuckDB doing the same work on the same data.

    python scripts/bench compare [--records N] [--users N] [--runs N] [--only WORK,...]
    python scripts/bench scale   [--records N]

compare prints a table and then, for each work, one line:

    ratio NAME ours=… peer=… ratio=… reach=… ok|short

A ratio is so that more is better. It is of medians; runs of ours and the peer's
take turns. Every answer is compared with the peer's before its time counts. Data
lies in bench/data and is kept while the parameters are the same.
"""

import argparse
import sys

import compare
import scale


def main():
    args = arguments()
    work = compare.main if args.command == "compare" else scale.main
    return work(args)


def arguments():
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("compare", help="ours and DuckDB, one table")
    one.add_argument("--records", type=int, default=10_000_000)
    one.add_argument("--users", type=int, default=200_000)
    one.add_argument("--runs", type=int, default=3)
    one.add_argument("--only", default="", help="some of: " + ", ".join(compare.WORKS))
    two = commands.add_parser("scale", help="what a record costs, the more there are")
    two.add_argument("--records", type=int, default=10_000_000, help="the largest size; 1 and 10 million come before")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
