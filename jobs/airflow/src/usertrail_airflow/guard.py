"""Runs a command that must not outlive the process that started it.

    guard.py FD GRACE PROGRAM ARGS..

FD is the read end of a pipe to which nothing is written. The starting process holds the write
end. When it closes this end or dies, the command's process group gets SIGTERM. If a process
of the group is left after GRACE seconds, the group gets SIGKILL. The exit status is the status
of the command, or 128 plus the number of the signal that ended it, as in a shell.

Airflow kills a task five seconds after SIGTERM. A load may need longer to stop cleanly.
Therefore the guard is a process of its own. It imports nothing of Airflow.
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
    """Waits until the pipe is closed, and then ends the process group."""
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
    """Sends a signal to a process group. Returns False if the group has no process."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
