"""A real scheduler, triggerer and API server run the DAGs. The tests read the states over REST.
They share one Airflow. Each test has a table of its own."""

import fcntl

import pytest
from airflows import Airflow
from conftest import COMPLETE, DATES, gone

pytestmark = pytest.mark.skipif(not COMPLETE, reason="make test-all runs this; make test runs each DAG by `airflow dags test`")

# DAGs next to those of the package: one that reads events, one that is killed, one that defers.
MORE = '''
from airflow.sdk import DAG, Asset, Param, task
from usertrail_airflow import BulkloadOperator, LogsSensor

with DAG("listener", schedule=[Asset("usertrail_table")]):

    @task
    def read_events(triggering_asset_events=None):
        return [dict(e.extra) for events in triggering_asset_events.values() for e in events]

    read_events()

with DAG("stuck", schedule=None, params={"bin": Param("", type="string")}):
    BulkloadOperator(task_id="load", from_date="2014-09-01", bin="{{ params.bin }}", retries=3)

with DAG("deferred", schedule=None, params={"job": Param("", type="string"), "date": Param("", type="string")}):
    LogsSensor(
        task_id="logs", from_date="{{ params.date }}", job="{{ params.job }}", deferrable=True, poke_interval=1, settle=0.1, timeout=3000
    )
'''


@pytest.fixture(scope="module")
def airflow(home):
    (home / "dags" / "more.py").write_text(MORE)
    with Airflow(home) as running:
        yield running


NIGHT = ("logs", "load", "verify", "extract")


def start(airflow, world, date):
    return airflow.trigger("usertrail_nightly", date=date, job=str(world.job), out=str(world.out))


def test_an_empty_night_is_skipped(airflow, world):
    run = start(airflow, world, "2015-01-01")
    assert airflow.ended("usertrail_nightly", run) == "success"
    assert airflow.states("usertrail_nightly", run) == dict.fromkeys(NIGHT, "skipped")
    assert "there are no logs yet" in airflow.log("usertrail_nightly", run, "logs")
    assert not world.table.exists()


def test_a_night_whose_table_is_locked_is_tried_again(airflow, world):
    """Another load holds the lock of the table until the task has failed once."""
    world.load(DATES[1])
    already = len(airflow.events("usertrail_table"))
    with open(world.table / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run = start(airflow, world, DATES[0])
        load = airflow.until(lambda: (t := airflow.tasks("usertrail_nightly", run).get("load")) and t["try_number"] > 1 and t, "no second try")
    assert load["state"] != "success"
    assert airflow.ended("usertrail_nightly", run) == "success"
    assert airflow.states("usertrail_nightly", run) == dict.fromkeys(NIGHT, "success")
    log = airflow.log("usertrail_nightly", run, "load")
    assert log.index("status 75") < log.index("loaded ")

    loaded = airflow.xcom("usertrail_nightly", run, "load")
    assert loaded["files"] == 4 and loaded["loaded"] > 0
    assert airflow.xcom("usertrail_nightly", run, "verify")["differing_days"] == 0
    out = world.out / DATES[0]
    assert airflow.xcom("usertrail_nightly", run, "extract")["out"] == str(out) and (out / "_SUCCESS").exists()

    (event,) = airflow.events("usertrail_table")[already:]
    assert event["extra"]["loaded"] == loaded["loaded"] and event["extra"]["from"] == DATES[0]
    assert airflow.events("usertrail_trails")[-1]["extra"]["out"] == str(out)

    def heard():
        runs = airflow.ask("GET", "/api/v2/dags/listener/dagRuns?state=success")["dag_runs"]
        return any(event["extra"] in airflow.xcom("listener", run["dag_run_id"], "read_events") for run in runs)

    airflow.until(heard, "no run of the listener has the event")

    again = start(airflow, world, DATES[0])
    assert airflow.ended("usertrail_nightly", again) == "success"
    states = airflow.states("usertrail_nightly", again)
    assert states == {"logs": "success", "load": "skipped", "verify": "skipped", "extract": "skipped"}


def test_a_wrong_job_is_not_tried_again(airflow, world):
    world.job.write_text("logz: x\n")
    run = start(airflow, world, DATES[0])
    assert airflow.ended("usertrail_nightly", run) == "failed"
    tasks = airflow.tasks("usertrail_nightly", run)
    assert tasks["logs"]["state"] == "failed" and tasks["logs"]["try_number"] == 1
    assert "did you mean logs?" in airflow.log("usertrail_nightly", run, "logs")


def test_marking_a_task_as_failed_ends_its_command(airflow, program, tmp_path):
    """The command ignores SIGTERM, so Airflow kills the task before the command ends."""
    pids = tmp_path / "pids"
    fake = program(f"""trap 'echo asked' TERM; sleep 1000 & echo $$ $! > {pids}; echo begun >&2; while :; do wait; done\n""")
    run = airflow.trigger("stuck", bin=fake)
    leader, child = airflow.until(lambda: pids.exists() and pids.read_text().split(), "the command does not begin")
    airflow.ask("PATCH", f"/api/v2/dags/stuck/dagRuns/{run}/taskInstances/load", {"new_state": "failed"})
    airflow.until(lambda: gone(leader) and gone(child), "the command still runs")
    assert airflow.ended("stuck", run) == "failed"
    assert airflow.tasks("stuck", run)["load"]["try_number"] == 1


def test_a_deferred_sensor_waits_in_the_triggerer(airflow, world):
    night = world.logs / DATES[0]
    night.rename(world.folder / "late")
    run = airflow.trigger("deferred", job=str(world.job), date=DATES[0])
    airflow.deferred("deferred", run, "logs")
    (world.folder / "late").rename(night)
    assert airflow.ended("deferred", run) == "success", airflow.log("deferred", run, "logs")
    assert airflow.xcom("deferred", run, "logs")["files"] == 4


def test_pieces_are_tasks(airflow, world):
    before = {name: len(airflow.events(name)) for name in ("usertrail_table", "usertrail_trails")}
    flags = {"from": DATES[0], "to": DATES[-1], "job": str(world.job), "out": str(world.out), "load_piece": "150KiB", "extract_piece": "1000"}
    run = airflow.trigger("usertrail_pieces", **flags)
    assert airflow.ended("usertrail_pieces", run) == "success"
    tasks = airflow.tasks("usertrail_pieces", run)
    for plan, piece in (("load_plan", "load_piece"), ("extract_plan", "extract_piece")):
        of = airflow.xcom("usertrail_pieces", run, plan, "plan")["pieces"]
        assert of > 1
        assert {tasks[piece, n]["rendered_map_index"] for n in range(of)} == {f"piece {n} of {of}" for n in range(of)}
    assert {t["state"] for t in tasks.values()} == {"success"}
    assert airflow.xcom("usertrail_pieces", run, "load")["loaded"] == airflow.xcom("usertrail_pieces", run, "extract")["events"] == 3000
    for name, count in before.items():
        assert len(airflow.events(name)) == count + 1
