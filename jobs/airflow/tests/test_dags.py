"""Airflow reads the DAGs without an error, and `airflow dags test` runs them."""

import json
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import datetime, timezone
from types import SimpleNamespace

import commands
import pytest
from airflows import DAGS, copy_dags
from conftest import DATES, HOME, REPOSITORY, World, forked

from usertrail_airflow.dates import day_before


@pytest.fixture(scope="module")
def bag():
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(dag_folder=str(DAGS))


def edges(dag):
    return {(task.task_id, below) for task in dag.tasks for below in task.downstream_task_ids}


def test_dags_are_read(bag):
    assert bag.import_errors == {}
    assert set(bag.dags) == {"usertrail_nightly", "usertrail_backfill", "usertrail_pieces", "usertrail_sweep"}


def test_nightly(bag):
    dag = bag.dags["usertrail_nightly"]
    assert edges(dag) == {("logs", "load"), ("load", "verify"), ("verify", "extract")}
    assert (dag.schedule, dag.timezone.name, dag.catchup) == ("30 2 * * *", "UTC", False)


def test_backfill(bag):
    assert edges(bag.dags["usertrail_backfill"]) == {("load", "verify")}


def test_behaviours_are_taken_from_the_table(bag):
    """A DAG names no behaviour of a job."""
    for name in ("nightly", "pieces"):
        assert bag.dags[f"usertrail_{name}"].params["types"] == "all"


def test_loads_check_that_logs_are_unchanged(bag):
    """Logs may have changed since the sensor's last check."""
    for dag, task in (("nightly", "load"), ("backfill", "load"), ("pieces", "load_plan"), ("sweep", "load")):
        assert "--settle=60s" in bag.dags[f"usertrail_{dag}"].task_dict[task].flags


@pytest.mark.parametrize(
    ("now", "dates"),
    [
        (datetime(2024, 3, 4, 12, tzinfo=timezone.utc), ("2024-02-26", "2024-03-03")),
        (datetime(2024, 1, 1, 0, 1, tzinfo=timezone.utc), ("2023-12-25", "2023-12-31")),
    ],
)
def test_a_sweep_has_the_last_week(bag, now, dates):
    """The week ends on the day before the run, so nights that were missed are loaded."""
    dag = bag.dags["usertrail_sweep"]
    assert edges(dag) == {("load", "verify")} and "--each-day" in dag.task_dict["load"].flags
    macros, run = dag.user_defined_macros, SimpleNamespace(run_after=now)
    params = {"to": None, "days": dag.params["days"]}
    assert (macros["first_day"](run, params), macros["last_day"](run, params)) == dates


