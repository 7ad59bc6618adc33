"""Evaluates queries with conditions in SQL, over the logs as they were delivered, and compares
the results with the results of extract.

    conditions.py sample|journey|launch LOGS QUERIES

QUERIES is a file with a list of the queries of conditions_test.go. The output has, for each
query, the numbers of users found, active and kept, the number of users that reached each step
of a sequence, the number of events, and the columns of both results. If the columns are equal,
it also has the number of rows that only SQL has, the number of rows that only extract has
(equal rows are counted), and the number of rows that are out of order.
"""

import glob
import json
import sys

import duckdb

# Behaviours are in order of behaviour ID.
LOGS = {
    "sample": dict(
        path="{folder}/*/{behaviour}.csv", user="user_id", time="time", zone="Asia/Shanghai", behaviours={
            "play": dict(programme="varchar", channel="varchar", seconds="bigint", url="varchar"),
            "order": dict(product="varchar", price="double", quantity="bigint", note="varchar"),
            "visit": dict(page="varchar", referrer="varchar", duration="bigint"),
            "login": dict(device="varchar", ip="varchar", success="boolean"),
        },
    ),
    "journey": dict(
        path="{folder}/*/{behaviour}.csv.gz", user="household_id", time="time", zone="America/New_York", behaviours={
            "purchase": dict(basket_id="bigint", product_id="bigint", quantity="bigint", sales_value="double", store_id="bigint"),
            "coupon_redeemed": dict(campaign_id="bigint", coupon_upc="bigint"),
            "campaign_received": dict(campaign_id="bigint"),
        },
    ),
    "launch": dict(
        path="{folder}/{behaviour}/*.csv.gz", user="player", time="day", zone="UTC",
        behaviours={"gameStarted": {}, "newPlayer": {}},
    ),
}

name, folder, queries = sys.argv[1:]
logs = LOGS[name]
names = list(dict.fromkeys(f for fields in logs["behaviours"].values() for f in fields))
db = duckdb.connect()
db.execute("set timezone = 'UTC'")


def one(query):
    return db.execute(query).fetchone()[0]


def texts(values):
    return "(" + ", ".join("'" + v.replace("'", "''") + "'" for v in values) + ")"


def read_logs():
    """Makes the table of all records. Those of one behaviour are numbered as the files have them."""
    types = {f: t for fields in logs["behaviours"].values() for f, t in fields.items()}
    own = ["user_id varchar", "date date", "local timestamp", "time timestamp", "behaviour varchar", "kind int", "n bigint"]
    db.execute(f"create table logged ({', '.join(own + [f'{f} {types[f]}' for f in names])})")
    for kind, (behaviour, fields) in enumerate(logs["behaviours"].items(), 1):
        local = logs["time"] + "::timestamp"
        own = [
            logs["user"], f"{local}::date", local, f"timezone('{logs['zone']}', {local})::timestamp",
            f"'{behaviour}'", str(kind), "row_number() over ()",
        ]
        values = [f"nullif({f}, '')::{types[f]}" if f in fields else "null" for f in names]
        db.execute(
            f"insert into logged select {', '.join(own + values)}"
            " from read_csv(?, header=true, all_varchar=true, quote='\"', escape='\"', parallel=false)",
            [sorted(glob.glob(logs["path"].format(folder=folder, behaviour=behaviour)))],
        )


def chains(q):
    """Makes chain_1 and on: where a user came to a step, and when it and those before it were taken."""
    reached = []
    for i, step in enumerate(q["steps"], 1):
        before = ", ".join(f"step_{s}" for s in range(1, i))
        if i == 1:
            source = f"select user_id, pos, time, time as step_1 from judged where behaviour = '{step['behaviour']}'"
        else:
            source = f"""
                select k.user_id, k.pos, k.time, {before}, k.time as step_{i}
                from (select * from judged where behaviour = '{step['behaviour']}') k
                asof join chain_{i - 1} c on k.user_id = c.user_id and k.pos > c.pos
                where {'k.time - c.time <= interval ' + str(step['within']) + ' second' if step['within'] else 'true'}"""
        db.execute(f"create or replace temp table chain_{i} as {source}")
        reached.append(one(f"select count(distinct user_id) from chain_{i}"))
    return reached


