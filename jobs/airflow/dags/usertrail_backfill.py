"""Loads the logs of many days. It is started by hand.

One load takes all days, several at once. If it fails or is killed, the next try continues where
it stopped.
"""

import os
from datetime import timedelta

from airflow.sdk import DAG, Asset, Param

from usertrail_airflow import BulkloadOperator, VerifyOperator

TABLE = Asset("usertrail_table")

with DAG(
    "usertrail_backfill",
    schedule=None,
    max_active_runs=1,  # a table takes one load at a time
    doc_md=__doc__,
    params={
        "from": Param(type="string", format="date", description="the first date"),
        "to": Param(type="string", format="date", description="the last date, included"),
        "job": Param(os.environ.get("USERTRAIL_JOB", ""), type="string", description="the job file"),
        "types": Param("", type="string", description="behaviours, separated by commas; empty for all of the job"),
    },
    default_args={
        "retries": 6,
        "retry_delay": timedelta(minutes=10),
        "job": "{{ params.job }}",
        "from_date": "{{ params.from }}",
        "to_date": "{{ params.to }}",
        "types": "{{ params.types }}",
    },
) as dag:
    BulkloadOperator(task_id="load", flags=["--settle=60s"], outlets=[TABLE]) >> VerifyOperator(task_id="verify")
