"""Runs a command that may not outlive whoever asked for it.

    guard.py FD GRACE PROGRAM ARGS..

FD is the reading end of a pipe of which nobody writes: when its other end is closed,
by whoever asked or by their death, the command's process group gets SIGTERM and, where
anything of it is left after GRACE seconds, SIGKILL. The status is the command's, or
128 and the signal that ended it, as a shell says it.

Airflow kills a task five seconds after it asked it to end, which is sooner than a load
may take to stop cleanly: hence a process of its own, which imports nothing of Airflow.
"""

import os
import signal
import subprocess
import sys
import threading
import time


def main(args):
    pipe, grace, command = int(args[0]), float(args[1]), args[2:]
    try:
        child = subprocess.Popen(command, start_new_session=True)
    except OSError as e:
        print(f"{command[0]}: {e.strerror}", file=sys.stderr)
        return 127 if isinstance(e, FileNotFoundError) else 126
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: send(child.pid, number))
    ended = threading.Thread(target=end_with, args=(pipe, grace, child.pid), daemon=True)
    ended.start()
    status = child.wait()
    if asked.is_set():
        ended.join()
    return status if status >= 0 else 128 - status


asked = threading.Event()


def end_with(pipe, grace, group):
    """Waits until the pipe is closed, and then ends the group."""
    os.read(pipe, 1)
    asked.set()
    if not send(group, signal.SIGTERM):
        return
    until = time.monotonic() + grace
    while send(group, 0):
        if time.monotonic() >= until:
            send(group, signal.SIGKILL)
            return
        time.sleep(0.05)


def send(group, number):
    """Says whether there is anybody left to get the signal."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
