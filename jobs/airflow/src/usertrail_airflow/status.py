"""The state of a task for each exit status."""

from __future__ import annotations

from usertrail_airflow._airflow import AirflowException, AirflowFailException, AirflowSkipException

DONE, FAILED, USAGE, TOO_BAD, NO_INPUT, THERE, NOT_NOW, NOTHING = 0, 1, 64, 65, 66, 73, 75, 99

# Statuses after which another try of the same command would not help.
FINAL = {
    USAGE: "the command line or the job file is wrong",
    TOO_BAD: "more bad records than the job allows",
    NO_INPUT: "required input is missing",
    THERE: "the output exists already",
}


def error_of(status: int, message: str) -> AirflowException:
    """Returns the exception that skips the task (99), fails it without another try (64, 65, 66,
    73), or fails it with another try (all others)."""
    if status == NOTHING:
        return AirflowSkipException(message)
    if status in FINAL:
        return AirflowFailException(message)
    return AirflowException(message)
