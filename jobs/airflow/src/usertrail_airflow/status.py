"""What Airflow makes of an exit status."""

from __future__ import annotations

from usertrail_airflow._airflow import AirflowException, AirflowFailException, AirflowSkipException

DONE, FAILED, USAGE, TOO_BAD, NO_INPUT, THERE, NOT_NOW, NOTHING = 0, 1, 64, 65, 66, 73, 75, 99

# Statuses of which the same command has nothing better to say later.
FINAL = {
    USAGE: "the command line or the job file is wrong",
    TOO_BAD: "more bad records than the job allows",
    NO_INPUT: "required input is missing",
    THERE: "the output exists already",
}


def error_of(status: int, message: str) -> AirflowException:
    """The exception that skips the task (99), fails it for good (64, 65, 66, 73), or has
    it tried again (all others)."""
    if status == NOTHING:
        return AirflowSkipException(message)
    if status in FINAL:
        return AirflowFailException(message)
    return AirflowException(message)
