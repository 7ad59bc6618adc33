"""Counts users and events of queries with DuckDB, in the real logs as they were delivered.

    counts.py journey|launch FOLDER QUERIES

QUERIES is a list of JSON objects. It is printed again, with the counts in it.
"""

import json
import sys

import duckdb

WHERE = {
    "journey": ("{folder}/*/{behaviour}.csv.gz", "household_id", "time"),
    "launch": ("{folder}/{behaviour}/*.csv.gz", "player", "day"),
}


def events(db, where, folder, behaviours):
    """Makes the table of users, days and behaviours from the files."""
    path, user, time = WHERE[where]
    db.execute("create table events (who varchar, day date, what varchar)")
    for b in behaviours:
        db.execute(
            f"insert into events select {user}, left({time}, 10)::date, ? from read_csv(?, header=true, all_varchar=true)",
            [b, path.format(folder=folder, behaviour=b)],
        )


def count(db, q):
    least = {"all": len(q["types"]), "any": 1}.get(q["active"]) or int(q["active"].removeprefix("min:"))
    q["found"], q["active_users"], q["events"] = db.execute(
        """
        with did as (
            select who, count(*) as n, count(distinct what) as kinds from events
            where day between ?::date and ?::date and list_contains(?, what) group by who
        )
        select count(*), count(*) filter (kinds >= ?), coalesce(sum(n) filter (kinds >= ?), 0)::bigint from did
        """,
        [q["from"], q["to"], q["types"], least, least],
    ).fetchone()
    return q


where, folder, queries = sys.argv[1:]
queries = json.loads(queries)
db = duckdb.connect()
events(db, where, folder, sorted({b for q in queries for b in q["types"]}))
print(json.dumps([count(db, q) for q in queries]))
