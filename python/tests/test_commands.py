"""load, show, explain, inspect and progress."""

from __future__ import annotations

import datetime
import zoneinfo
from pathlib import Path

import pytest

import usertrail


def test_a_load_returns_its_counts(made: Path, tmp_path: Path) -> None:
    preview = usertrail.load("usertrail.yaml", "2014-09-01", "2014-09-02", table=tmp_path / "t", dry_run=True)
    assert not (tmp_path / "t").exists() and "would read" in str(preview)
    counts = usertrail.load("usertrail.yaml", "2014-09-01", "2014-09-02", table=tmp_path / "t", types=["play"], flags=["--quiet"])
    assert counts["files"] == 2 and counts["read"] == counts["loaded"] + counts["quarantined"] > 0
    assert "loaded " in counts.text and counts.text in str(counts)


def test_show_is_what_extract_returns(table: Path) -> None:
    all = usertrail.extract(table, types="all", active="any")
    user = all["user_id"][0].as_py()
    events = usertrail.show(table, user)
    mine = all.filter(usertrail_is(all, user))
    assert [e["id"] for e in events] == mine["id"].to_pylist()
    assert [e["time"] for e in events] == mine["time"].to_pylist()
    assert all_dates(events) and usertrail.show(table, user, latest=1) == events[-1:]
    assert usertrail.show(table, user, "2014-09-01", "2014-09-01", types="play", fields="seconds") == [
        {k: v for k, v in e.items() if k in ("user_id", "date", "time", "behaviour", "id", "seconds")}
        for e in events
        if e["behaviour"] == "play" and e["date"] == datetime.date(2014, 9, 1)
    ]


def test_show_around_a_time(table: Path) -> None:
    users = usertrail.extract(table, types="all", active="any")["user_id"].to_pylist()
    user = max(set(users), key=users.count)
    events = usertrail.show(table, user)
    time = events[20]["time"]
    for near in (time, events[0]["time"], events[-1]["time"], events[-1]["time"] + datetime.timedelta(microseconds=1)):
        assert len(usertrail.show(table, user, around=near)) == 20
    near = usertrail.show(table, user, around=time, page=4)
    assert len(near) == 4 and near == [e for e in events if near[0]["time"] <= e["time"] <= near[-1]["time"]]
    assert time in [e["time"] for e in near]
    local = time.astimezone(zoneinfo.ZoneInfo("Asia/Shanghai")).replace(tzinfo=None)
    assert usertrail.show(table, user, around=local, page=4) == near
    assert usertrail.show(table, user, page=3) == events[:3]


def test_a_time_of_an_event_is_a_time_of_a_query(table: Path) -> None:
    user = usertrail.extract(table, types="play", active="any")["user_id"][0].as_py()
    plays = usertrail.show(table, user, types="play")
    assert usertrail.show(table, user, types="play", at=plays[2]["time"]) == [plays[2]]
    got = usertrail.extract(table, users=[user], types="play", at=plays[2]["time"])
    assert got["id"].to_pylist() == [plays[2]["id"]]


def test_show_notes_that_the_table_does_not_have_a_user(table: Path) -> None:
    with pytest.warns(usertrail.Note, match="nobody"):
        assert usertrail.show(table, "nobody") == []


def test_nothing_is_not_everything(table: Path) -> None:
    for name in ("start", "end", "types", "fields"):
        with pytest.raises(ValueError, match=rf"{name}: \[\] is empty"):
            usertrail.show(table, "u1", **{name: []})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"types: \[\] is empty"):
        usertrail.load("usertrail.yaml", "2014-09-01", "2014-09-01", types=[])


def usertrail_is(all, user):  # type: ignore[no-untyped-def]
    import pyarrow.compute as pc

    return pc.equal(all["user_id"], user)


def all_dates(events: list[dict[str, object]]) -> bool:
    return all(isinstance(e["date"], datetime.date) and isinstance(e["time"], datetime.datetime) for e in events)


def test_explain_is_text_and_numbers(table: Path) -> None:
    with pytest.warns(usertrail.Note, match="none of these behaviours") as noted:
        cost = usertrail.explain(table, types="play", users=["u1"], active="any")
    assert noted[0].filename == __file__
    assert cost["users"] == 1 and "plan" in str(cost)


def test_explain_takes_the_arguments_of_extract(table: Path) -> None:
    query = {"users": "all", "start": "2014-09-01", "end": "2014-09-04", "types": ["visit", "play"], "sequence": "visit -> play within 1h", "hours": "18-24", "without": ["login"]}
    cost = usertrail.explain(table, **query, where_first=True, progress=False)
    assert cost["users"] > 0
    with pytest.raises(TypeError, match="columns: explain has no such argument; it has users, start"):
        usertrail.explain(table, columns=["seconds"])
    with pytest.raises(usertrail.UsageError, match="--sequence"):
        usertrail.explain(table, sequence="visit -> pley")


def test_inspect_returns_the_report(table: Path) -> None:
    report = usertrail.inspect(table)
    assert report["kind"] == "table" and report["table"]


def test_a_bar_is_shown_when_asked_for(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usertrail.extract(table, types="play", active="any", progress=True)
    assert "events" in capsys.readouterr().err
    usertrail.extract(table, types="play", active="any")
    assert capsys.readouterr().err == ""
