"""Where the programs are."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def program(name: str) -> str:
    """Returns the path of bulkload or extract.

    It is looked for in the directory $USERTRAIL_BIN, then in this package, then in $PATH.
    """
    directory = os.environ.get("USERTRAIL_BIN")
    if directory:
        return str(Path(directory) / name)
    inside = Path(__file__).with_name("bin") / name
    if inside.exists():
        return str(inside)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is neither in this package nor in $PATH: install the wheel, or set USERTRAIL_BIN to the directory that has it")
    return found
