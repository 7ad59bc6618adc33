"""Results as Arrow, and what pandas, polars and DuckDB make of them."""

from __future__ import annotations

import datetime
import gc
import json
import subprocess
from pathlib import Path

import pandas
import polars
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import usertrail

QUERY = {"start": "2014-09-01", "end": "2014-09-04", "types": ["play", "order"], "active": "any"}


def test_names_in_a_list_may_have_commas() -> None:
    from usertrail._extract import options

    assert options(types=["play", "a,b", 'say "hi"', "Course viewed"]) == ["--types", 'play,"a,b","say ""hi""",Course viewed']


def test_a_table_has_the_rows_of_a_directory(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [usertrail.program("extract"), "--table", table, "--users", "all", "--from", "2014-09-01", "--to", "2014-09-04", "--types", "play,order", "--active", "any", "--out", out]
    subprocess.run(command, check=True, capture_output=True)
    want = pyarrow.dataset.dataset(out, format="parquet").to_table()
    got = usertrail.extract(table, **QUERY)
    order = [("user_id", "ascending"), ("id", "ascending")]
    assert got.sort_by(order).equals(want.sort_by(order))
    assert got.num_rows > 5000


def test_a_result_without_rows_has_its_columns(table: Path) -> None:
    whole = usertrail.extract(table, **QUERY)
    with pytest.warns(usertrail.Note, match="no event of them is left by --where"):
        got = usertrail.extract(table, **QUERY, where='play.seconds < 0 && behaviour == "play"')
    assert got.num_rows == 0
    assert got.schema == whole.schema


def test_local_times_have_no_zone(table: Path) -> None:
    got = usertrail.extract(table, **QUERY, times="local")
    assert got.schema.field("time").type == pa.timestamp("us", "UTC")
    assert got.schema.field("local_time").type == pa.timestamp("us")
    walls, offsets, times = (got[name].to_pylist() for name in ("local_time", "utc_offset", "time"))
    assert walls
    assert all(datetime.datetime.fromisoformat(f"{wall.isoformat()}{offset}") == time for wall, offset, time in zip(walls, offsets, times))
    assert got.drop_columns(["local_time", "utc_offset"]).equals(usertrail.extract(table, **QUERY))


def test_pandas_and_polars_take_it(table: Path) -> None:
    got = usertrail.extract(table, **QUERY)
    plays = got.to_pandas().groupby("behaviour")["user_id"].count()["play"]
    assert polars.from_arrow(got).filter(polars.col("behaviour") == "play").height == plays > 0


def test_users_come_in_any_form(table: Path, tmp_path: Path) -> None:
    ids = usertrail.extract(table, **QUERY)["user_id"].unique().to_pylist()[:7]
    (tmp_path / "ids.txt").write_text("\n".join(ids))
    pyarrow.parquet.write_table(pa.table({"who": ids}), tmp_path / "ids.parquet")
    want = usertrail.extract(table, users=ids, **QUERY)
    assert set(want["user_id"].to_pylist()) == set(ids)
    for users in (
        pandas.Series(ids), pandas.Series(ids).astype("category"), polars.Series(ids), pandas.Series(ids).to_numpy(), pa.array(ids), pa.chunked_array([ids[:3], ids[3:]]),
        iter(ids), set(ids), tmp_path / "ids.txt", str(tmp_path / "ids.txt"), f"{tmp_path / 'ids.parquet'}:who",
    ):  # fmt: skip
        assert usertrail.extract(table, users=users, **QUERY).equals(want), type(users)


def test_a_sample_is_of_active_users(table: Path) -> None:
    everyone = set(usertrail.extract(table, **QUERY)["user_id"].to_pylist())
    first = usertrail.extract(table, users="sample:5", **QUERY)
    again = usertrail.extract(table, users="sample:5", **QUERY)
    others = usertrail.extract(table, users="sample:5:7", **QUERY)
    users = set(first["user_id"].to_pylist())
    assert first.equals(again) and len(users) == 5 and users < everyone
    assert set(others["user_id"].to_pylist()) != users


def test_days_can_be_required(table: Path) -> None:
    later = {**QUERY, "end": "2014-12-31"}
    with pytest.warns(usertrail.Note, match="days that are not loaded"):
        rows = usertrail.extract(table, **later).num_rows
    assert rows > 0
    with pytest.raises(usertrail.MissingInputError, match="days are not loaded"):
        usertrail.extract(table, require_days=True, **later)


@pytest.mark.parametrize("flags", [["--format", "csv"], ["--format=csv"], ["--out=x"], ["--out", "x"], ["-o", "x"], ["-ox"]])
def test_flags_of_the_output_are_refused(table: Path, flags: list[str]) -> None:
    with pytest.raises(ValueError, match="flags: (--format|--out|-o) is not possible"):
        usertrail.extract(table, flags=flags, **QUERY)
    with pytest.raises(ValueError, match="flags: (--format|--out|-o) is not possible"):
        usertrail.extract(table, flags=iter(flags), **QUERY)


def test_flags_are_a_list(table: Path) -> None:
    for call in (usertrail.extract, usertrail.show, usertrail.explain, usertrail.load):
        with pytest.raises(TypeError, match=r"flags: '--plan scan' is a string: write a list, such as \['--plan', 'scan'\]"):
            call(table, flags="--plan scan")


def test_what_is_no_user_is_refused(table: Path) -> None:
    for users, words in {
        (1.5,): "drop missing IDs", (None,): "the ID at 0 is None", ("a\nb",): "has a line break", (True,): "an ID is a string or an integer",
    }.items():  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=words):
            usertrail.extract(table, users=users, **QUERY)
    for users in (7, b"u1", bytearray(b"u1")):
        with pytest.raises(TypeError, match=f"users: {type(users).__name__} is no list of IDs"):
            usertrail.extract(table, users=users, **QUERY)
    ids = {"user_id": ["u1"]}
    for frame in (ids, pandas.DataFrame(ids), polars.DataFrame(ids), pa.table(ids)):
        with pytest.raises(TypeError, match=f"a {type(frame).__name__} is no list of IDs: pass its column"):
            usertrail.extract(table, users=frame, **QUERY)


