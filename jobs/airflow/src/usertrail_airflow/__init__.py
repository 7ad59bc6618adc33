"""Runs usertrail's commands as tasks of Airflow 3.

The exit status of a command decides the state of its task. Its last line is the XCom.
"""

from usertrail_airflow.hook import UsertrailHook
from usertrail_airflow.operators import BulkloadOperator, ExtractOperator, VerifyOperator
from usertrail_airflow.pieces import (
    BulkloadCommitOperator,
    BulkloadPiecesOperator,
    BulkloadPlanOperator,
    ExtractCommitOperator,
    ExtractPiecesOperator,
    ExtractPlanOperator,
)
from usertrail_airflow.sensors import LogsSensor

__all__ = [
    "BulkloadCommitOperator",
    "BulkloadOperator",
    "BulkloadPiecesOperator",
    "BulkloadPlanOperator",
    "ExtractCommitOperator",
    "ExtractOperator",
    "ExtractPiecesOperator",
    "ExtractPlanOperator",
    "LogsSensor",
    "UsertrailHook",
    "VerifyOperator",
]
