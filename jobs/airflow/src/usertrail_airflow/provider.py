"""Describes this package to Airflow."""

from __future__ import annotations

from typing import Any


def info() -> dict[str, Any]:
    """Returns the description. Airflow calls it by the entry point apache_airflow_provider."""
    return {
        "package-name": "usertrail-airflow",
        "name": "usertrail",
        "description": "Operators and a sensor for usertrail's bulkload and extract",
        "connection-types": [
            {"connection-type": "usertrail", "hook-class-name": "usertrail_airflow.hook.UsertrailHook"},
        ],
    }
