"""A table that the programs of $USERTRAIL_BIN load from sample logs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import usertrail

JOB = """
logs: {path: "logs/{date}/{behaviour}.csv", zone: Asia/Shanghai}
table: trails
user: user_id
time: {column: time, format: "2006-01-02 15:04:05"}
behaviours:
  play: {id: 1, fields: {programme: string, channel: string, seconds: int64, url: string}}
  order: {id: 2, fields: {product: string, price: double, quantity: int64, note: string}}
  visit: {id: 3, fields: {page: string, referrer: string, duration: int64}}
  login: {id: 4, fields: {device: string, ip: string, success: bool}}
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    sample = [usertrail.program("bulkload"), "sample", "logs", "--records", "20000", "--users", "400", "--days", "5", "--from", "2014-09-01", "--seed", "1"]
    subprocess.run(sample, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (folder / "usertrail.yaml").write_text(JOB)
    # Records near midnight belong to the day before or after.
    counts = usertrail.load(folder / "usertrail.yaml", "2014-08-31", "2014-09-06", progress=False)
    assert counts["read"] == 20000 and counts["loaded"] + counts["quarantined"] == 20000
    return folder


@pytest.fixture
def table(made: Path) -> Path:
    return made / "trails"


@pytest.fixture(autouse=True)
def here(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)
    for name in list(os.environ):
        if name.startswith("USERTRAIL_") and name != "USERTRAIL_BIN":
            monkeypatch.delenv(name)
