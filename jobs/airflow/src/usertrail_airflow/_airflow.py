"""Imports names of Airflow whose modules differ between its versions."""

from __future__ import annotations

try:
    from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSensorTimeout, AirflowSkipException
except ImportError:  # before 3.2
    from airflow.exceptions import AirflowException, AirflowFailException, AirflowSensorTimeout, AirflowSkipException

try:
    from airflow.sdk import BaseHook
except ImportError:  # before 3.1
    from airflow.hooks.base import BaseHook

try:
    from airflow.sdk import conf
except ImportError:
    from airflow.configuration import conf

__all__ = ["AirflowException", "AirflowFailException", "AirflowSensorTimeout", "AirflowSkipException", "BaseHook", "conf"]
