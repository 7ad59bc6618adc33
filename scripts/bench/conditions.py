"""Conditions over all users: ours, and the same in SQL on daily Parquet.

Of each: the flags of extract, the behaviours asked for, and the SQL that says who
stays and what of their rows. Behaviours of one moment stand in order of behaviour
ID in a trail, so a step from visit to play takes a later time, and one from play to
order may be at the same.
"""

import dataclasses

import peer
from data import TYPES


@dataclasses.dataclass
class Condition:
    flags: list  # of extract
    types: list  # --types
    users: str  # SQL: the users who stay besides being active, from e
    rows: str = "true"  # SQL: what of their rows


SEQUENCE = """
    SELECT DISTINCT o.user_id FROM (SELECT user_id, time FROM e WHERE behaviour = 'order') o
    ASOF JOIN (
        SELECT p.user_id, p.time FROM (SELECT user_id, time FROM e WHERE behaviour = 'play') p
        ASOF JOIN (SELECT user_id, time FROM e WHERE behaviour = 'visit') v ON p.user_id = v.user_id AND p.time > v.time
        WHERE p.time - v.time <= INTERVAL 1 HOUR
    ) s ON o.user_id = s.user_id AND o.time >= s.time
    WHERE o.time - s.time <= INTERVAL 1 DAY"""

CONDITIONS = {
    "where": Condition(
        ["--where", "play.seconds >= 3600 || order.price > 50"], TYPES, "SELECT user_id FROM e",
        "behaviour = 'play' AND seconds >= 3600 OR behaviour = 'order' AND price > 50",
    ),
    "having": Condition(
        ["--having", "count(play) >= 5 && sum(order.price) > 100 && days(login) >= 3"], TYPES, """
        SELECT user_id FROM e GROUP BY user_id
        HAVING count(*) FILTER (behaviour = 'play') >= 5 AND sum(price) FILTER (behaviour = 'order') > 100
            AND count(DISTINCT date_trunc('day', time)) FILTER (behaviour = 'login') >= 3""",
    ),
    "without": Condition(
        ["--without", "order"], ["play", "visit", "login"],
        "SELECT user_id FROM e GROUP BY user_id HAVING NOT bool_or(behaviour = 'order')",
    ),
    "sequence": Condition(["--sequence", "visit -> play within 1h -> order within 1d"], TYPES, SEQUENCE),
}


def sql(c, source, out):
    """The rows that stay, in order, as Parquet."""
    did = " AND ".join(f"bool_or(behaviour = '{kind}')" for kind in c.types)
    asked = ", ".join(f"'{kind}'" for kind in c.types)
    columns = ", ".join(["behaviour", "user_id", "time", *peer.fields(c.types)])
    return f"""
        COPY (
            WITH e AS NOT MATERIALIZED (SELECT * FROM ({source}) WHERE {peer.SPAN})
            SELECT {columns} FROM e
            WHERE behaviour IN ({asked}) AND ({c.rows})
                AND user_id IN (SELECT user_id FROM e GROUP BY user_id HAVING {did}) AND user_id IN ({c.users})
            ORDER BY user_id, time
        ) TO {peer.quote(out)} {peer.PARQUET}"""
