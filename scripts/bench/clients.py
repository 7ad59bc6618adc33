"""Runs both HBase clients: bin/hbasebench and scripts/cluster.d/java/Peer.java."""

import dataclasses
import json
import os
import sys

import cluster
import measure
from data import ROOT


def ours(c, *args):
    """Runs hbasebench on a cluster."""
    return measure.run([os.path.join(ROOT, "bin", "hbasebench"), "-zk", c.zookeeper, *map(str, args)])


def java(*args, program="Peer.java"):
    return measure.run(cluster.java(program, *map(str, args)))


def timed(r):
    """Returns the count and digest of the cells, and a Run with the time that the client measured."""
    last = last_line(r)
    return [last["cells"], last["digest"]], dataclasses.replace(r, seconds=last["seconds"], cpu=last["cpu"])


def last_line(r):
    return json.loads(r.stdout.strip().splitlines()[-1])


def must_equal(what, mine, theirs):
    """Ends the benchmark if the results differ: a wrong result has no speed."""
    if mine != theirs:
        sys.exit(f"bench: {what}: cells and digest are {mine}, want {theirs}")
