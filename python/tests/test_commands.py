"""load, show, explain, inspect and progress."""

from __future__ import annotations

import datetime
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


def test_show_notes_that_the_table_does_not_have_a_user(table: Path) -> None:
    with pytest.warns(usertrail.Note, match="nobody"):
        assert usertrail.show(table, "nobody") == []


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


def test_inspect_returns_the_report(table: Path) -> None:
    report = usertrail.inspect(table)
    assert report["kind"] == "table" and report["table"]


def test_a_bar_is_shown_when_asked_for(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usertrail.extract(table, types="play", active="any", progress=True)
    assert "events" in capsys.readouterr().err
    usertrail.extract(table, types="play", active="any")
    assert capsys.readouterr().err == ""
