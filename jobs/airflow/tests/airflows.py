"""Starts a real Airflow for tests: its database, and its four processes on the loopback."""

import errno
import io
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

DAGS = Path(__file__).parents[1] / "dags"
AIRFLOW = Path(sys.executable).with_name("airflow")

# No wait takes this long, even on a busy machine. A longer wait fails the test.
WATCHDOG_SECONDS = 3000

# How often a process of Airflow is started again, like by a supervisor, before the test fails.
MAX_RESTARTS = 10

# Replacements in the DAGs, by DAG: waits of seconds in place of minutes.
SHORTER_WAITS = {
    "usertrail_nightly": {
        "RETRY = timedelta(minutes=10)": "RETRY = timedelta(seconds=1)",
        "POKE = timedelta(minutes=5)": "POKE = timedelta(seconds=1)",
        "SETTLE = timedelta(minutes=1)": "SETTLE = timedelta(seconds=0.1)",
        "WAIT = timedelta(hours=6)": "WAIT = timedelta(seconds=0)",
    },
    "usertrail_backfill": {'"--settle=60s"': '"--settle=100ms"'},
    "usertrail_pieces": {'"--settle=60s"': '"--settle=100ms"'},
    "usertrail_sweep": {'SETTLE = "60s"': 'SETTLE = "100ms"'},
}


def copy_dags(folder):
    """Copies the DAGs into a folder, with shorter waits."""
    folder.mkdir()
    for file in DAGS.glob("*.py"):
        text = file.read_text()
        for slow, fast in SHORTER_WAITS.get(file.stem, {}).items():
            assert slow in text
            text = text.replace(slow, fast)
        (folder / file.name).write_text(text)


def new_home(folder, *commands):
    """Makes a folder the home of an Airflow, with the DAGs and a database. Then one process runs
    these commands of Airflow. Returns the output of all of them."""
    copy_dags(folder / "dags")
    every = [["db", "migrate"], *map(list, commands)]
    done = run([sys.executable, Path(__file__).with_name("commands.py"), json.dumps(every)], environment(folder))
    assert done.returncode == 0, done.stdout
    return done.stdout


def run(args, env):
    return subprocess.run(args, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WATCHDOG_SECONDS)


def environment(home):
    """Returns the environment of an Airflow with this home."""
    port = free_port()
    return {
        **os.environ,
        "PATH": f"{AIRFLOW.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
        "AIRFLOW_HOME": str(home),
        # By default, a process that waits five seconds for another one's write to SQLite ends.
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db?timeout=600",
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
        # These limits hold on a busy machine, too.
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",
        "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "300",
        "AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": "300",
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
        "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
    }


def airflow(env, *args):
    """Runs one command of Airflow, and returns its status and its output."""
    done = run([AIRFLOW, *args], env)
    return done.returncode, done.stdout


def free_port():
    """Returns a port on which nothing listens. The system gives no such low port to other programs that leave
    the choice to it, so the port is still free when Airflow is up."""
    while True:
        try:
            with socket.create_server(("127.0.0.1", random.randrange(20_000, 30_000))) as s:
                return s.getsockname()[1]
        except OSError as e:
            if e.errno != errno.EADDRINUSE:
                raise


