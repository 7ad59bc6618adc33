"""Runs one process at a time, and measures its time, CPU and memory."""

import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # of the checkout


@dataclasses.dataclass
class Run:
    seconds: float  # wall
    cpu: float  # seconds, user and system, all threads
    rss: int  # bytes at the peak
    stdout: str


def run(argv, text="", cwd=None):
    """Runs a command with text as its standard input. If the command fails, the benchmark ends."""
    with tempfile.TemporaryFile("w+") as into, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        into.write(text)
        into.seek(0)
        start = time.monotonic()
        process = subprocess.Popen(argv, stdin=into, stdout=out, stderr=err, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        stdout = out.read()
        if process.returncode != 0:
            sys.exit(f"bench: {' '.join(argv)}: status {process.returncode}\n{stdout}{err.read()}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, stdout)


class Runs:
    """The measurements of several runs of one work."""

    def __init__(self, name):
        self.name = name
        self.all = []

    def add(self, r):
        self.all.append(r)

    def best(self):
        return min(r.seconds for r in self.all)

    def median(self):
        return statistics.median(r.seconds for r in self.all)

    def cpu(self):
        return statistics.median(r.cpu for r in self.all)

    def rss(self):
        return max(r.rss for r in self.all)