def test_numbers_are_ids(table: Path) -> None:
    with pytest.warns(usertrail.Note) as noted:
        assert usertrail.extract(table, users=pandas.Series([1, 2]), **QUERY).num_rows == 0
    assert "2 of 2 users" in str(noted[0].message) and noted[0].filename == __file__


def test_batches_come_while_the_table_is_read(table: Path) -> None:
    with usertrail.extract_batches(table, **QUERY) as batches:
        rows = sum(batch.num_rows for batch in batches)
        assert batches.schema.field("time").type == pa.timestamp("us", "UTC")
        assert batches.result["events"] == rows > 0
    reader = usertrail.extract_batches(table, **QUERY).to_reader()
    assert reader.read_all().num_rows == rows


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a table whose result has several batches. Some of its IDs are no lines of a list."""
    folder = tmp_path_factory.mktemp("long")
    users = ["a", "\ufeffa", "\ufeff\ufeffa", " ", "\x1c", " b"]
    events = "".join(json.dumps({"user_id": users[n % len(users)], "time": 1409529600 + n}) + "\n" for n in range(70_000))
    (folder / "play-2014-09-01.jsonl").write_text(events)
    job = 'logs: {path: "{behaviour}-{date}.jsonl", format: jsonl}\ntable: trails\ntime: {column: time, format: epoch_s}\nbehaviours: {play: {id: 1}}\n'
    (folder / "usertrail.yaml").write_text(job)
    assert usertrail.load(folder / "usertrail.yaml", "2014-09-01", "2014-09-01", progress=False)["loaded"] == 70_000
    return folder / "trails"


def test_a_loop_that_was_left_is_continued(long: Path) -> None:
    want = usertrail.extract(long)
    for rest in (usertrail.Batches.read_all, lambda b: b.to_reader().read_all(), lambda b: pa.Table.from_batches(list(b), b.schema)):
        batches = usertrail.extract_batches(long)
        first = next(iter(batches))
        for second in batches:
            break
        gc.collect()
        got = pa.concat_tables([pa.Table.from_batches([first, second]), rest(batches)])
        assert got.num_rows == 70_000 and got.equals(want) and batches.result["events"] == 70_000
        batches.close()
        assert list(batches) == [] and batches.read_all().num_rows == 0 and batches.to_reader().read_all().num_rows == 0


def test_batches_that_were_closed_are_not_read(long: Path) -> None:
    with usertrail.extract_batches(long) as batches:
        left = iter(batches)
        next(left)
    for read in (lambda: next(left), lambda: list(batches), batches.read_all, batches.to_reader):
        with pytest.raises(ValueError, match="the batches were closed before their end"):
            read()


def test_an_id_is_the_user_of_this_id(long: Path) -> None:
    for ids in (["\ufeffa"], ["\ufeff\ufeffa", "a"], ["a", "\ufeffa"], ["\x1c"], [" b"], pa.array(["\ufeffa"])):
        want = set(ids.to_pylist() if isinstance(ids, pa.Array) else ids)
        assert set(usertrail.extract(long, users=ids)["user_id"].to_pylist()) == want
    with pytest.warns(usertrail.Note):
        assert usertrail.extract(long, users=[]).num_rows == 0
    for blank in (" ", "", "\t \u3000"):
        with pytest.raises(ValueError, match=r"users: the ID at 1 is blank: .*: drop it"):
            usertrail.extract(long, users=["a", blank])


@pytest.mark.parametrize("leave", ["with", "close", "collect"])
def test_a_program_ends_when_its_reader_leaves(table: Path, leave: str) -> None:
    batches = usertrail.extract_batches(table, **QUERY)
    process = batches._process._process
    if leave == "with":
        with batches:
            for _ in batches:
                break
    elif leave == "close":
        batches.close()
        batches.close()
    else:
        for _ in batches:
            break
        del batches
        gc.collect()
    assert process.returncode is not None


def test_dates_and_flags(table: Path) -> None:
    day = usertrail.extract(table, start=datetime.date(2014, 9, 2), end=datetime.datetime(2014, 9, 2), types="play", active="any", where="play.seconds >= 600", fields="seconds")
    assert set(day["date"].to_pylist()) == {datetime.date(2014, 9, 2)}
    assert day.column_names[5:] == ["seconds"] and min(day["seconds"].to_pylist()) >= 600
    wide = usertrail.extract(table, types="play", active="any", shape="wide", flags=["--memory", "256MiB"])
    assert wide.column_names[:2] == ["user_id", "play_count"]
    first = usertrail.extract(table, types="play", active="all", where="play.seconds >= 5000", where_first=True)
    assert 0 < len(first["user_id"].unique()) < wide.num_rows
    with pytest.raises(ValueError, match="not a whole day"):
        usertrail.extract(table, start=datetime.datetime(2014, 9, 2, 1))
    for name in ("start", "end", "types", "fields"):
        for empty in ("", [], ()):
            with pytest.raises(ValueError, match=f"{name}: .* is empty: pass a value, or None for the default"):
                usertrail.extract(table, **{name: empty})
    with pytest.raises(ValueError, match="at: 2014-10-26 02:30:00 has fold=1 and no zone: pass a time with a zone"):
        usertrail.extract(table, at=datetime.datetime(2014, 10, 26, 2, 30, fold=1))
    with pytest.raises(TypeError, match="wher: extract has no such argument"):
        usertrail.extract(table, wher="play.seconds > 1")  # type: ignore[call-arg]
