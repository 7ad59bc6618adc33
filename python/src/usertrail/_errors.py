"""Exceptions, by the exit status of a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Note(UserWarning):
    """A remark of a command that succeeded, such as users of the list that were not found."""


class UsertrailError(Exception):
    """A command failed.

    status   exit status of the command; negative if a signal ended it
    result   the object of the command's last line
    command  the command line
    """

    status: int
    result: Mapping[str, Any]
    command: Sequence[str]

    def __init__(self, message: str, status: int, result: Mapping[str, Any], command: Sequence[str]) -> None:
        super().__init__(message)
        self.status = status
        self.result = result
        self.command = command


class Failed(UsertrailError):
    """Status 1: finished work stays finished, and the same call continues from there. Also any
    status that has no exception of its own."""


class UsageError(UsertrailError, ValueError):
    """Status 64: an argument or the job file is wrong. Trying again will not help."""


class BadRecordsError(UsertrailError):
    """Status 65: more bad records than the job allows."""


class MissingInputError(UsertrailError, FileNotFoundError):
    """Status 66: required input is missing."""


class OutputExistsError(UsertrailError, FileExistsError):
    """Status 73: the output exists already."""


class NotNowError(UsertrailError):
    """Status 75: the cluster cannot be reached, or another run holds the lock. Try again later."""


class NothingToDo(UsertrailError):
    """Status 99: there was nothing to do."""


BY_STATUS: dict[int, type[UsertrailError]] = {
    1: Failed,
    64: UsageError,
    65: BadRecordsError,
    66: MissingInputError,
    73: OutputExistsError,
    75: NotNowError,
    99: NothingToDo,
}


def error(message: str, status: int, result: Mapping[str, Any], command: Sequence[str]) -> UsertrailError:
    """Returns the exception for an exit status."""
    return BY_STATUS.get(status, Failed)(message, status, result, command)
