"""Conditions over all users, as flags of extract and in the SQL of DuckDB and ClickHouse.

In a trail, events of the same time are in order of behaviour ID. Therefore a step from visit
to play needs a later time, and a step from play to order may have the same time.
"""

import dataclasses

import peer
from data import TYPES


@dataclasses.dataclass
class Condition:
    flags: list  # of extract
    types: list  # --types
    users: str  # DuckDB's SQL: the users who meet the condition, from e
    clickhouse: str = "true"  # ClickHouse's SQL: the same, as a condition on a user's rows
    rows: str = "true"  # SQL of both: the condition on a row


SEQUENCE = """
    SELECT DISTINCT o.user_id FROM (SELECT user_id, time FROM e WHERE behaviour = 'order') o
    ASOF JOIN (
        SELECT p.user_id, p.time FROM (SELECT user_id, time FROM e WHERE behaviour = 'play') p
        ASOF JOIN (SELECT user_id, time FROM e WHERE behaviour = 'visit') v ON p.user_id = v.user_id AND p.time > v.time
        WHERE p.time - v.time <= INTERVAL 1 HOUR
    ) s ON o.user_id = s.user_id AND o.time >= s.time
    WHERE o.time - s.time <= INTERVAL 1 DAY"""

# Seconds times 4, plus the order of behaviours within a second, so that all times of a user differ.
INSTANT = "toUInt64(toUnixTimestamp(time)) * 4 + transform(behaviour, ['play', 'order', 'visit'], [0, 1, 2], 3)"
IN_SEQUENCE = f"""sequenceMatch('(?1)(?t<={3600 * 4 - 2})(?2)(?t<={86400 * 4 + 1})(?3)')
    ({INSTANT}, behaviour = 'visit', behaviour = 'play', behaviour = 'order')"""

CONDITIONS = {
    "where": Condition(
        ["--where", "play.seconds >= 3600 || order.price > 50"], TYPES, "SELECT user_id FROM e",
        rows="behaviour = 'play' AND seconds >= 3600 OR behaviour = 'order' AND price > 50",
    ),
    "having": Condition(
        ["--having", "count(play) >= 5 && sum(order.price) > 100 && days(login) >= 3"], TYPES, """
        SELECT user_id FROM e GROUP BY user_id
        HAVING count(*) FILTER (behaviour = 'play') >= 5 AND sum(price) FILTER (behaviour = 'order') > 100
            AND count(DISTINCT date_trunc('day', time)) FILTER (behaviour = 'login') >= 3""",
        "countIf(behaviour = 'play') >= 5 AND sumIf(price, behaviour = 'order') > 100 AND uniqExactIf(toDate(time), behaviour = 'login') >= 3",
    ),
    "without": Condition(
        ["--without", "order"], ["play", "visit", "login"],
        "SELECT user_id FROM e GROUP BY user_id HAVING NOT bool_or(behaviour = 'order')",
        "countIf(behaviour = 'order') = 0",
    ),
    "sequence": Condition(["--sequence", "visit -> play within 1h -> order within 1d"], TYPES, SEQUENCE, IN_SEQUENCE),
}


def sql(c, source, out):
    """Returns DuckDB's SQL that writes the rows that meet a condition, in order, as Parquet."""
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
