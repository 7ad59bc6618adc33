"""The DAGs are read without a complaint, and run by `airflow dags test`."""

import json
import re
from datetime import datetime, timezone

import pytest
from airflows import DAGS, airflow, environment
from conftest import DATES, REPOSITORY

from usertrail_airflow.dates import day_before


@pytest.fixture(scope="module")
def bag():
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(dag_folder=str(DAGS))


def edges(dag):
    return {(task.task_id, below) for task in dag.tasks for below in task.downstream_task_ids}


def test_dags_are_read(bag):
    assert bag.import_errors == {}
    assert set(bag.dags) == {"usertrail_nightly", "usertrail_backfill", "usertrail_pieces"}


def test_nightly(bag):
    dag = bag.dags["usertrail_nightly"]
    assert edges(dag) == {("logs", "load"), ("load", "verify"), ("verify", "extract")}
    assert (dag.schedule, dag.timezone.name, dag.catchup) == ("30 2 * * *", "UTC", False)


def test_backfill(bag):
    assert edges(bag.dags["usertrail_backfill"]) == {("load", "verify")}


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
def test_the_day_before_is_that_of_the_zone(zone, date):
    assert day_before(datetime(2014, 9, 2, 18, 30, tzinfo=timezone.utc), zone) == date


def test_dags_test_of_a_backfill(home, world):
    conf = {"from": DATES[0], "to": DATES[2], "job": str(world.job)}
    status, said = airflow(environment(home), "dags", "test", "usertrail_backfill", "--conf", json.dumps(conf))
    assert status == 0, said
    assert re.search(r'"records":3000,"days":12,"differing_days":0', said), said


def test_the_document_is_true(tmp_path):
    """The DAGs of docs/airflow.md are read, and its connection is one."""
    from airflow.dag_processing.dagbag import DagBag

    from usertrail_airflow import UsertrailHook

    text = (REPOSITORY / "docs" / "airflow.md").read_text()
    for n, block in enumerate(re.findall(r"(?ms)^```python\n(.*?)^```", text)):
        (tmp_path / f"block_{n}.py").write_text(block)
    found = DagBag(dag_folder=str(tmp_path))
    assert found.import_errors == {}
    assert set(found.dags) == {"mine", "told", "shared_out"}
    (extra,) = re.findall(r"(?ms)^```json\n(.*?)^```", text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW_CONN_SAID", json.dumps({"conn_type": "usertrail", "extra": json.loads(extra)}))
        assert UsertrailHook("said").table == "hdfs://nn:8020/trails"
