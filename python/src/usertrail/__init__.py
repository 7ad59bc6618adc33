"""Trails of active users, as Arrow tables.

    import usertrail

    table = usertrail.extract("trails", users=df["id"], start="2014-09-01", end="2014-09-10",
                              types=["play", "order"], active="all", where="play.seconds >= 600")
    table.to_pandas()

The programs bulkload and extract do the work. Rows come over a pipe as Arrow record batches, and
never through a file.

    extract          a result as one pyarrow.Table
    extract_batches  a result batch by batch, in little memory
    load             loads the logs of some days
    show             the events of one user
    explain          what a query would read
    inspect          what a file or directory contains

A failed command is an exception, by its exit status, with the words that the command printed.
"""

from __future__ import annotations

from importlib import metadata

from ._commands import explain, inspect, load, show
from ._errors import (
    BadRecordsError,
    Failed,
    MissingInputError,
    Note,
    NothingToDo,
    NotNowError,
    OutputExistsError,
    UsageError,
    UsertrailError,
)
from ._extract import Batches, extract, extract_batches
from ._process import Result
from ._programs import program

try:
    __version__ = metadata.version("usertrail")
except metadata.PackageNotFoundError:  # it runs from a checkout
    __version__ = "unknown"

__all__ = [
    "BadRecordsError",
    "Batches",
    "Failed",
    "MissingInputError",
    "Note",
    "NotNowError",
    "NothingToDo",
    "OutputExistsError",
    "Result",
    "UsageError",
    "UsertrailError",
    "__version__",
    "explain",
    "extract",
    "extract_batches",
    "inspect",
    "load",
    "program",
    "show",
]
