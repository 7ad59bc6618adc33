"""Asks DuckDB for the numbers of reports over the same parts, by SQL. Of each is printed
what differs; its last line says how many numbers were compared.

    compare.py EXTRACT...

The report of an extract is the file report.json in it.
"""

import json
import sys

import duckdb

compared = 0


def same(what, got, want):
    """Says so if the report's number is not DuckDB's."""
    global compared
    compared += 1
    if got != want:
        print(f"{what}: the report says {got!r}, DuckDB {want!r}")


def near(what, got, want):
    """As same, to one part in a thousand."""
    global compared
    compared += 1
    if abs(got - want) > want / 1000:
        print(f"{what}: the report says {got!r}, DuckDB {want!r}")


def rows(sql, *parameters):
    return db.execute(sql, parameters).fetchall()


def compare(extract, report):
    db.execute(
        f"""create table trails as
            select *, row_number() over (partition by user_id order by filename, file_row_number) as step
            from read_parquet('{extract}/part-*.parquet', filename = true, file_row_number = true)"""
    )

    # Kinds: those that stand for themselves; the last may stand for all others.
    kinds = report["behaviours"]
    names = [k["name"] for k in kinds if not k.get("rest")]
    db.execute("create table shown (behaviour varchar, kind integer)")
    db.executemany("insert into shown values (?, ?)", [[n, i] for i, n in enumerate(names)])
    db.execute(
        f"""create table kinds as select trails.*, coalesce(kind, {len(names)}) as kind
            from trails left join shown using (behaviour)"""
    )

    events, users = rows("select count(*), count(distinct user_id) from trails")[0]
    same("events", report["events"], events)
    same("kept", report["kept"], users)
    asked = set(report["asked"]["types"])
    for name, n in rows("select behaviour, count(*) from trails group by all order by 2 desc limit 12"):
        ties = rows("select count(*) from (select behaviour from trails group by all having count(*) = ?)", n)[0][0]
        same(f"{name} is among the most frequent", name in names or ties > 1, True)
    for i, k in enumerate(kinds):
        n, who = rows("select count(*), count(distinct user_id) from kinds where kind = ?", i)[0]
        same(f"events of {k['name']}", k["events"], n)
        if not k.get("rest"):
            same(f"users of {k['name']}", k.get("users", 0), who)
        else:
            same("kinds of the rest", k["rest"], len(asked) - len(names))

    last = None
    for p in report["days"]["periods"]:
        for i, got in enumerate(p["events"]):
            want = rows("select count(*) from kinds where kind = ? and date between ?::date and ?::date", i, p["from"], p["to"])[0][0]
            same(f"{p['from']} {kinds[i]['name']}", got, want)
        same(f"{p['from']} total", p["total"], sum(p["events"]))
        if last:
            same(f"{p['from']} begins", p["from"], str(rows("select (?::date + 1)::date", last)[0][0]))
        last = p["to"]
    same("sum of the periods", sum(p["total"] for p in report["days"]["periods"]), events)
    unit = report["days"]["unit"]
    for p in report["days"]["periods"][1:]:
        same(f"{p['from']} is the first of its {unit}", p["from"], str(rows(f"select date_trunc('{unit}', ?::date)::date", p["from"])[0][0]))

    # The n-th of a sorted list, of which percent in a hundred are no greater.
    RANK = "list_sort(list({x}))[(count(*) * {percent} + 99) // 100]"
    median, p90, longest = rows(
        f"""select {RANK.format(x='n', percent=50)}, {RANK.format(x='n', percent=90)}, max(n)
            from (select count(*) as n from trails group by user_id)"""
    )[0]
    lengths = report["lengths"]
    same("median", lengths["median"], median)
    same("90th percentile", lengths["p90"], p90)
    same("longest", lengths["longest"], longest)
    for b in lengths["bins"]:
        want = rows("select count(*) from (select count(*) as n from trails group by user_id having n between ? and ?)", b["from"], b["to"])[0][0]
        same(f"trails of {b['from']} to {b['to']}", b["users"], want)
    same("sum of the lengths", sum(b["users"] for b in lengths["bins"]), users)

    db.execute("create table pairs as select kind, lead(kind) over (partition by user_id order by step) as next from kinds")
    pairs = dict(((a, b), n) for a, b, n in rows("select kind, next, count(*) from pairs where next is not null group by all"))
    for i, line in enumerate(report["follows"]["counts"]):
        for j, got in enumerate(line):
            same(f"{kinds[j]['name']} after {kinds[i]['name']}", got, pairs.get((i, j), 0))
        same(f"pairs after {kinds[i]['name']}", report["follows"]["totals"][i], sum(line))
    same("pairs", report["follows"]["pairs"], sum(pairs.values()))

    for gap in (report.get("sequence") or {}).get("gaps", []):
        a, b = f"step_{gap['from']}", f"step_{gap['to']}"
        db.execute(f"create or replace table gap as select epoch_us(any_value({b})) - epoch_us(any_value({a})) as us from trails group by user_id")
        n, median, p90 = rows(f"select count(us), {RANK.format(x='us', percent=50)}, {RANK.format(x='us', percent=90)} from gap")[0]
        same(f"users from {a} to {b}", gap["users"], n)
        near(f"median from {a} to {b}", gap["median"], median / 1e6)
        near(f"90th percentile from {a} to {b}", gap["p90"], p90 / 1e6)
        for t in gap["bins"]:
            want = rows("select count(*) from gap where us >= ? and us < ?", int(t["from"] * 1e6), int(t.get("to", 1e12) * 1e6))[0][0]
            same(f"{a} to {b} in {t['from']} seconds and more", t["users"], want)
        same(f"sum of the times from {a} to {b}", sum(t["users"] for t in gap["bins"]), n)

    for trail in report["samples"]["trails"]:
        for i, k in enumerate(kinds):
            want = rows("select count(*) from kinds where user_id = ? and kind = ?", trail["user"], i)[0][0]
            same(f"{k['name']} of {trail['user']}", sum(m["events"] for m in trail["marks"] if m["kind"] == i), want)
        same(f"behaviours of {trail['user']}", trail["events"], rows("select count(*) from trails where user_id = ?", trail["user"])[0][0])



for extract in sys.argv[1:]:
    compared, db = 0, duckdb.connect()
    with open(f"{extract}/report.json", encoding="utf-8") as file:
        compare(extract, json.load(file))
    print(f"compared {compared} numbers")
