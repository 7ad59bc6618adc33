"""Fixtures: the real bulkload and extract, logs, and an Airflow in a temporary home.

The commands are in $USERTRAIL_BIN or in the repository's bin. They must be built with -tags
breakpoints, so that tests can stop them at a named step. bulkload sample makes the logs. With
USERTRAIL_TESTS=all a scheduler also runs the DAGs."""

import atexit
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from airflows import environment, new_home

REPOSITORY = Path(__file__).parents[3]
BIN = Path(os.environ.setdefault("USERTRAIL_BIN", str(REPOSITORY / "bin"))).resolve()
COMPLETE = os.environ.get("USERTRAIL_TESTS") == "all"
HOME = Path(tempfile.mkdtemp(prefix="usertrail-airflow-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

# Airflow reads these when it is imported.
os.environ.update(environment(HOME), AIRFLOW__CORE__UNIT_TEST_MODE="False")
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
    """Makes the logs of three days."""
    folder = tmp_path_factory.mktemp("samples") / "logs"
    bulkload("sample", folder, "--records=3000", "--users=60", "--days=3", f"--from={DATES[0]}", "--bad=0")
    return folder


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Makes the home of an Airflow with a database, once."""
    folder = tmp_path_factory.mktemp("airflow")
    new_home(folder)
    return folder


@pytest.fixture
def world(tmp_path, samples):
    shutil.copytree(samples, tmp_path / "logs")
    return World(tmp_path)


class World:
    """A folder with logs, a job, a table and a result."""

    def __init__(self, folder):
        self.folder = folder
        self.logs, self.table, self.out = folder / "logs", folder / "trails", folder / "out"
        self.job = folder / "usertrail.yaml"
        self.write_job()

    def write_job(self, play="", text=JOB):
        self.job.write_text(text.format(logs=self.logs, table=self.table, play=play))

    def flags(self, **more):
        """Returns the parameters that every operator gets."""
        return dict(job=str(self.job), from_date=DATES[0], **more)

    def load(self, date=DATES[0]):
        bulkload("--job", self.job, "--from", date, "--to", date)


def bulkload(*args):
    return subprocess.run([BIN / "bulkload", *map(str, args)], check=True, capture_output=True, text=True)


@pytest.fixture
def program(tmp_path):
    """Writes a shell script in place of a command of usertrail, for behaviour that the real
    commands do not show at will. Returns its folder."""

    def make(script, name="bulkload"):
        folder = tmp_path / "fake"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n" + script)
        (folder / name).chmod(0o755)
        return str(folder)

    return make


class Instance:
    """The part of a task instance that an operator uses."""

    def __init__(self, try_number=1):
        self.try_number = try_number
        self.pushed = {}

    def xcom_push(self, key, value):
        self.pushed[key] = value


@pytest.fixture
def context():
    """Returns a function that makes the context of a try of a task."""
    from airflow.sdk.execution_time.context import OutletEventAccessors

    return lambda try_number=1: {"ti": Instance(try_number), "outlet_events": OutletEventAccessors()}


def start(function, *args):
    """Starts a function in a fork of this process, as Airflow starts a task. So no second process
    imports Airflow."""
    process = multiprocessing.get_context("fork").Process(target=function, args=args)
    process.start()
    return process


def forked(file, function, *args):
    """Calls a function in a fork of this process. Returns what it prints into a file."""

    def call():
        with open(file, "w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        sys.stdout, sys.stderr = open(1, "w"), open(2, "w")
        function(*args)

    process = start(call)
    process.join(WATCHDOG_SECONDS)
    assert process.exitcode == 0, file.read_text()
    return file.read_text()


def gone(pid):
    """Reports whether a process has ended. It may be a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


# No wait takes this long, even on a busy machine. A longer wait fails the test.
WATCHDOG_SECONDS = 3000


def until(true, what):
    """Waits until true() is true. After WATCHDOG_SECONDS the test fails."""
    end = time.monotonic() + WATCHDOG_SECONDS
    while not true():
        assert time.monotonic() < end, f"waited {WATCHDOG_SECONDS} s: {what}"
        time.sleep(0.05)


def number(file):
    """Waits for a file with a number, and returns the number."""
    until(lambda: file.exists() and file.read_text().strip(), f"there is no {file}")
    return int(file.read_text())
