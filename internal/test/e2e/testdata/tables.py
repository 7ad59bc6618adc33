"""Makes results tables of an engine by the statements of `extract ddl`, and counts their rows.

tables.py ENGINE NAME=FILE... prints one JSON object: for each name its columns in lower case, and the
number of rows for each date and behaviour.
"""

import json
import sys
import tempfile


def count(name):
    return f"SELECT date, behaviour, count(*) FROM {name} GROUP BY date, behaviour ORDER BY 1, 2"


def duckdb_tables(files):
    import duckdb

    db = duckdb.connect()
    for name, statements in files:
        db.execute(statements)
        columns = [row[0] for row in db.execute(f"DESCRIBE {name}").fetchall()]
        yield name, columns, db.execute(count(name)).fetchall()


def clickhouse_tables(files):
    from chdb import session

    with tempfile.TemporaryDirectory() as folder:
        db = session.Session(folder)
        for name, statements in files:
            db.query(statements)
            rows = [json.loads(line) for line in str(db.query(count(name), "JSONCompactEachRow")).splitlines()]
            columns = [json.loads(line)[0] for line in str(db.query(f"DESCRIBE TABLE {name}", "JSONCompactEachRow")).splitlines()]
            yield name, columns, [(date, behaviour, int(n)) for date, behaviour, n in rows]
        db.close()


def spark(folder):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1", "spark.sql.warehouse.dir": folder,
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def spark_tables(files):
    with tempfile.TemporaryDirectory() as folder:
        s = spark(folder)
        for name, statements in files:
            for statement in filter(str.strip, statements.split(";\n")):
                s.sql(statement)
            yield name, s.table(name).columns, [tuple(row) for row in s.sql(count(name)).collect()]
        s.stop()


def hive_tables(files):
    """Spark reads the SQL of Hive, too. Only the grammar is checked, because Hive is not here."""
    with tempfile.TemporaryDirectory() as folder:
        s = spark(folder)
        parser = s._jsparkSession.sessionState().sqlParser()
        for name, statements in files:
            plans = [parser.parsePlan(statement).getClass().getSimpleName() for statement in filter(str.strip, statements.split(";\n"))]
            yield name, plans, []
        s.stop()


def main(engine, *args):
    files = [(name, open(path).read()) for name, path in (arg.split("=", 1) for arg in args)]
    out = {}
    for name, columns, rows in globals()[engine + "_tables"](files):
        out[name] = {"columns": [c.lower() for c in columns], "rows": [[str(date), behaviour, n] for date, behaviour, n in rows]}
    print(json.dumps(out))


main(*sys.argv[1:])
