"""Tests run the real bulkload and extract, from $USERTRAIL_BIN or the repository's bin,
on logs that bulkload sample made up, in an Airflow whose home is thrown away.

The commands have to be built with -tags breakpoints, so that tests can stop them at a
named step. With USERTRAIL_TESTS=all a scheduler runs the DAGs, too."""

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from airflows import new_home

REPOSITORY = Path(__file__).parents[3]
BIN = Path(os.environ.setdefault("USERTRAIL_BIN", str(REPOSITORY / "bin"))).resolve()
COMPLETE = os.environ.get("USERTRAIL_TESTS") == "all"
HOME = Path(tempfile.mkdtemp(prefix="usertrail-airflow-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

# Airflow reads these when it is imported.
os.environ.update(
    AIRFLOW_HOME=str(HOME),
    AIRFLOW__CORE__LOAD_EXAMPLES="False",
    AIRFLOW__CORE__UNIT_TEST_MODE="False",
)
for name in ("USERTRAIL_JOB", "USERTRAIL_OUT"):
    os.environ.pop(name, None)

DATES = ["2014-09-01", "2014-09-02", "2014-09-03"]
TYPES = ["play", "order", "visit", "login"]

JOB = """\
logs: {logs}/{{date}}/{{behaviour}}.csv
table: {table}
behaviours:
  play: {{id: 1, {play}fields: {{programme: string, seconds: int64}}}}
  order: {{id: 2, fields: {{product: string, price: double}}}}
  visit: {{id: 3, fields: {{page: string}}}}
  login: {{id: 4, fields: {{device: string}}}}
"""


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """Logs of three days."""
    folder = tmp_path_factory.mktemp("samples") / "logs"
    bulkload("sample", folder, "--records=3000", "--users=60", "--days=3", f"--from={DATES[0]}", "--bad=0")
    return folder


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The home of an Airflow with a database, made once."""
    folder = tmp_path_factory.mktemp("airflow")
    new_home(folder)
    return folder


@pytest.fixture
def world(tmp_path, samples):
    shutil.copytree(samples, tmp_path / "logs")
    return World(tmp_path)


class World:
    """A folder with logs, a job, a table and what is taken out of it."""

    def __init__(self, folder):
        self.folder = folder
        self.logs, self.table, self.out = folder / "logs", folder / "trails", folder / "out"
        self.job = folder / "usertrail.yaml"
        self.write_job()

    def write_job(self, play="", text=JOB):
        self.job.write_text(text.format(logs=self.logs, table=self.table, play=play))

    def flags(self, **more):
        """What every operator is told."""
        return dict(job=str(self.job), from_date=DATES[0], **more)

    def load(self, date=DATES[0]):
        bulkload("--job", self.job, "--from", date, "--to", date)


def bulkload(*args):
    return subprocess.run([BIN / "bulkload", *map(str, args)], check=True, capture_output=True, text=True)


@pytest.fixture
def program(tmp_path):
    """Makes a command of usertrail that is a shell script, for what the real ones cannot
    be brought to do at will, and says its folder."""

    def make(script, name="bulkload"):
        folder = tmp_path / "fake"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n" + script)
        (folder / name).chmod(0o755)
        return str(folder)

    return make


class Instance:
    """As much of a task instance as an operator sees."""

    def __init__(self, try_number=1):
        self.try_number = try_number
        self.pushed = {}

    def xcom_push(self, key, value):
        self.pushed[key] = value


@pytest.fixture
def context():
    """Makes the context of a task's try."""
    from airflow.sdk.execution_time.context import OutletEventAccessors

    return lambda try_number=1: {"ti": Instance(try_number), "outlet_events": OutletEventAccessors()}


def gone(pid):
    """Whether a process is no more, or only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


# What nothing here takes, on a busy machine; what waits longer has failed.
WATCHDOG_SECONDS = 3000


def until(true, what):
    """Waits; what never comes fails the test."""
    end = time.monotonic() + WATCHDOG_SECONDS
    while not true():
        assert time.monotonic() < end, f"waited {WATCHDOG_SECONDS} s: {what}"
        time.sleep(0.05)


def number(file):
    until(lambda: file.exists() and file.read_text().strip(), f"there is no {file}")
    return int(file.read_text())