def evaluate(q):
    """Makes the table of the expected rows. Returns the numbers of users at each stage."""
    asked = texts(q["types"])
    users = f"user_id in (select user_id from read_csv('{q['users']}', header=false, all_varchar=true, names=['user_id']))" if q["users"] else "true"
    db.execute(f"""create or replace temp table did as
        select *, row_number() over (partition by user_id order by time, kind, n) as pos
        from logged where date between '{q['from']}' and '{q['to']}' and {users}""")
    db.execute(f"create or replace temp table kept as select * from did where ({q['where'] or 'true'}) and ({q['hours'] or 'true'})")
    db.execute(f"""create or replace temp table active as
        select user_id from {'kept' if q['where_first'] else 'did'} where behaviour in {asked}
        group by user_id having count(distinct behaviour) >= {q['least']}""")
    if q["without"]:
        db.execute(f"delete from active where user_id in (select user_id from did where behaviour in {texts(q['without'])})")
    db.execute(f"""create or replace temp table judged as
        select * from kept semi join active using (user_id)
        where user_id in (select user_id from kept group by user_id having {q['having'] or 'true'})""")
    reached = chains(q)
    steps = len(reached)
    taken = ", ".join(f"arg_min(step_{i}, pos) as step_{i}" for i in range(1, steps + 1))
    if steps:
        db.execute(f"create or replace temp table matched as select user_id, {taken} from chain_{steps} group by user_id")

    def owners(field):
        """The asked behaviours of which a field comes out."""
        return [b for b in q["types"] if field in logs["behaviours"][b] and (not q["fields"] or {field, f"{b}.{field}"} & set(q["fields"]))]

    columns = ["user_id", "date", "time", "behaviour"] + [f"step_{i}" for i in range(1, steps + 1)]
    columns += [f"case when behaviour in {texts(owners(f))} then {f} end as {f}" for f in names if owners(f)]
    db.execute(f"""create or replace temp table wanted as
        with asked as (
            select d.*, max(k.pos is not null) over (
                partition by d.user_id order by d.pos rows between {q['context']} preceding and {q['context']} following
            ) as near
            from did d left join judged k on d.user_id = k.user_id and d.pos = k.pos
            where d.behaviour in {asked} and d.user_id in (select user_id from judged)
        ), early as (
            select *, row_number() over (partition by user_id, behaviour order by pos desc) as back from asked
            where near and {"local <= '" + q['at'] + "'" if q['at'] else 'true'}
        ), late as (
            select *, row_number() over (partition by user_id order by pos desc) as last from early
            where {'back = 1' if q['at'] else 'true'}
        )
        select {', '.join(columns)}
        from late {'join matched using (user_id)' if steps else ''}
        where {f"last <= {q['latest']}" if q['latest'] else 'true'}""")
    return dict(
        found=one(f"select count(distinct user_id) from did where behaviour in {asked}"),
        active=one("select count(*) from active"),
        kept=one("select count(distinct user_id) from wanted"),
        events=one("select count(*) from wanted"),
        steps=reached,
    )


def compare(q):
    """What the extract holds beside the table of what must come out."""
    parts = f"'{q['out']}/part-*.parquet'"
    columns = [c for c, *_ in db.execute(f"describe select * from read_parquet({parts})").fetchall()]
    mine = [c for c, *_ in db.execute("describe wanted").fetchall()]
    shown = ", ".join(f"{c}::timestamp as {c}" if c == "time" or c.startswith("step_") else c for c in mine)
    mine_too = mine[:4] + ["id"] + mine[4:]
    if columns != mine_too:
        return dict(columns=columns, sql_columns=mine_too)
    db.execute(f"create or replace temp table came as select {shown} from read_parquet({parts})")
    kinds = "case behaviour " + " ".join(f"when '{b}' then {i}" for i, b in enumerate(logs["behaviours"])) + " end"
    return dict(
        columns=columns,
        sql_columns=mine_too,
        only_sql=one("select count(*) from (from wanted except all from came)"),
        only_extract=one("select count(*) from (from came except all from wanted)"),
        disorder=one(f"""
            with rows as (
                select filename, file_row_number as n, (user_id, time, {kinds}, id) as key
                from read_parquet({parts}, filename=true, file_row_number=true)
            )
            select count(*) from (select key, lag(key) over (partition by filename order by n) as before from rows) where before >= key"""),
    )


read_logs()
with open(queries) as f:
    print(json.dumps([{**evaluate(q), **compare(q)} for q in json.load(f)]))
