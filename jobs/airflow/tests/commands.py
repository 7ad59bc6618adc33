"""Runs commands of Airflow one after another in this process, which imports Airflow once.

    commands.py '[["db", "migrate"], ["dags", "test", "usertrail_backfill"]]'

A command that fails ends the process, and the others do not run.
"""

import json
import sys


def run(*commands):
    from airflow.cli import cli_parser

    parser = cli_parser.get_parser()
    for command in commands:
        args = parser.parse_args(command)
        args.func(args)


if __name__ == "__main__":
    run(*json.loads(sys.argv[1]))