class Airflow:
    """A running Airflow, which tests use over REST.

    It is not `airflow standalone`: the log servers of standalone listen on every address.
    """

    PROCESSES = (("api-server",), ("scheduler", "--skip-serve-logs"), ("dag-processor",), ("triggerer", "--skip-serve-logs"))

    def __init__(self, home):
        self.home = home
        self.env = environment(home)
        self.url = self.env["AIRFLOW__API__BASE_URL"]
        self.processes = []
        self.sessions = set()
        self.restarts = 0

    def start(self, args):
        with open(self.home / f"{args[0]}.out", "ab") as log:
            process = subprocess.Popen([AIRFLOW, *args], env=self.env, stdout=log, stderr=log, start_new_session=True)
        self.sessions.add(process.pid)
        return process

    def keep_up(self):
        """Starts each process again that has ended: SQLite refuses some writes of a process without waiting."""
        for i, p in enumerate(self.processes):
            if p.poll() is not None:
                assert self.restarts < MAX_RESTARTS, self.logs()
                self.restarts += 1
                self.processes[i] = self.start(self.PROCESSES[i])

    def __enter__(self):
        try:
            self.processes = [self.start(args) for args in self.PROCESSES]
            self.until(self.healthy, "Airflow is not up")
            self.token = self.ask("GET", "/auth/token")["access_token"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """Ends all processes of the sessions that were started, by their process IDs."""
        for p in self.processes:
            p.terminate()
        for p in self.processes:
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                pass
        for pid in processes_of(self.sessions):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for p in self.processes:
            p.wait()

    def healthy(self):
        try:
            parts = self.ask("GET", "/api/v2/monitor/health")
        except (urllib.error.URLError, OSError):
            return False
        return all(part["status"] == "healthy" for name, part in parts.items())

    token = None

    def ask(self, method, path, body=None):
        """Returns the response of the REST API. On a busy machine it may take a minute."""
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode(), headers, method=method)
        return self.until(lambda: self.response(request), f"{method} {path}")["is"]

    def response(self, request):
        """Returns the response to a request, or None if another process of Airflow had locked SQLite. Then nothing was done."""
        try:
            with urllib.request.urlopen(request, timeout=WATCHDOG_SECONDS) as reply:
                return {"is": json.load(reply)}
        except urllib.error.HTTPError as e:
            body = e.read()
            if e.code == 500 and b"Database error" in body:
                return None
            raise urllib.error.HTTPError(e.url, e.code, e.msg, e.headers, io.BytesIO(body)) from e

    def until(self, true, what):
        """Waits until true() is true. After WATCHDOG_SECONDS the test fails, with the last lines of
        Airflow's logs."""
        end = time.monotonic() + WATCHDOG_SECONDS
        while not (found := true()):
            self.keep_up()
            assert time.monotonic() < end, f"waited {WATCHDOG_SECONDS} s: {what}\n{self.logs()}"
            time.sleep(0.3)
        return found

    def logs(self):
        return "\n".join(f"{file.name}:\n{file.read_text(errors='replace')[-3000:]}" for file in self.home.glob("*.out"))

    def trigger(self, dag, **conf):
        """Starts a run as soon as Airflow has read the DAG, and returns the run's ID."""

        def start():
            try:
                return self.ask("POST", f"/api/v2/dags/{dag}/dagRuns", {"logical_date": None, "conf": conf})
            except urllib.error.HTTPError as e:
                if e.code != 404:
                    raise AssertionError(e.read().decode()) from e
                return None

        return self.until(start, f"there is no DAG {dag}")["dag_run_id"]

    def run(self, dag, run):
        return self.ask("GET", f"/api/v2/dags/{dag}/dagRuns/{run}")

    def tasks(self, dag, run):
        """Returns the task instances of a run by their names. The key of a mapped one also has its number."""
        found = self.ask("GET", f"/api/v2/dags/{dag}/dagRuns/{run}/taskInstances")["task_instances"]
        return {t["task_id"] if t["map_index"] < 0 else (t["task_id"], t["map_index"]): t for t in found}

    def states(self, dag, run):
        return {name: t["state"] for name, t in self.tasks(dag, run).items()}

    def ended(self, dag, run):
        """Waits for the end of a run, and returns its state."""
        return self.until(lambda: (state := self.run(dag, run)["state"]) in ("success", "failed") and state, f"{dag} {run} does not end")

    def deferred(self, dag, run, task):
        """Waits until a task is deferred, and the scheduler knows that its process has ended. If the task
        were queued again before, a busy scheduler could take the end of this process for a kill of the next
        one, and mark the task as failed."""
        ended = f"with state success for task instance TaskInstanceKey(dag_id='{dag}', task_id='{task}', run_id='{run}'"
        self.until(lambda: self.states(dag, run).get(task) == "deferred", f"{dag} {run} {task} does not defer")
        self.until(lambda: ended in (self.home / "scheduler.out").read_text(errors="replace"), f"the scheduler does not see that {task} defers")

    def xcom(self, dag, run, task, key="return_value"):
        return self.ask("GET", f"/api/v2/dags/{dag}/dagRuns/{run}/taskInstances/{task}/xcomEntries/{key}?deserialize=true")["value"]

    def log(self, dag, run, task):
        """Returns the log of all tries of a task."""
        lines = []
        for attempt in range(1, self.tasks(dag, run)[task]["try_number"] + 1):
            path = f"/api/v2/dags/{dag}/dagRuns/{run}/taskInstances/{task}/logs/{attempt}?full_content=true"
            for line in self.ask("GET", path)["content"]:
                lines.append(line if isinstance(line, str) else " ".join(map(str, line.values())))
        return "\n".join(lines)

    def events(self, asset):
        """Returns the events of an asset, the newest last."""
        found = self.ask("GET", "/api/v2/assets/events?order_by=timestamp&limit=100")["asset_events"]
        return [e for e in found if e["name"] == asset]


def processes_of(sessions):
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) in sessions:
            yield int(stat.parent.name)
