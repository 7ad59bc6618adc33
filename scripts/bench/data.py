"""The data of the benchmarks: logs, job, lists of users, and the files of the peers."""

import json
import os
import re
import shutil
import sys

import clickhouse as merge_trees
import measure
import peer
from measure import ROOT

BIN = os.environ.get("USERTRAIL_BIN", os.path.join(ROOT, "bin"))
FROM, TO = "2014-09-01", "2014-09-10"
TYPES = ["play", "order", "visit", "login"]
LISTS = {"0.1%": 1000, "1%": 100}  # a list has one user in this many


class Data:
    """The paths of the files for one set of parameters."""

    def __init__(self, records, users):
        self.records, self.users = records, users
        self.dir = os.path.join(ROOT, "bench", "data", f"{records}-{users}")
        self.logs = os.path.join(self.dir, "logs")
        self.job = os.path.join(self.dir, "usertrail.yaml")
        self.table = os.path.join(self.dir, "trails")
        self.out = os.path.join(self.dir, "out")
        self.daily = os.path.join(self.dir, "daily")
        self.sorted = os.path.join(self.dir, "sorted.parquet")
        self.peer_out = os.path.join(self.dir, "peer.parquet")

    def list(self, share):
        """Returns the file with a share of the users, or None for all users."""
        return os.path.join(self.dir, f"users-{share}.txt") if share in LISTS else None

    def merge_tree(self, state):
        """Returns the directory of ClickHouse's table in a state."""
        return os.path.join(self.dir, f"clickhouse-{state}")

    def make(self, for_peer=True, clickhouse=False):
        """Makes the parts that are missing. Each part exists whole or not at all."""
        os.makedirs(self.dir, exist_ok=True)
        self._once(self.logs, self._make_logs)
        with open(self.job, "w", encoding="utf-8") as f:
            f.write(job_text())
        for share, of in LISTS.items():
            self._once(self.list(share), lambda path, of=of: peer.write_list(self.logs, max(self.users // of, 1), path))
        if for_peer:
            self._once(self.daily, lambda path: peer.write_daily(self.logs, path))
            self._once(self.sorted, lambda path: peer.run(peer.load(self.logs, path)))
        for state in merge_trees.STATES if clickhouse else ():
            self._once(self.merge_tree(state), lambda path, state=state: merge_trees.load(path, self.logs, state))

    def log_bytes(self):
        return size(self.logs)

    def _make_logs(self, path):
        measure.run([
            command("bulkload"), "sample", path, "--records", str(self.records), "--users", str(self.users),
            "--days", "10", "--from", FROM, "--seed", "1", "--bad", "0",
        ])

    def _once(self, path, make):
        if os.path.exists(path):
            return
        say(f"making {os.path.relpath(path, ROOT)}")
        remove(path + ".part")
        make(path + ".part")
        os.rename(path + ".part", path)


def command(name):
    return os.path.join(BIN, name)


def job_text(compression=""):
    """Returns the job of the sample logs, for logs and a table next to the job."""
    with open(os.path.join(ROOT, "jobs", "settopbox.yaml"), encoding="utf-8") as f:
        text = f.read()
    text, n = re.subn(r"\.\./demo/", "", text)
    if n != 2:
        sys.exit(f"bench: jobs/settopbox.yaml has ../demo/ {n} times, want once for the logs and once for the table")
    if compression:
        text, n = re.subn(r"(?m)^table: (\S+)$", rf"table: {{path: \1, compression: {compression}}}", text)
        if n != 1:
            sys.exit(f"bench: jobs/settopbox.yaml has {n} lines table: PATH, want one")
    return text


def size(path):
    """Returns the size of a file, or of all files below a directory."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(path) for f in files)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def last_json(stdout):
    """Returns the result that our commands print on their last line."""
    return json.loads(stdout.strip().splitlines()[-1])
