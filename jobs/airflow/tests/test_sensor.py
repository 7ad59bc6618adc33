"""LogsSensor runs the real bulkload in every mode."""

import asyncio
import re
import threading
import time

import pytest
from airflow.sdk.exceptions import AirflowRescheduleException, TaskDeferred
from conftest import DATES, WATCHDOG_SECONDS, gone, number

from usertrail_airflow import LogsSensor, logs
from usertrail_airflow._airflow import AirflowException, AirflowFailException, AirflowSensorTimeout, AirflowSkipException
from usertrail_airflow.triggers import LogsTrigger


def sensor(world, **more):
    flags = dict(task_id="logs", poke_interval=0.05, timeout=0, settle=0)
    return LogsSensor(**{**flags, **world.flags(), **more})


def test_logs_that_are_there(world, context):
    assert sensor(world).execute(context())["files"] == 4


def test_logs_that_are_loaded_are_there_too(world, context):
    world.load()
    seen = sensor(world).execute(context())
    assert (seen["files"], seen["already"]) == (0, 4)


def test_an_empty_night_is_skipped_when_the_time_is_up(world, context):
    with pytest.raises(AirflowSkipException, match="2015-01-01: there are no logs yet"):
        sensor(world, from_date="2015-01-01").execute(context())


def test_an_empty_night_with_a_required_log_is_a_failure(world, context):
    world.write_job(play="required: true, ")
    with pytest.raises(AirflowSensorTimeout, match="play"):
        sensor(world, from_date="2015-01-01").execute(context())


def test_a_required_behaviour_is_waited_for(world, context):
    world.write_job(play="required: true, ")
    play = world.logs / DATES[0] / "play.csv"
    text = play.read_text()
    play.unlink()
    waits = sensor(world)
    assert not waits.poke(context())
    with pytest.raises(AirflowSensorTimeout, match="waited 0:00:00 for the logs of 2014-09-01: .*play"):
        waits.execute(context())
    play.write_text(text)
    assert waits.poke(context()).xcom_value["files"] == 4


def test_every_behaviour_is_waited_for_if_none_may_be_missing(world, context):
    (world.logs / DATES[0] / "login.csv").unlink()
    assert sensor(world).poke(context())
    assert not sensor(world, missing_ok=False).poke(context())
    with pytest.raises(AirflowSensorTimeout, match="1 are missing"):
        sensor(world, missing_ok=False).execute(context())
    assert sensor(world, missing_ok=False, types="play,order").poke(context())


