"""Starts a cluster for a benchmark by scripts/cluster, and talks to its administrator."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

from data import ROOT, say

DIR = os.path.join(ROOT, ".cache", "cluster-bench")
SCRIPT = os.path.join(ROOT, "scripts", "cluster")
JAVA = os.path.join(ROOT, "scripts", "cluster.d", "java")

SETTINGS = {
    "CLUSTER_DIR": DIR,
    "CLUSTER_DATANODES": "1",
    "CLUSTER_REGIONSERVERS": "3",
    # On busy cores, the heartbeats to ZooKeeper are late.
    "CLUSTER_ZK_TIMEOUT": "60000",
}


# The RegionServers are at rest when all of them together use at most this part of one core
# during a second. Without any work they use a third of it.
REST = 0.15
PATIENCE = 120  # seconds


class Cluster:
    """A cluster that is up within a with statement. settings are environment variables of
    scripts/cluster, in addition to SETTINGS."""

    def __init__(self, **settings):
        self.settings = SETTINGS | settings

    def __enter__(self):
        os.environ.update(self.settings)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        say("bringing a cluster up")
        try:
            lines = self._do("up").splitlines()
        except BaseException:
            self._do("down")
            raise
        self.conf = lines[-1].removeprefix("conf ")
        self.zookeeper = next(line.split()[-1] for line in lines if line.startswith("zk "))
        self.namenode = next(line.split()[-1] for line in lines if line.startswith("nn "))
        self.servers = [int(line.split()[1]) for line in lines if line.startswith("rs")]
        if self.settings.get("CLUSTER_SECURE", "no") != "no":
            os.environ["KRB5_CONFIG"] = os.path.join(self.conf, "krb5.conf")
            os.environ["KRB5CCNAME"] = os.path.join(DIR, "kdc", "admin.ccache")
        self.admin = Admin(next(line.split()[-1] for line in lines if line.startswith("admin ")))
        return self

    def __exit__(self, *_):
        try:
            self.admin.close()
        finally:  # closing fails if a signal has interrupted both
            say("taking the cluster down")
            self._do("down")

    def servers_cpu(self):
        """Returns the CPU seconds that the RegionServers have used since their start."""
        ticks = 0
        for pid in self.servers:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                after_name = f.read().rpartition(")")[2].split()
            ticks += int(after_name[11]) + int(after_name[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def rest(self):
        """Waits until the RegionServers have no calls, no flushes and no compactions."""
        for _ in range(PATIENCE):
            before = self.servers_cpu()
            time.sleep(1)
            if self.servers_cpu() - before <= REST:
                return
        sys.exit(f"bench: the RegionServers are still at work after {PATIENCE} s")

    def _do(self, command):
        return subprocess.run([SCRIPT, command], stdout=subprocess.PIPE, text=True, check=True).stdout


class Admin:
    """A connection to scripts/cluster.d/java/Admin.java, a daemon of the cluster."""

    def __init__(self, address):
        host, port = address.split(":")
        self.connection = socket.create_connection((host, int(port)))
        self.lines = self.connection.makefile("rw", encoding="ascii", newline="\n")

    def ask(self, *words):
        self.lines.write("\t".join(map(escaped, words)) + "\n")
        self.lines.flush()
        response = [plain(word) for word in self.lines.readline().rstrip("\n").split("\t")]
        if response[0] != "ok":
            sys.exit(f"bench: {' '.join(words)}: {' '.join(response[1:]) or 'the administrator has ended'}")
        return response[1:]

    def fresh(self, table, family, splits, **attributes):
        """Makes an empty table, and drops an existing one first."""
        self.ask("drop", table)
        self.ask("create", table, family, *(f"split={s}" for s in splits), *(f"{k}={v}" for k, v in attributes.items()))

    def close(self):
        self.lines.close()
        self.connection.close()


def escaped(word):
    """Returns a word as Admin reads it. Blanks, backslashes and bytes that are not printable ASCII are \\xNN."""
    return "".join(chr(b) if 0x20 < b < 0x7F and b != 0x5C else f"\\x{b:02x}" for b in word.encode())


def plain(word):
    """Returns the word that escaped has escaped."""
    return re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), word.encode()).decode()


def tool(name, *args):
    """Returns the command that runs a class of HBase."""
    return [SCRIPT, "run", name, *args]


def java(file, *args):
    """Returns the command that runs a program of scripts/cluster.d/java."""
    return [SCRIPT, "java", os.path.join(JAVA, file), *args]
