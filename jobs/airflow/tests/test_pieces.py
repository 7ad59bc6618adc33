"""Plan, pieces and commit run the real commands. One process makes the same result."""

import json
import random
import subprocess

import pytest
from airflow.sdk import Asset
from conftest import BIN, DATES, TYPES

from usertrail_airflow import (
    BulkloadCommitOperator,
    BulkloadPiecesOperator,
    BulkloadPlanOperator,
    ExtractCommitOperator,
    ExtractPiecesOperator,
    ExtractPlanOperator,
)
from usertrail_airflow._airflow import AirflowException, AirflowFailException, AirflowSkipException
from usertrail_airflow.pieces import as_lines, divided, name_of

DAYS = {"from_date": DATES[0], "to_date": DATES[-1]}


def plan_of_load(world, **more):
    return BulkloadPlanOperator(task_id="plan", job=str(world.job), piece_size="100KiB", **DAYS, **more)


def plan_of_extract(world, out, **more):
    flags = dict(table=str(world.table), types=TYPES, active="any", out=str(out), piece_size="500", **DAYS)
    return ExtractPlanOperator(task_id="plan", **flags, **more)


def parquet(folder):
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}


def test_a_load_and_an_extract_in_pieces(world, context):
    planned = context()
    pieces = plan_of_load(world).execute(planned)
    assert len(pieces) == planned["ti"].pushed["plan"]["pieces"] > 3
    done = []
    for piece in random.Random(1).sample(pieces, len(pieces)) + pieces[:1]:
        given = context()
        done.append(BulkloadPiecesOperator(task_id="piece", piece=piece, temp=str(world.folder)).execute(given))
        assert given["piece_name"] == f"piece {json.loads(piece)['piece']} of {len(pieces)}"
    assert [piece["already"] for piece in done] == [False] * len(pieces) + [True]

    asset, given = Asset("table"), context()
    loaded = BulkloadCommitOperator(task_id="commit", pieces=pieces, outlets=[asset]).execute(given)
    assert loaded["loaded"] == 3000 == given["outlet_events"][asset].extra["loaded"]

    pieces = plan_of_extract(world, world.out, max_tasks=2).execute(context())
    assert len(pieces) == 2
    for piece in pieces:
        ExtractPiecesOperator(task_id="piece", piece=piece, workers=2).execute(context())
    assert ExtractCommitOperator(task_id="commit", pieces=pieces).execute(context())["events"] == 3000

    once = world.folder / "once"
    flags = ["--users=all", f"--from={DATES[0]}", f"--to={DATES[-1]}", f"--types={','.join(TYPES)}", "--active=any", "--piece-size=500"]
    subprocess.run([BIN / "extract", "--table", world.table, *flags, "--out", once], check=True, capture_output=True)
    assert parquet(once) == parquet(world.out) != {}


def test_each_night_is_appended_in_pieces(world, context):
    def plan(date):
        flags = dict(table=str(world.table), types=TYPES, active="any", out=str(world.out), piece_size="100", append=True)
        return ExtractPlanOperator(task_id="plan", from_date=date, flags=["--partition-by=date"], **flags)

    events = 0
    for date in DATES[:2]:
        world.load(date)
        pieces = plan(date).execute(context())
        assert len(pieces) > 1
        for piece in pieces:
            ExtractPiecesOperator(task_id="piece", piece=piece).execute(context())
        commit = ExtractCommitOperator(task_id="commit", pieces=pieces)
        events += commit.execute(context())["events"]
        with pytest.raises(AirflowSkipException):
            commit.execute(context())
        commit.execute(context(try_number=2))
    with pytest.raises(AirflowSkipException, match="the dates are appended already"):
        plan(DATES[0]).execute(context())
    assert events > 0 and json.loads((world.out / "_manifest.json").read_text())["events"] == events
    assert sorted(f.name for f in world.out.glob("date=*")) == [f"date={d}" for d in DATES[:2]]


