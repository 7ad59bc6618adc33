"""Computes the day that a run loads. Airflow's ds is the date of the run, in UTC."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo


def day_before(run_after: datetime, zone: str) -> str:
    """Returns the day before the day on which a run begins in the zone, as YYYY-MM-DD."""
    return (run_after.astimezone(ZoneInfo(zone)).date() - timedelta(days=1)).isoformat()
