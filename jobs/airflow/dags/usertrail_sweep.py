"""Runs every day at noon: loads the missing files of the last days. Logs may have come late, or
nights may have been missed.

Each day is loaded on its own: if a day fails, the others are still loaded. Days that are loaded
already cost nothing. If all days are, the run is skipped. To extract the trails of a day that is
loaded here, run usertrail_nightly with its date.
"""

import os
from datetime import date, timedelta

import pendulum
from airflow.sdk import DAG, Asset, Param

from usertrail_airflow import BulkloadOperator, VerifyOperator
from usertrail_airflow.dates import day_before

ZONE = "UTC"  # the time zone of the schedule and of the dates of the logs
TABLE = Asset("usertrail_table")
SETTLE = "60s"  # how long a log must be unchanged


def last_day(dag_run, params):
    """Returns the last date to load: the param, or the day before the run."""
    return params["to"] or day_before(dag_run.run_after, ZONE)


def first_day(dag_run, params):
    """Returns the first date to load."""
    return (date.fromisoformat(last_day(dag_run, params)) - timedelta(days=params["days"] - 1)).isoformat()


with DAG(
    "usertrail_sweep",
    schedule="0 12 * * *",
    start_date=pendulum.datetime(2025, 1, 1, tz=ZONE),
    catchup=False,  # one run loads the days of all missed runs
    max_active_runs=1,  # a table takes one load at a time
    doc_md=__doc__,
    params={
        "to": Param(None, type=["null", "string"], format="date", description="the last date to load; by default the day before the run"),
        "days": Param(7, type="integer", minimum=1, description="the number of days"),
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
