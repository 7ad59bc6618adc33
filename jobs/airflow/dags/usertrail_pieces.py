"""Does a load and an extract in pieces, which any worker may do. It is started by hand.

All workers must reach the same files: put the logs, the table and out on HDFS, or on a shared
disk. The outlets are on the commits: a mapped task would make one event for each piece.
"""

import os
from datetime import timedelta

from airflow.sdk import DAG, Asset, Param

from usertrail_airflow import (
    BulkloadCommitOperator,
    BulkloadPiecesOperator,
    BulkloadPlanOperator,
    ExtractCommitOperator,
    ExtractPiecesOperator,
    ExtractPlanOperator,
)

TABLE = Asset("usertrail_table")
TRAILS = Asset("usertrail_trails")
WORKERS = 16  # the number of pieces that run at once

with DAG(
    "usertrail_pieces",
    schedule=None,
    max_active_runs=1,
    doc_md=__doc__,
    params={
        "from": Param(type="string", format="date", description="the first date"),
        "to": Param(type="string", format="date", description="the last date, included"),
        "job": Param(os.environ.get("USERTRAIL_JOB", ""), type="string", description="the job file"),
        "load_piece": Param("1GiB", type="string", description="the size of a piece of the load"),
        "types": Param("all", type="string", description="the behaviours to extract, separated by commas; all for every behaviour of the table"),
        "out": Param(os.environ.get("USERTRAIL_OUT", "extracts"), type="string", description="the folder of the results"),
        "extract_piece": Param("4M", type="string", description="the number of events of a piece of the extract"),
    },
    default_args={
        "retries": 6,
        "retry_delay": timedelta(minutes=10),
        "job": "{{ params.job }}",
        "from_date": "{{ params.from }}",
        "to_date": "{{ params.to }}",
    },
) as dag:
    load_plan = BulkloadPlanOperator(task_id="load_plan", piece_size="{{ params.load_piece }}", flags=["--settle=60s"])
    load_piece = BulkloadPiecesOperator.partial(
        task_id="load_piece", map_index_template="{{ piece_name }}", max_active_tis_per_dagrun=WORKERS
    ).expand(piece=load_plan.output)
    load = BulkloadCommitOperator(task_id="load", pieces=load_plan.output, outlets=[TABLE])

    extract_plan = ExtractPlanOperator(
        task_id="extract_plan",
        # If the days are loaded already, the load is skipped. They are extracted all the same.
        trigger_rule="none_failed",
        users="all",
        types="{{ params.types }}",
        active="any",
        out="{{ params.out }}/{{ params.from }}_{{ params.to }}",
        overwrite=True,
        piece_size="{{ params.extract_piece }}",
    )
    extract_piece = ExtractPiecesOperator.partial(
        task_id="extract_piece", map_index_template="{{ piece_name }}", max_active_tis_per_dagrun=WORKERS
    ).expand(piece=extract_plan.output)
    extract = ExtractCommitOperator(task_id="extract", pieces=extract_plan.output, outlets=[TRAILS])

    load_piece >> load >> extract_plan
    extract_piece >> extract
