"""Every night: wait for the logs of the day before, load them, compare, take the trails out.

A night without logs is skipped. What it works on is said by the params of a run, whose
defaults come from the environment of the DAG processor: USERTRAIL_JOB, USERTRAIL_OUT.
"""

import os
from datetime import timedelta

import pendulum
from airflow.sdk import DAG, Asset, Param

from usertrail_airflow import BulkloadOperator, ExtractOperator, LogsSensor, VerifyOperator
from usertrail_airflow.dates import day_before

ZONE = "UTC"  # that of the schedule, and of the dates of the logs
TABLE = Asset("usertrail_table")
TRAILS = Asset("usertrail_trails")
RETRY = timedelta(minutes=10)
LOOK = timedelta(minutes=5)  # this long between two looks for the logs
SETTLE = timedelta(minutes=1)  # this long they have to stand still
WAIT = timedelta(hours=6)  # this long they are waited for


def night(dag_run, params):
    """The date to load: the param, or the day before the run."""
    return params["date"] or day_before(dag_run.run_after, ZONE)


with DAG(
    "usertrail_nightly",
    schedule="30 2 * * *",
    start_date=pendulum.datetime(2025, 1, 1, tz=ZONE),
    catchup=False,
    max_active_runs=1,  # a table takes one load at a time
    doc_md=__doc__,
    params={
        "date": Param(None, type=["null", "string"], format="date", description="the date to load; the day before the run"),
        "job": Param(os.environ.get("USERTRAIL_JOB", ""), type="string", description="the job file"),
        "types": Param("all", type="string", description="the behaviours to take out, separated by commas; all of the table's"),
        "active": Param("any", type="string", description="which users: all, any or min:N of the behaviours"),
        "out": Param(os.environ.get("USERTRAIL_OUT", "extracts"), type="string", description="the folder of the nights' trails"),
    },
    user_defined_macros={"night": night},
    default_args={"retries": 6, "retry_delay": RETRY, "job": "{{ params.job }}", "from_date": "{{ night(dag_run, params) }}"},
) as dag:
    logs = LogsSensor(task_id="logs", mode="reschedule", poke_interval=LOOK, timeout=WAIT, settle=SETTLE)
    # Logs that have changed since the sensor looked are not loaded before they stand still.
    load = BulkloadOperator(task_id="load", flags=[f"--settle={SETTLE.total_seconds():.0f}s"], execution_timeout=timedelta(hours=4), outlets=[TABLE])
    verify = VerifyOperator(task_id="verify")
    extract = ExtractOperator(
        task_id="extract",
        users="all",
        types="{{ params.types }}",
        active="{{ params.active }}",
        out="{{ params.out }}/{{ night(dag_run, params) }}",
        overwrite=True,  # a night that is loaded again, for a file that came late, is taken out again
        outlets=[TRAILS],
    )
    logs >> load >> verify >> extract
