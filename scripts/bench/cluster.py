"""A cluster of the benchmark's own, from scripts/cluster, and its administrator."""

import os
import signal
import subprocess
import sys

from data import ROOT, say

DIR = os.path.join(ROOT, ".cache", "cluster-bench")
SCRIPT = os.path.join(ROOT, "scripts", "cluster")
JAVA = os.path.join(ROOT, "scripts", "cluster.d", "java")

SETTINGS = {
    "CLUSTER_DIR": DIR,
    "CLUSTER_DATANODES": "1",
    "CLUSTER_REGIONSERVERS": "3",
    # Cores that are busy answer ZooKeeper late.
    "CLUSTER_ZK_TIMEOUT": "60000",
}


class Cluster:
    """Up within a with statement, and gone after it."""

    def __enter__(self):
        os.environ.update(SETTINGS)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        say("bringing a cluster up")
        try:
            lines = self._do("up").splitlines()
        except BaseException:
            self._do("down")
            raise
        self.conf = lines[-1].removeprefix("conf ")
        self.zookeeper = next(line.split()[-1] for line in lines if line.startswith("zk "))
        self.admin = Admin()
        return self

    def __exit__(self, *_):
        self.admin.close()
        say("taking the cluster down")
        self._do("down")

    def _do(self, command):
        return subprocess.run([SCRIPT, command], stdout=subprocess.PIPE, text=True, check=True).stdout


class Admin:
    """scripts/cluster.d/java/Admin.java, which takes requests as long as it runs."""

    def __init__(self):
        self.process = subprocess.Popen(
            java("Admin.java"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
        )

    def ask(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        answer = self.process.stdout.readline().rstrip("\n").split("\t")
        if answer[0] != "ok":
            sys.exit(f"bench: {' '.join(words)}: {' '.join(answer[1:]) or 'the administrator has ended'}")
        return answer[1:]

    def fresh(self, table, family, splits, **attributes):
        """An empty table, in place of the one that there may be."""
        self.ask("drop", table)
        self.ask("create", table, family, *(f"split={s}" for s in splits), *(f"{k}={v}" for k, v in attributes.items()))

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


def java(file, *args):
    """The command that runs one of scripts/cluster.d/java."""
    return [SCRIPT, "java", os.path.join(JAVA, file), *args]
