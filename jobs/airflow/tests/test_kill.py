"""When a task is killed, its command ends too, in whatever way it is killed."""

import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import BIN, COMPLETE, DATES, WATCHDOG_SECONDS, gone, number, start, until

from usertrail_airflow import BulkloadOperator
from usertrail_airflow._airflow import AirflowException

# A command and its child. Both ignore SIGTERM.
STUBBORN = """trap 'echo stubborn >&2' TERM
sleep 1000 & echo $! > {folder}/child
echo $$ > {folder}/leader
while :; do wait; done
"""

@pytest.fixture
def stubborn(program, tmp_path):
    script = STUBBORN.format(folder=tmp_path).replace("sleep 1000", "sh -c 'trap \"\" TERM; sleep 1000'")
    return program(script), tmp_path


def test_on_kill_ends_the_whole_group(stubborn, context):
    """The group ignores SIGTERM, so SIGKILL ends it."""
    fake, folder = stubborn
    task = BulkloadOperator(task_id="load", from_date=DATES[0], bin=fake, grace=0.5)
    threading.Thread(target=lambda: (number(folder / "leader"), task.on_kill())).start()
    with pytest.raises(AirflowException, match="status 137"):
        task.execute(context())
    assert gone(number(folder / "leader")) and gone(number(folder / "child"))


def test_a_command_may_stop_cleanly(program, context, tmp_path):
    fake = program(
        f"""trap 'echo "{{\\"loaded\\":3,\\"status\\":1,\\"error\\":\\"stopped\\"}}"; exit 1' TERM
        echo $$ > {tmp_path}/leader; while :; do sleep 0.1; done\n"""
    )
    task = BulkloadOperator(task_id="load", from_date=DATES[0], bin=fake, grace=WATCHDOG_SECONDS)
    threading.Thread(target=lambda: (number(tmp_path / "leader"), task.on_kill())).start()
    given = context()
    with pytest.raises(AirflowException, match="status 1: stopped"):
        task.execute(given)
    assert given["ti"].pushed["return_value"]["loaded"] == 3


def test_on_kill_may_come_at_any_time(program, context):
    task = BulkloadOperator(task_id="load", from_date=DATES[0], bin=program("echo '{\"status\":0}'\n"))
    task.on_kill()
    assert task.execute(context())["status"] == 0
    task.on_kill()
    task.on_kill()


def test_execution_timeout_ends_the_command(stubborn, context):
    from airflow.sdk.exceptions import AirflowTaskTimeout
    from airflow.sdk.execution_time.timeout import timeout

    fake, folder = stubborn
    task = BulkloadOperator(task_id="load", from_date=DATES[0], bin=fake, grace=0.2)

    def time_is_up():
        """Sends the signal of the timeout as soon as the command runs."""
        number(folder / "leader")
        os.kill(os.getpid(), signal.SIGALRM)

    with pytest.raises(AirflowTaskTimeout), timeout(WATCHDOG_SECONDS):
        threading.Thread(target=time_is_up).start()
        task.execute(context())
    assert gone(number(folder / "leader")) and gone(number(folder / "child"))


def task_of(**flags):
    """Starts a task in a process of its own, as Airflow does."""
    return start(BulkloadOperator(task_id="load", **flags).execute, {})


def test_sigkill_of_a_task_ends_its_command(stubborn):
    fake, folder = stubborn
    task = task_of(from_date=DATES[0], bin=fake, grace=0.2)
    leader, child = number(folder / "leader"), number(folder / "child")
    task.kill()
    task.join()
    until(lambda: gone(leader) and gone(child), "the command still runs")


def stopped(pid):
    """Reports whether a process has stopped itself."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def loads_of(folder):
    """Returns the processes of bulkload that work on a folder."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            args = line.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if args[0] == str(BIN / "bulkload").encode() and any(os.fsencode(folder) in a for a in args):
            found.append(int(line.parent.name))
    return found


@pytest.mark.parametrize("step", ["batch", "ledger"] if COMPLETE else ["batch"])
def test_after_sigkill_the_next_try_continues_the_load(world, context, step):
    """SIGKILL ends the task in the middle of a real load. The next try finishes the load."""
    task = task_of(**world.flags(workers=1, grace=0.2, env={"USERTRAIL_BREAKPOINT": step}))
    until(lambda: loads_of(world.folder) or not task.is_alive(), "the load does not begin")
    (load,) = loads_of(world.folder)
    until(lambda: gone(load) or stopped(load), "the load did not stop")
    assert not gone(load), f"{BIN}/bulkload did not stop at {step}: build it with -tags breakpoints"
    task.kill()
    task.join()
    until(lambda: not loads_of(world.folder), "the load still runs")
    result = BulkloadOperator(task_id="load", **world.flags()).execute(context(try_number=2))
    assert result["loaded"] == 1000
    verified = subprocess.run([BIN / "bulkload", "verify", "--table", world.table], capture_output=True, text=True)
    assert verified.returncode == 0 and '"records":1000' in verified.stdout, verified.stdout + verified.stderr
