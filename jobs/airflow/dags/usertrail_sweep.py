"""Every noon: load what the last days lack, because logs came late, or because no night ran.

Each day is loaded by itself, so that one that fails stops no other. Days that are loaded cost
nothing; if all are, the run is skipped. Trails of a night that is loaded here are taken out by a
run of usertrail_nightly with its date.
"""

import os
from datetime import date, timedelta

import pendulum
from airflow.sdk import DAG, Asset, Param

from usertrail_airflow import BulkloadOperator, VerifyOperator
from usertrail_airflow.dates import day_before

ZONE = "UTC"  # that of the schedule, and of the dates of the logs
TABLE = Asset("usertrail_table")
SETTLE = "60s"  # this long logs have to stand still


def last_day(dag_run, params):
    """The last date to load: the param, or the day before the run."""
    return params["to"] or day_before(dag_run.run_after, ZONE)


def first_day(dag_run, params):
    """The first date to load."""
    return (date.fromisoformat(last_day(dag_run, params)) - timedelta(days=params["days"] - 1)).isoformat()


with DAG(
    "usertrail_sweep",
    schedule="0 12 * * *",
    start_date=pendulum.datetime(2025, 1, 1, tz=ZONE),
    catchup=False,  # one run loads what all that were missed would have loaded
    max_active_runs=1,  # a table takes one load at a time
    doc_md=__doc__,
    params={
        "to": Param(None, type=["null", "string"], format="date", description="the last date to load; the day before the run"),
        "days": Param(7, type="integer", minimum=1, description="how many days"),
        "job": Param(os.environ.get("USERTRAIL_JOB", ""), type="string", description="the job file"),
    },
    user_defined_macros={"first_day": first_day, "last_day": last_day},
    default_args={
        "retries": 6,
        "retry_delay": timedelta(minutes=10),
        "job": "{{ params.job }}",
        "from_date": "{{ first_day(dag_run, params) }}",
        "to_date": "{{ last_day(dag_run, params) }}",
    },
) as dag:
    load = BulkloadOperator(task_id="load", flags=["--each-day", f"--settle={SETTLE}"], outlets=[TABLE])
    load >> VerifyOperator(task_id="verify")
