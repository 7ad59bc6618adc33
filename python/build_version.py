"""The version of the wheel: $USERTRAIL_VERSION, or else git's, as PEP 440 writes it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path


def normal(described: str) -> str:
    """Returns the version for what `git describe --tags --always` prints.

    v1.2.0 is 1.2.0, v1.2.0-5-gabc1234 is 1.2.0.post5+gabc1234, and a commit without a tag is
    0.0.0+abc1234, also if its hash has only digits.
    """
    tagged = re.fullmatch(r"v?(\d+(?:\.\d+)+)(?:-?(a|b|rc)\.?(\d+))?(?:-(\d+)-(g[0-9a-f]+))?(-dirty)?", described)
    if tagged is None:
        return "0.0.0+" + re.sub(r"[^0-9A-Za-z]+", ".", described).strip(".")
    release, pre, number, commits, commit, dirty = tagged.groups()
    local = ".".join(filter(None, [commit, "dirty" if dirty else None]))
    return release + (f"{pre}{number}" if pre else "") + (f".post{commits}" if commits else "") + (f"+{local}" if local else "")


def described() -> str:
    version = os.environ.get("USERTRAIL_VERSION")
    if version:
        return version
    git = ["git", "describe", "--tags", "--always", "--dirty"]
    try:
        return subprocess.run(git, cwd=Path(__file__).parent, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


__version__ = normal(described())
