"""Operators run the real commands. Each exit status has its state of the task."""

import fcntl
import json
import logging
import shutil

import pytest
from airflow.sdk import Asset
from conftest import BIN, DATES

from usertrail_airflow import BulkloadOperator, ExtractOperator, UsertrailHook, VerifyOperator
from usertrail_airflow._airflow import AirflowException, AirflowFailException, AirflowSkipException
from usertrail_airflow.operators import UsertrailOperator, options


class Log(logging.Handler):
    """Keeps the lines that a task logs, and calls then for each."""

    def __init__(self):
        super().__init__()
        self.lines, self.then = [], lambda record: None

    def emit(self, record):
        self.lines.append(record.getMessage())
        self.then(record)


@pytest.fixture
def logged(monkeypatch):
    handler, logger = Log(), logging.Logger("task", logging.INFO)
    logger.addHandler(handler)
    monkeypatch.setattr(UsertrailOperator, "log", logger)
    return handler


def test_a_load_gives_its_counts(world, context):
    asset, given = Asset("table"), context()
    task = BulkloadOperator(task_id="load", outlets=[asset], **world.flags())
    result = task.execute(given)
    assert result["status"] == 0 and result["files"] == 4
    assert result["read"] == result["loaded"] + result["quarantined"] + result["duplicate"] + result["skipped"] > 0
    extra = given["outlet_events"][asset].extra
    assert extra["loaded"] == result["loaded"] and extra["from"] == extra["to"] == DATES[0]
    assert given["ti"].pushed == {}


def test_nothing_to_do_is_skipped_with_its_counts(world, context):
    world.load()
    given = context()
    with pytest.raises(AirflowSkipException, match="status 99"):
        BulkloadOperator(task_id="load", **world.flags()).execute(given)
    assert given["ti"].pushed["return_value"]["already"] == 4


def test_what_an_earlier_try_has_loaded_is_done(world, context):
    world.load()
    assert BulkloadOperator(task_id="load", **world.flags()).execute(context(try_number=2))["already"] == 4
    with pytest.raises(AirflowSkipException):
        BulkloadOperator(task_id="load", **{**world.flags(), "from_date": "2015-01-01"}).execute(context(try_number=2))


def test_a_wrong_job_fails_for_good(world, context):
    world.job.write_text(world.job.read_text().replace("behaviours:", "behaviors:"))
    given = context()
    with pytest.raises(AirflowFailException, match="(?s)status 64.*behaviours"):
        BulkloadOperator(task_id="load", **world.flags()).execute(given)
    assert given["ti"].pushed["return_value"]["status"] == 64


def test_too_many_bad_records_fail_for_good(world, context):
    (world.logs / DATES[0] / "play.csv").write_text("user_id,time,programme,seconds\nu,never,p,1\n")
    with pytest.raises(AirflowFailException, match="status 65"):
        BulkloadOperator(task_id="load", **world.flags()).execute(context())


def test_missing_input_fails_for_good(world, context):
    world.write_job(play="required: true, ")
    (world.logs / DATES[0] / "play.csv").unlink()
    with pytest.raises(AirflowFailException, match="status 66.*play"):
        BulkloadOperator(task_id="load", **world.flags()).execute(context())


def test_names_in_a_list_may_have_commas():
    assert options(types=["play", "a,b", 'say "hi"', "Course viewed"]) == ['--types=play,"a,b","say ""hi""",Course viewed']


def test_output_that_is_there_fails_for_good(world, context):
    world.load()
    flags = world.flags(types=["play", "order"], out=str(world.out), active="any")
    first = ExtractOperator(task_id="extract", **flags).execute(context())
    assert first["out"] == str(world.out) and first["events"] > 0
    with pytest.raises(AirflowFailException, match="status 73"):
        ExtractOperator(task_id="extract", **flags).execute(context())
    again = ExtractOperator(task_id="extract", overwrite=True, **flags).execute(context())
    assert again["events"] == first["events"]


