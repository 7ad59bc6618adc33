"""The queries that run on tables of every layout, and DuckDB's results over the logs.
The queries are drawn at random, and are the same in each run."""

import datetime
import json
import os
import random

import peer
from data import TYPES

NAMES = {
    "at": "at a time",
    "user": "all events of a user",
    "latest": "latest 10",
    "days": "ten days of a user",
    "list": "1% of the users, all four behaviours",
    "span": "one hour of all users",
}

# The number of queries of each name that is about many users.
OF_MANY = 3

LATEST, DAYS, SHARE = 10, 10, 100
ZONE_US = 8 * 3600 * 1_000_000  # Shanghai's, which has no summer time


def write(path, logs, users, dates, of_one):
    """Writes the queries to path, one on each line: of_one of each name that is about one
    user, and OF_MANY of the others. The logs have so many users. The lists of users that the
    queries name are files next to path."""
    dice = random.Random(1)
    known = draw(logs, max(OF_MANY * (users // SHARE), of_one))
    single = known[:of_one]
    lists = []
    for n in range(OF_MANY):
        size = max(users // SHARE, 1)
        some = [known[(n * size + i) % len(known)] for i in range(size)]
        lists.append(f"{path}.users-{n}.txt")
        with open(lists[-1], "w", encoding="utf-8") as f:
            f.writelines(user + "\n" for user in sorted(set(some)))
    first, last = dates[0], dates[-1]
    with open(path, "w", encoding="utf-8") as f:
        def put(name, n, **what):
            f.write(json.dumps({"name": name, "query": n, **what}) + "\n")

        for name in "at", "user", "latest", "days":
            for n in range(of_one):
                user = dice.choice(single)
                if name == "at":
                    put(name, n, user=user, at=moment(dice.choice(dates), dice.randrange(86400)))
                elif name == "user":
                    put(name, n, user=user)
                elif name == "latest":
                    put(name, n, user=user, latest=LATEST)
                else:
                    d = dice.randrange(len(dates) - DAYS + 1)
                    put(name, n, user=user, types=TYPES, **{"from": dates[d], "to": dates[d + DAYS - 1]})
        for n, users_file in enumerate(lists):
            put("list", n, users=users_file, types=TYPES, active="all", **{"from": first, "to": last})
        for n in range(OF_MANY):
            day, hour = dice.choice(dates), dice.randrange(24)
            put("span", n, users="all", types=["play"], active="any", hours=f"{hour}-{hour + 1}", **{"from": day, "to": day})


def moment(date, second):
    """Microseconds since 1970 UTC of a second of a day in Shanghai."""
    midnight = datetime.datetime.fromisoformat(date + "T00:00:00+00:00").timestamp()
    return (int(midnight) + second) * 1_000_000 - ZONE_US


def draw(logs, n):
    """Some users of the logs, the same ones in each run, in no order."""
    path = os.path.join(os.path.dirname(logs), "drawn.txt")
    peer.write_list(logs, n, path)
    with open(path, encoding="utf-8") as f:
        return f.read().split()


def wrong(path, logs, results, last):
    """The names of queries whose results, as layoutbench wrote them, differ from DuckDB's
    results over the logs up to the day last."""
    names = []
    for name in NAMES:
        mine, theirs = written(os.path.join(results, name + ".jsonl")), expected(path, logs, name, last)
        row = peer.ask(f"SELECT * FROM ({digest(mine)}), ({digest(theirs)})")
        if row[:2] != row[2:]:
            names.append(name)
    return names


def digest(rows):
    """SQL for the number of rows and the sum of their hashes."""
    values = ", ".join(["query", "user_id", "time", "behaviour", *peer.fields(TYPES)])
    return f"SELECT count(*), sum(hash({values})::HUGEINT)::VARCHAR FROM ({rows})"


def written(path):
    """SQL for the results that layoutbench wrote, in local time as the logs."""
    columns = {"query": "BIGINT", "user_id": "VARCHAR", "time": "TIMESTAMP", "behaviour": "VARCHAR"}
    for kind in TYPES:
        columns.update(peer.COLUMNS[kind])
    return f"SELECT * REPLACE (time + INTERVAL {ZONE_US} MICROSECOND AS time) FROM read_json({peer.quote(path)}, format='newline_delimited', columns={columns})"


def expected(path, logs, name, last):
    """SQL for the results over the logs. Records of one moment are in the order of their
    behaviours, and then in the order of the file."""
    kinds = " UNION ALL BY NAME ".join(
        f"SELECT '{kind}' AS behaviour, {k} AS kind, row_number() OVER () AS line, * FROM ({peer.csv_of(logs, kind)})"
        for k, kind in enumerate(TYPES)
    )
    columns = {
        "name": "VARCHAR", "query": "BIGINT", "user": "VARCHAR", "at": "BIGINT", "latest": "BIGINT", "from": "DATE", "to": "DATE",
        "users": "VARCHAR", "hours": "VARCHAR",
    }
    q = f"SELECT * FROM read_json({peer.quote(path)}, format='newline_delimited', columns={columns}) WHERE name = '{name}'"
    e = f"SELECT * FROM ({kinds}) WHERE time < DATE '{last}' + INTERVAL 1 DAY"
    return f"WITH q AS ({q}), e AS ({e}) {joined(name, path)}"


def joined(name, path):
    """SQL that joins the queries q with the records e."""
    one = "SELECT * FROM e JOIN q ON e.user_id = q.\"user\""
    if name == "at":
        return f"""{one} WHERE epoch_us(time) - {ZONE_US} <= "at"
            QUALIFY row_number() OVER (PARTITION BY query, behaviour ORDER BY time DESC, line DESC) = 1"""
    if name == "user":
        return one
    if name == "latest":
        return f"{one} QUALIFY row_number() OVER (PARTITION BY query ORDER BY time DESC, kind DESC, line DESC) <= latest"
    if name == "days":
        return f"{one} WHERE CAST(time AS DATE) BETWEEN \"from\" AND \"to\""
    if name == "list":
        lists = f"""SELECT listed, filename AS list FROM read_csv({peer.quote(path + '.users-*.txt')},
            header=false, filename=true, columns={{'listed': 'VARCHAR'}})"""
        did = " AND ".join(f"bool_or(behaviour = '{kind}') OVER (PARTITION BY query, user_id)" for kind in TYPES)
        return f"SELECT * FROM ({lists}) JOIN e ON user_id = listed JOIN q ON q.users = list QUALIFY {did}"
    return """SELECT * FROM e JOIN q ON CAST(time AS DATE) = "from" AND hour(time) = CAST(split_part(hours, '-', 1) AS INTEGER)
        WHERE behaviour = 'play'"""
