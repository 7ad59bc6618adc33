"""Runs every night: waits for the logs of the day before, loads them, verifies the table, and
extracts the trails.

A night without logs is skipped. The params of a run name the date, the job and the output. The
defaults of job and out are USERTRAIL_JOB and USERTRAIL_OUT in the environment of the DAG processor.
"""

import os
from datetime import timedelta

import pendulum
from airflow.sdk import DAG, Asset, Param

from usertrail_airflow import BulkloadOperator, ExtractOperator, LogsSensor, VerifyOperator
from usertrail_airflow.dates import day_before

ZONE = "UTC"  # the time zone of the schedule and of the dates of the logs
TABLE = Asset("usertrail_table")
TRAILS = Asset("usertrail_trails")
RETRY = timedelta(minutes=10)
POKE = timedelta(minutes=5)  # between two checks for the logs
SETTLE = timedelta(minutes=1)  # how long a log must be unchanged
WAIT = timedelta(hours=6)  # how long the sensor waits for the logs


def night(dag_run, params):
    """Returns the date to load: the param, or the day before the run."""
    return params["date"] or day_before(dag_run.run_after, ZONE)


with DAG(
    "usertrail_nightly",
    schedule="30 2 * * *",
    start_date=pendulum.datetime(2025, 1, 1, tz=ZONE),
    catchup=False,
    max_active_runs=1,  # a table takes one load at a time
    doc_md=__doc__,
    params={
        "date": Param(None, type=["null", "string"], format="date", description="the date to load; by default the day before the run"),
        "job": Param(os.environ.get("USERTRAIL_JOB", ""), type="string", description="the job file"),
        "types": Param("all", type="string", description="the behaviours to extract, separated by commas; all for every behaviour of the table"),
        "active": Param("any", type="string", description="users who have all, any or min:N of the behaviours"),
        "out": Param(os.environ.get("USERTRAIL_OUT", "extracts"), type="string", description="the folder of the results; each night gets a folder in it"),
    },
    user_defined_macros={"night": night},
    default_args={"retries": 6, "retry_delay": RETRY, "job": "{{ params.job }}", "from_date": "{{ night(dag_run, params) }}"},
) as dag:
    logs = LogsSensor(task_id="logs", mode="reschedule", poke_interval=POKE, timeout=WAIT, settle=SETTLE)
    # A log that has changed since the sensor's last check is not loaded before it has been unchanged.
    load = BulkloadOperator(task_id="load", flags=[f"--settle={SETTLE.total_seconds():.0f}s"], execution_timeout=timedelta(hours=4), outlets=[TABLE])
    verify = VerifyOperator(task_id="verify")
    extract = ExtractOperator(
        task_id="extract",
        users="all",
        types="{{ params.types }}",
        active="{{ params.active }}",
        out="{{ params.out }}/{{ night(dag_run, params) }}",
        overwrite=True,  # a night that is loaded again, because a file came late, is extracted again
        outlets=[TRAILS],
    )
    logs >> load >> verify >> extract