def test_what_an_earlier_try_has_extracted_is_done(world, context):
    world.load()
    flags = world.flags(types=["play", "order"], out=str(world.out), active="any")
    first = ExtractOperator(task_id="extract", **flags).execute(context())
    second = ExtractOperator(task_id="extract", **flags).execute(context(try_number=2))
    counts = ("users", "found", "active", "kept", "events", "files", "out")
    assert second["already"] and {n: second[n] for n in counts} == {n: first[n] for n in counts}
    with pytest.raises(AirflowFailException, match="status 73"):
        ExtractOperator(task_id="extract", **{**flags, "types": "play"}).execute(context(try_number=2))
    world.load(DATES[1])
    with pytest.raises(AirflowFailException, match="status 73"):
        ExtractOperator(task_id="extract", **flags).execute(context(try_number=2))


def test_each_night_is_appended_to_one_result(world, context):
    def night(date, **more):
        flags = {**world.flags(types=["play", "order"], out=str(world.out), active="any"), "from_date": date, "to_date": date}
        return ExtractOperator(task_id="extract", append=True, flags=["--partition-by=date"], **flags).execute(context(**more))

    world.load()
    first = night(DATES[0])
    with pytest.raises(AirflowFailException, match="days are not loaded"):
        night(DATES[1])
    world.load(DATES[1])
    second = night(DATES[1])
    assert first["events"] > 0 and second["events"] > 0
    with pytest.raises(AirflowSkipException):
        night(DATES[1])
    again = night(DATES[1], try_number=2)
    assert again["already"] and again["events"] == second["events"]
    assert sorted(f.name for f in world.out.glob("date=*")) == [f"date={d}" for d in DATES[:2]]


