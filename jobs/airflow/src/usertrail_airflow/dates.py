"""Which night a run is about. Airflow's own ds is a date of UTC."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo


def day_before(run_after: datetime, zone: str) -> str:
    """The date, YYYY-MM-DD, of the day before the one that a run begins on in a zone."""
    return (run_after.astimezone(ZoneInfo(zone)).date() - timedelta(days=1)).isoformat()
