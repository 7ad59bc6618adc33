"""What tables of every layout are asked, drawn by lot and always the same, and the
answers that DuckDB has of the logs."""

import datetime
import json
import os
import random

import peer
from data import TYPES

NAMES = {
    "at": "at a time",
    "user": "all of a user",
    "latest": "latest 10",
    "days": "ten days of a user",
    "list": "1% of the users, with all four",
    "span": "one hour, no users",
}

# How many questions of many users are asked.
OF_MANY = 3

LATEST, DAYS, SHARE = 10, 10, 100
ZONE_US = 8 * 3600 * 1_000_000  # Shanghai's, which has no summer time


def write(path, logs, users, dates, of_one):
    """Writes the questions for so many users of the logs, one a line, of_one of each
    name that is of one user, and beside them the lists of users that they name."""
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
            f.write(json.dumps({"name": name, "question": n, **what}) + "\n")

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
    """Some users of the logs, the same ones each time, in no order."""
    path = os.path.join(os.path.dirname(logs), "drawn.txt")
    peer.write_list(logs, n, path)
    with open(path, encoding="utf-8") as f:
        return f.read().split()


def wrong(path, logs, answers, last):
    """The names of questions whose answers, as layoutbench wrote them, are not what
    the logs say up to a last day."""
    names = []
    for name in NAMES:
        mine, theirs = answered(os.path.join(answers, name + ".jsonl")), expected(path, logs, name, last)
        row = peer.ask(f"SELECT * FROM ({digest(mine)}), ({digest(theirs)})")
        if row[:2] != row[2:]:
            names.append(name)
    return names


def digest(rows):
    """How many rows, and a sum of hashes."""
    values = ", ".join(["question", "user_id", "time", "behaviour", *peer.fields(TYPES)])
    return f"SELECT count(*), sum(hash({values})::HUGEINT)::VARCHAR FROM ({rows})"


def answered(path):
    """What layoutbench wrote, in local time as the logs."""
    columns = {"question": "BIGINT", "user_id": "VARCHAR", "time": "TIMESTAMP", "behaviour": "VARCHAR"}
    for kind in TYPES:
        columns.update(peer.COLUMNS[kind])
    return f"SELECT * REPLACE (time + INTERVAL {ZONE_US} MICROSECOND AS time) FROM read_json({peer.quote(path)}, format='newline_delimited', columns={columns})"


def expected(path, logs, name, last):
    """What the logs answer. Records of one moment come in the order of their
    behaviours, and in that of a file."""
    kinds = " UNION ALL BY NAME ".join(
        f"SELECT '{kind}' AS behaviour, {k} AS kind, row_number() OVER () AS line, * FROM ({peer.csv_of(logs, kind)})"
        for k, kind in enumerate(TYPES)
    )
    columns = {
        "name": "VARCHAR", "question": "BIGINT", "user": "VARCHAR", "at": "BIGINT", "latest": "BIGINT", "from": "DATE", "to": "DATE",
        "users": "VARCHAR", "hours": "VARCHAR",
    }
    q = f"SELECT * FROM read_json({peer.quote(path)}, format='newline_delimited', columns={columns}) WHERE name = '{name}'"
    e = f"SELECT * FROM ({kinds}) WHERE time < DATE '{last}' + INTERVAL 1 DAY"
    return f"WITH q AS ({q}), e AS ({e}) {answer(name, path)}"


def answer(name, path):
    """A query of the questions q to the records e."""
    one = "SELECT * FROM e JOIN q ON e.user_id = q.\"user\""
    if name == "at":
        return f"""{one} WHERE epoch_us(time) - {ZONE_US} <= "at"
            QUALIFY row_number() OVER (PARTITION BY question, behaviour ORDER BY time DESC, line DESC) = 1"""
    if name == "user":
        return one
    if name == "latest":
        return f"{one} QUALIFY row_number() OVER (PARTITION BY question ORDER BY time DESC, kind DESC, line DESC) <= latest"
    if name == "days":
        return f"{one} WHERE CAST(time AS DATE) BETWEEN \"from\" AND \"to\""
    if name == "list":
        lists = f"""SELECT listed, filename AS list FROM read_csv({peer.quote(path + '.users-*.txt')},
            header=false, filename=true, columns={{'listed': 'VARCHAR'}})"""
        did = " AND ".join(f"bool_or(behaviour = '{kind}') OVER (PARTITION BY question, user_id)" for kind in TYPES)
        return f"SELECT * FROM ({lists}) JOIN e ON user_id = listed JOIN q ON q.users = list QUALIFY {did}"
    return """SELECT * FROM e JOIN q ON CAST(time AS DATE) = "from" AND hour(time) = CAST(split_part(hours, '-', 1) AS INTEGER)
        WHERE behaviour = 'play'"""