class Delivery(threading.Thread):
    """Adds a line to a file every 10 ms until enough is set."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.enough, self.added = threading.Event(), threading.Event()
        self.last = self.longest = 0.0

    def run(self):
        with open(self.file, "a", buffering=1) as f:
            self.last = time.monotonic()
            while not self.enough.wait(0.01):
                f.write("u,2014-09-01 10:00:00,p,1\n")
                self.paused()
                self.last = time.monotonic()
                self.added.set()

    def paused(self):
        """Returns the longest time between two lines, up to now."""
        self.longest = max(self.longest, time.monotonic() - self.last)
        return self.longest

    def during(self, check, settle):
        """Returns the result of a check during which no pause was as long as settle. On a busy
        machine this thread may pause for longer. Then the logs were unchanged, and the check is
        repeated."""
        while True:
            self.longest = 0.0
            seen = check()
            if self.paused() < settle:
                return seen


def test_logs_that_grow_are_not_there_yet(world, context, monkeypatch):
    """Lines are added during two checks, and then no more."""
    monkeypatch.setattr(logs, "AFTERWARDS_SECONDS", 0.2)
    waits = sensor(world, settle=1)

    def refused():
        try:
            return f"ready: {waits.execute(context())}"
        except AirflowSensorTimeout as e:
            return str(e)

    delivery = Delivery(world.logs / DATES[0] / "play.csv")
    delivery.start()
    try:
        assert delivery.added.wait(WATCHDOG_SECONDS)
        assert not delivery.during(lambda: waits.poke(context()), settle=1)
        assert re.search("play.csv: it is still being written", delivery.during(refused, settle=1))
    finally:
        delivery.enough.set()
        delivery.join()
    monkeypatch.setattr(logs, "AFTERWARDS_SECONDS", WATCHDOG_SECONDS)
    assert sensor(world, settle=0.1).poke(context())


def test_a_marker_makes_logs_complete(world, context):
    marker = f'logs: {{path: "{world.logs}/{{date}}/{{behaviour}}.csv", ready: "{world.logs}/{{date}}/_SUCCESS"}}'
    world.job.write_text(marker + "\n" + world.job.read_text().partition("\n")[2])
    assert not sensor(world).poke(context())
    with pytest.raises(AirflowSensorTimeout, match="marker .*2014-09-01/_SUCCESS"):
        sensor(world).execute(context())
    (world.logs / DATES[0] / "_SUCCESS").touch()
    assert sensor(world, settle=3600).poke(context())


def test_a_wrong_job_fails_at_once(world, context):
    world.job.write_text("logz: x\n")
    with pytest.raises(AirflowFailException, match="status 64"):
        sensor(world, timeout=3600).execute(context())


def test_what_is_broken_is_tried_again(program, context):
    fake = program("echo 'bulkload: permission denied' >&2; exit 1\n")
    with pytest.raises(AirflowException, match="permission denied") as e:
        LogsSensor(task_id="logs", from_date=DATES[0], bin=fake).execute(context())
    assert not isinstance(e.value, (AirflowFailException, AirflowSensorTimeout))


def test_servers_out_of_reach_are_waited_for(program, context):
    fake = program("""echo '{"files":0,"status":75,"error":"the cluster cannot be reached"}'; exit 75\n""")
    waits = LogsSensor(task_id="logs", from_date=DATES[0], bin=fake, timeout=0)
    assert not waits.poke(context())
    with pytest.raises(AirflowSensorTimeout, match="cannot be reached"):
        waits.execute(context())


def test_soft_fail_skips(world, context):
    world.write_job(play="required: true, ")
    (world.logs / DATES[0] / "play.csv").unlink()
    with pytest.raises(AirflowSkipException):
        sensor(world, soft_fail=True).execute(context())


def test_rescheduled_between_two_checks(world, context):
    class Rescheduled:
        def get_first_reschedule_date(self, _):
            return None

    given = {**context(), "ti": Rescheduled()}
    with pytest.raises(AirflowRescheduleException):
        sensor(world, mode="reschedule", timeout=3600, from_date="2015-01-01").execute(given)
    assert sensor(world, mode="reschedule").execute(given)["files"] == 4


def deferred(task, context):
    """Returns the trigger of a deferred task, as the triggerer reads it from the database."""
    with pytest.raises(TaskDeferred) as e:
        task.execute(context)
    path, kwargs = e.value.trigger.serialize()
    assert path == "usertrail_airflow.triggers.LogsTrigger" and e.value.method_name == "execute_complete"
    return LogsTrigger(**kwargs)


def event_of(trigger):
    async def first():
        async for event in trigger.run():
            return event.payload

    return asyncio.run(first())


def test_deferred_logs_that_are_there(world, context):
    task = sensor(world, deferrable=True, settle=0.01)
    assert task.execute_complete(context(), event_of(deferred(task, context())))["files"] == 4


def test_deferred_logs_that_come_late(world, context, monkeypatch):
    """They arrive after the first check."""
    night = world.logs / DATES[0]
    night.rename(world.folder / "elsewhere")
    task = sensor(world, deferrable=True, timeout=600)
    ready, seen = logs.LogsCheck.ready, []

    def then_deliver(self):
        seen.append(ready(self))
        if len(seen) == 1:
            (world.folder / "elsewhere").rename(night)
        return seen[-1]

    monkeypatch.setattr(logs.LogsCheck, "ready", then_deliver)
    assert task.execute_complete(context(), event_of(deferred(task, context())))["files"] == 4
    assert [ready for ready, _ in seen] == [False, True]


@pytest.mark.parametrize(
    ("job", "date", "error"),
    [
        ("", "2015-01-01", AirflowSkipException),
        ("required: true, ", "2015-01-01", AirflowSensorTimeout),
        ("requited: true, ", DATES[0], AirflowFailException),
    ],
)
def test_deferred_logs_that_do_not_come(world, context, job, date, error):
    world.write_job(play=job)
    task = sensor(world, deferrable=True, from_date=date, timeout=0)
    with pytest.raises(error):
        task.execute_complete(context(), event_of(deferred(task, context())))


def test_a_kill_ends_the_check(program, context, tmp_path):
    fake = program(f"echo $$ > {tmp_path}/leader; exec sleep 1000\n")
    waits = LogsSensor(task_id="logs", from_date=DATES[0], bin=fake, timeout=0)
    threading.Thread(target=lambda: (number(tmp_path / "leader"), waits.on_kill())).start()
    with pytest.raises(AirflowException, match="status 143"):
        waits.execute(context())
    assert gone(number(tmp_path / "leader"))


def test_deferred_logs_of_soft_fail(world, context):
    world.write_job(play="required: true, ")
    task = sensor(world, deferrable=True, from_date="2015-01-01", soft_fail=True)
    with pytest.raises(AirflowSkipException):
        task.execute_complete(context(), event_of(deferred(task, context())))
    assert time.time() < deferred(sensor(world, deferrable=True, timeout=900), context()).until
