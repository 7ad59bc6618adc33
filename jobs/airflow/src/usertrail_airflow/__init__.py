"""usertrail's commands as tasks of Airflow 3.

A command's exit status says what becomes of its task, and its last line is the XCom.
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
