"""What Airflow is told of this package."""

from __future__ import annotations

from typing import Any


def info() -> dict[str, Any]:
    """The result of Airflow's entry point apache_airflow_provider."""
    return {
        "package-name": "usertrail-airflow",
        "name": "usertrail",
        "description": "Operators and a sensor for usertrail's bulkload and extract",
        "connection-types": [
            {"connection-type": "usertrail", "hook-class-name": "usertrail_airflow.hook.UsertrailHook"},
        ],
    }