def test_pieces_have_their_outlet_on_the_commit(bag):
    dag = bag.dags["usertrail_pieces"]
    assert {t.task_id for t in dag.tasks if t.outlets} == {"load", "extract"}
    assert edges(dag) == {
        ("load_plan", "load_piece"), ("load_plan", "load"), ("load_piece", "load"), ("load", "extract_plan"),
        ("extract_plan", "extract_piece"), ("extract_plan", "extract"), ("extract_piece", "extract"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("zone", "date"), [("UTC", "2014-09-01"), ("Asia/Shanghai", "2014-09-02"), ("America/New_York", "2014-09-01")]
)
def test_the_day_before_is_a_day_of_the_zone(zone, date):
    assert day_before(datetime(2014, 9, 2, 18, 30, tzinfo=timezone.utc), zone) == date


class Ran:
    """Reads the database of an Airflow about DAGs that have run."""

    def __init__(self, file):
        self.file = file

    def rows(self, sql, *parameters):
        with closing(sqlite3.connect(self.file)) as db:
            return db.execute(sql, parameters).fetchall()

    def states(self, dag):
        """Returns the states of the tasks of a DAG, with the number of task instances in each."""
        return Counter(self.rows("select task_id, state from task_instance where dag_id = ?", dag))

    def xcom(self, dag, task, key="return_value"):
        ((value,),) = self.rows("select value from xcom where dag_id = ? and task_id = ? and key = ?", dag, task, key)
        return json.loads(value)

    def events(self, asset):
        """Returns the extras of the events of an asset."""
        found = self.rows("select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = ? order by e.id", asset)
        return [json.loads(extra) for (extra,) in found]


@pytest.fixture(scope="module")
def ran(tmp_path_factory, samples):
    """Runs each DAG once by `airflow dags test`, on a table of its own."""
    worlds = {}
    for name in ("nightly", "backfill", "pieces", "sweep"):
        folder = tmp_path_factory.mktemp(name)
        shutil.copytree(samples, folder / "logs")
        worlds[name] = World(folder)
    days = {"from": DATES[0], "to": DATES[-1]}

    def run(name, **conf):
        file = HOME / "dags" / f"usertrail_{name}.py"
        return ("dags", "test", f"usertrail_{name}", "-f", str(file), "--conf", json.dumps({"job": str(worlds[name].job), **conf}))

    copy_dags(HOME / "dags")
    printed = forked(
        tmp_path_factory.mktemp("airflow") / "printed",
        commands.run,
        ("db", "migrate"),
        run("nightly", date=DATES[0], out=str(worlds["nightly"].out)),
        run("backfill", **days),
        run("pieces", out=str(worlds["pieces"].out), load_piece="150KiB", extract_piece="1000", **days),
        run("sweep", to=DATES[-1]),
    )
    return SimpleNamespace(airflow=Ran(HOME / "airflow.db"), printed=printed, **worlds)


def test_dags_test_of_a_night(ran):
    dag = "usertrail_nightly"
    tasks = ("logs", "load", "verify", "extract")
    assert ran.airflow.states(dag) == Counter((task, "success") for task in tasks), ran.printed
    assert ran.airflow.xcom(dag, "logs")["files"] == 4
    loaded = ran.airflow.xcom(dag, "load")
    assert loaded["files"] == 4 and loaded["loaded"] == 1000
    assert ran.airflow.xcom(dag, "verify")["differing_days"] == 0
    out = ran.nightly.out / DATES[0]
    assert ran.airflow.xcom(dag, "extract")["out"] == str(out) and (out / "_SUCCESS").exists()
    assert ran.airflow.events("usertrail_trails")[0]["out"] == str(out)


def test_dags_test_of_a_backfill(ran):
    assert ran.airflow.states("usertrail_backfill") == {("load", "success"): 1, ("verify", "success"): 1}, ran.printed
    assert re.search(r'"records":3000,"days":12,"differing_days":0', ran.printed), ran.printed


def test_dags_test_of_a_sweep(ran):
    """The three nights before did not run."""
    assert ran.airflow.states("usertrail_sweep") == {("load", "success"): 1, ("verify", "success"): 1}, ran.printed
    loaded = ran.airflow.xcom("usertrail_sweep", "load")
    assert loaded["loaded"] == 3000 and loaded["days"] == {"loaded": 3, "already": 0, "empty": 4, "failed": 0, "left": 0}


def test_dags_test_of_pieces(ran):
    dag = "usertrail_pieces"
    pieces = {name: ran.airflow.xcom(dag, f"{name}_plan", "plan")["pieces"] for name in ("load", "extract")}
    assert min(pieces.values()) > 1
    wanted = {("load_plan", "success"): 1, ("load", "success"): 1, ("extract_plan", "success"): 1, ("extract", "success"): 1}
    wanted |= {(f"{name}_piece", "success"): n for name, n in pieces.items()}
    assert ran.airflow.states(dag) == wanted, ran.printed
    assert ran.airflow.xcom(dag, "load")["loaded"] == ran.airflow.xcom(dag, "extract")["events"] == 3000


def test_runs_of_dags_leave_events(ran):
    """Each load and each extract makes one event of its asset, with its counts. The DAGs ran in
    this order: a night, a backfill, pieces of all days, a sweep of all days."""
    assert [e["loaded"] for e in ran.airflow.events("usertrail_table")] == [1000, 3000, 3000, 3000]
    assert [e["events"] for e in ran.airflow.events("usertrail_trails")] == [1000, 3000]


def test_the_document_is_true(tmp_path):
    """Airflow reads the DAGs of docs/howto/airflow.md, and the hook reads its connection."""
    from airflow.dag_processing.dagbag import DagBag

    from usertrail_airflow import UsertrailHook

    text = (REPOSITORY / "docs" / "howto" / "airflow.md").read_text()
    for n, block in enumerate(re.findall(r"(?ms)^```python\n(.*?)^```", text)):
        (tmp_path / f"block_{n}.py").write_text(block)
    found = DagBag(dag_folder=str(tmp_path))
    assert found.import_errors == {}
    assert set(found.dags) == {"nightly", "listener", "divided", "growing"}
    for name in "nightly", "growing":
        dag = found.dags[name]
        load = dag.get_task("load")
        run = SimpleNamespace(run_after=datetime(2014, 9, 2, 2, 30, tzinfo=timezone.utc))
        load.render_template_fields({"dag_run": run, **dag.user_defined_macros})
        assert load.from_date == "2014-09-01", "the day before the run"
    (extra,) = re.findall(r"(?ms)^```json\n(.*?)^```", text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW_CONN_DOCUMENTED", json.dumps({"conn_type": "usertrail", "extra": json.loads(extra)}))
        assert UsertrailHook("documented").table == "hdfs://nn:8020/trails"