def test_a_held_lock_is_tried_again(world, context):
    world.load()
    with open(world.table / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(AirflowException, match="status 75") as e:
            BulkloadOperator(task_id="load", **{**world.flags(), "from_date": DATES[1]}).execute(context())
    assert not isinstance(e.value, (AirflowFailException, AirflowSkipException))


@pytest.mark.parametrize("status", [1, 2, 127, 141])
def test_any_other_status_is_tried_again(program, context, status):
    fake = program(f"""echo 'bulkload: the disk is on fire' >&2; exit {status}\n""")
    with pytest.raises(AirflowException, match=f"status {status}: bulkload: the disk is on fire") as e:
        BulkloadOperator(task_id="load", from_date=DATES[0], bin=fake).execute(context())
    assert not isinstance(e.value, (AirflowFailException, AirflowSkipException))


def test_a_signal_is_a_status(program, context):
    with pytest.raises(AirflowException, match="status 137"):
        BulkloadOperator(task_id="load", from_date=DATES[0], bin=program("kill -KILL $$\n")).execute(context())


def test_verify_compares_the_table(world, context):
    world.load()
    assert VerifyOperator(task_id="verify", table=str(world.table)).execute(context())["differing_days"] == 0
    for name in world.table.rglob("*.hfile"):
        name.unlink()
    with pytest.raises(AirflowFailException, match="missing files 1"):
        VerifyOperator(task_id="verify", table=str(world.table)).execute(context())


def test_a_table_with_an_unfinished_load_is_compared_again(program, context):
    fake = program("""echo '{"differing_days":1,"unfinished":["a"],"status":1,"error":"it differs"}'; exit 1\n""")
    with pytest.raises(AirflowException) as e:
        VerifyOperator(task_id="verify", bin=fake).execute(context())
    assert not isinstance(e.value, AirflowFailException)


def test_the_result_is_the_last_line_of_standard_output(program, context, logged):
    fake = program("""echo '{"read":1,"status":7}' >&2; echo 'loaded 5'; echo '{"read":5,"status":0}'; echo 'late words' >&2\n""")
    assert BulkloadOperator(task_id="load", from_date=DATES[0], bin=fake).execute(context()) == {"read": 5, "status": 0}
    assert {"loaded 5", "late words"} <= set(logged.lines)


def test_lines_are_logged_as_they_come(program, context, logged, tmp_path):
    """The command waits for a file. The test makes this file when the command's line is logged."""
    seen = tmp_path / "seen"
    fake = program(
        f"""echo 'level=WARN msg=slow' >&2
        n=0; while [ ! -e {seen} ]; do sleep 0.05; n=$((n+1)); [ $n -lt 12000 ] || exit 1; done
        echo '{{"status":0}}'\n"""
    )
    logged.then = lambda record: seen.touch() if record.getMessage() == "level=WARN msg=slow" and record.levelno == logging.WARNING else None
    assert BulkloadOperator(task_id="load", from_date=DATES[0], bin=fake).execute(context())["status"] == 0


def test_flags_that_are_empty_are_none(world, context):
    world.load()
    result = ExtractOperator(
        task_id="extract", job="", table=str(world.table), from_date=DATES[0], to_date="", types="play", out=str(world.out), flags="--plan 'auto' --workers=1"
    ).execute(context())
    assert result["status"] == 0


@pytest.mark.parametrize("wrong", [{"from_date": ""}, {"types": []}], ids=["from_date", "types"])
def test_flags_that_would_widen_to_everything_fail(world, context, wrong):
    world.load()
    flags = dict(table=str(world.table), from_date=DATES[0], types="play", out=str(world.out)) | wrong
    with pytest.raises(AirflowFailException, match="is empty: correct the DAG"):
        ExtractOperator(task_id="extract", **flags).execute(context())
    with pytest.raises(AirflowFailException, match="is empty: correct the DAG"):
        BulkloadOperator(task_id="load", job=str(world.job), from_date=flags["from_date"], types=flags["types"]).execute(context())
    assert not world.out.exists()


def test_templates_are_of_the_flags(world):
    from datetime import datetime, timezone

    task = BulkloadOperator(task_id="load", from_date="{{ ds }}", table="{{ params.t }}", flags=["--memory", "{{ params.m }}"], env={"A": "{{ ds }}"})
    task.render_template_fields({"ds": DATES[0], "params": {"t": "", "m": "1GiB"}, "ts": datetime.now(timezone.utc)})
    assert (task.from_date, task.table, task.flags, task.env) == (DATES[0], "", ["--memory", "1GiB"], {"A": DATES[0]})


def test_no_program_says_what_to_do(context, tmp_path):
    with pytest.raises(AirflowFailException, match=r"no bulkload in .*USERTRAIL_BIN"):
        BulkloadOperator(task_id="load", from_date=DATES[0], bin=str(tmp_path)).execute(context())


def test_programs_are_found_by_operator_connection_and_environment(program, monkeypatch, tmp_path):
    assert UsertrailHook().program("extract") == str(BIN / "extract")
    here = program("exit 0\n", "extract")
    monkeypatch.setenv("AIRFLOW_CONN_TRAILS", json.dumps({"conn_type": "usertrail", "extra": {"bin": here, "job": "j.yaml", "env": {"A": "1"}}}))
    hook = UsertrailHook("trails", env={"B": "2"})
    assert hook.program("extract") == here + "/extract"
    assert (hook.job, hook.table, hook.env) == ("j.yaml", None, {"A": "1", "B": "2"})
    secured = {"keytab": "/k", "principal": "p@R", "protection": "privacy", "env": {"USERTRAIL_PROTECTION": "integrity"}}
    monkeypatch.setenv("AIRFLOW_CONN_SECURED", json.dumps({"conn_type": "usertrail", "extra": secured}))
    assert UsertrailHook("secured").env == {"USERTRAIL_KEYTAB": "/k", "USERTRAIL_PRINCIPAL": "p@R", "USERTRAIL_PROTECTION": "integrity"}
    assert UsertrailHook("trails", bin=str(BIN)).program("extract") == str(BIN / "extract")
    monkeypatch.delenv("USERTRAIL_BIN")
    monkeypatch.setenv("PATH", here)
    assert UsertrailHook().program("extract") == here + "/extract"


def test_a_connection_with_a_misspelt_key_says_so(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_TRAILS", json.dumps({"conn_type": "usertrail", "extra": {"binary": "/x"}}))
    with pytest.raises(AirflowFailException, match="binary: it may have bin"):
        UsertrailHook("trails")


def test_a_connection_is_tested_by_its_programs(tmp_path):
    ok, versions = UsertrailHook().test_connection()
    assert ok and "bulkload" in versions and "extract" in versions
    assert not UsertrailHook(bin=str(tmp_path)).test_connection()[0]


def test_a_connection_gives_job_and_environment(world, context, monkeypatch):
    extra = {"job": str(world.job), "table": str(world.folder / "other")}
    monkeypatch.setenv("AIRFLOW_CONN_TRAILS", json.dumps({"conn_type": "usertrail", "extra": extra}))
    BulkloadOperator(task_id="load", from_date=DATES[0], conn_id="trails").execute(context())
    assert (world.folder / "other" / "manifest.json").exists() and not world.table.exists()
    shutil.rmtree(world.folder / "other")
