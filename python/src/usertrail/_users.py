"""The users of a query."""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

# IDs that are written to the program at once.
CHUNK = 65536

# The program removes one byte order mark at the beginning of a list. An ID may begin with another one.
MARK = "\ufeff".encode()

# A line that the program skips. For Python, the separators \x1c to \x1f are blanks, too.
BLANK = re.compile(r"[^\S\x1c-\x1f]*")


def flag(users: Any) -> tuple[str, Iterator[bytes] | None]:
    """Returns the value of --users, and the standard input that it needs.

    "all" is every user, and "sample:20" are 20 active users at random. Another string, or a path, is a file with one ID on each line, or
    FILE.parquet:COLUMN or FILE.csv:COLUMN. Anything else has the IDs: a list, a Series of pandas or polars, an
    array of numpy or pyarrow. IDs are strings or integers.
    """
    if isinstance(users, (str, os.PathLike)):
        name = os.fspath(users)
        if name == "-":
            raise ValueError("users: '-' is the standard input of a command: pass the IDs")
        if isinstance(users, Path) and (name == "all" or name.startswith("sample:")):
            name = "./" + name
        return name, None
    if hasattr(users, "columns") or isinstance(users, Mapping):  # it would yield the names of its columns
        raise TypeError(f"users: a {type(users).__name__} is no list of IDs: pass its column with the IDs, such as df['user_id']")
    if not isinstance(users, Iterable) or isinstance(users, (bytes, bytearray)):
        raise TypeError(f"users: {type(users).__name__} is no list of IDs, Series, array or file")
    return "-", lines(users)


def lines(users: Iterable[Any]) -> Iterator[bytes]:
    """Yields a byte order mark, and then one ID on each line."""
    yield MARK
    if hasattr(users, "to_arrow"):  # a Series of polars
        users = users.to_arrow()
    if isinstance(users, (pa.Array, pa.ChunkedArray)):
        for start in range(0, len(users), CHUNK):
            yield joined(users.slice(start, CHUNK).to_pylist(), start)
        return
    chunk: list[Any] = []
    start = 0
    for user in users:
        chunk.append(user)
        if len(chunk) == CHUNK:
            yield joined(chunk, start)
            start += len(chunk)
            chunk = []
    yield joined(chunk, start)


def joined(users: list[Any], start: int) -> bytes:
    return "".join(identity(user, start + i) + "\n" for i, user in enumerate(users)).encode()


def identity(user: Any, place: int) -> str:
    """Returns an ID as text. A number with a fraction is no ID: pandas makes such numbers of
    integers if one is missing."""
    if isinstance(user, str):
        if "\n" in user or "\r" in user:
            raise ValueError(f"users: the ID at {place} has a line break: {user!r}")
        if BLANK.fullmatch(user):
            raise ValueError(f"users: the ID at {place} is blank: {user!r}: drop it, a list has no blank IDs")
        return user
    if isinstance(user, numbers.Integral) and not isinstance(user, bool):
        return str(int(user))
    hint = ""
    if isinstance(user, numbers.Real):
        hint = ": drop missing IDs, and make the others strings"
    raise TypeError(f"users: the ID at {place} is {user!r}, of type {type(user).__name__}; an ID is a string or an integer{hint}")