def test_nothing_to_do_has_no_pieces(world, context):
    for date in DATES:
        world.load(date)
    for try_number in (1, 2):
        with pytest.raises(AirflowSkipException, match="status 99"):
            plan_of_load(world).execute(context(try_number))


def test_a_commit_waits_for_all_pieces(world, context):
    pieces = plan_of_load(world).execute(context())
    BulkloadPiecesOperator(task_id="piece", piece=pieces[0]).execute(context())
    with pytest.raises(AirflowException, match="status 75.*pieces 1") as e:
        BulkloadCommitOperator(task_id="commit", pieces=pieces).execute(context())
    assert not isinstance(e.value, (AirflowFailException, AirflowSkipException))


def test_what_an_earlier_try_has_committed_is_done(world, context):
    pieces = plan_of_load(world).execute(context())
    BulkloadPiecesOperator(task_id="piece", piece=pieces).execute(context())
    commit = BulkloadCommitOperator(task_id="commit", pieces=pieces)
    assert commit.execute(context())["loaded"] == 3000
    assert commit.execute(context(try_number=2))["status"] == 99
    with pytest.raises(AirflowSkipException):
        commit.execute(context())


def test_a_commit_that_left_files_out_fails_at_each_try(world, context):
    """Its retry fails until a load has loaded the files that were left out."""
    wrong = world.logs / DATES[0] / "play.csv"
    text = wrong.read_text()
    wrong.unlink()
    wrong.symlink_to("gone.csv")
    pieces = plan_of_load(world).execute(context())
    BulkloadPiecesOperator(task_id="piece", piece=pieces).execute(context())
    commit = BulkloadCommitOperator(task_id="commit", pieces=pieces)
    for try_number in (1, 2, 3):
        given = context(try_number)
        with pytest.raises(AirflowException, match="status 1.*play.csv: it cannot be read") as e:
            commit.execute(given)
        assert not isinstance(e.value, (AirflowFailException, AirflowSkipException))
        assert [file["path"] for file in given["ti"].pushed["return_value"]["failed"]] == [str(wrong)]
    wrong.unlink()
    wrong.write_text(text)
    world.load()
    assert commit.execute(context(try_number=4))["status"] == 99


def test_a_piece_of_another_command_fails_for_good(world, context):
    pieces = plan_of_load(world).execute(context())
    with pytest.raises(AirflowFailException, match="status 64"):
        ExtractPiecesOperator(task_id="piece", piece=pieces[0]).execute(context())
    with pytest.raises(AirflowFailException, match="a piece is a line of a plan, not 7"):
        ExtractPiecesOperator(task_id="piece", piece=7).execute(context())


def test_a_wrong_plan_fails_for_good(world, context):
    """The result of plan is the last line of standard error."""
    given = context()
    with pytest.raises(AirflowFailException, match="status 64.*piece-size"):
        BulkloadPlanOperator(task_id="plan", job=str(world.job), piece_size="much", **DAYS).execute(given)
    assert given["ti"].pushed["return_value"]["status"] == 64
    with pytest.raises(AirflowFailException, match="out: name a folder"):
        plan_of_extract(world, "-").execute(context())


@pytest.mark.parametrize(("lines", "most", "texts"), [(0, 5, []), (3, 5, [1, 1, 1]), (5, 5, [1] * 5), (7, 3, [2, 2, 3]), (9, 1, [9])])
def test_lines_are_divided_among_texts(lines, most, texts):
    given = [f"line {n}" for n in range(lines)]
    got = divided(given, most)
    assert [text.count("\n") + 1 for text in got] == texts
    assert "\n".join(got).splitlines() == given


def test_a_piece_may_be_a_text_an_object_or_a_list():
    assert as_lines('{"piece":1}') == as_lines({"piece": 1}).replace(" ", "") == '{"piece":1}\n'
    assert as_lines(["a\nb", "c\n"]) == "a\nb\nc\n"
    lines = [json.dumps({"piece": n, "of": 9}) for n in range(9)]
    assert name_of(as_lines(lines[3:6])) == "pieces 3 to 5 of 9"
    assert name_of("0\tno JSON") == "no piece"
