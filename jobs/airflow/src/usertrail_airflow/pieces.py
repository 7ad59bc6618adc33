"""Operators that divide a load or an extract among tasks: a plan, a mapped task for each piece,
and a commit.

    plan = ExtractPlanOperator(task_id="plan", …)
    piece = ExtractPiecesOperator.partial(task_id="piece").expand(piece=plan.output)
    commit = ExtractCommitOperator(task_id="commit", pieces=plan.output, outlets=[…])
    piece >> commit

Put outlets on the commit: on a mapped task they would make one event for each piece.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from usertrail_airflow import status
from usertrail_airflow._airflow import AirflowFailException, conf
from usertrail_airflow.command import Ended
from usertrail_airflow.hook import UsertrailHook
from usertrail_airflow.operators import UsertrailOperator, OfExtract, OfLoad, options

Piece = str | Mapping[str, Any] | Sequence["Piece"]


class _Plan:
    """Plans pieces. The XCom is a list of texts. Each text has one or more lines of the plan.

    There is one text for each piece, but at most max_tasks texts. The default of max_tasks is the
    number of tasks that Airflow maps ([core] max_map_length). The XCom "plan" is the object of
    plan's last line.
    """

    command = ("plan",)
    streams = True

    piece_size: str | None
    max_tasks: int | None

    def arguments(self, hook: UsertrailHook) -> list[str]:
        return super().arguments(hook) + options(piece_size=self.piece_size)

    def done_by_earlier_try(self, context: Any, ended: Ended) -> bool:
        return False  # without pieces there is nothing to continue with

    def xcom_value(self, context: Any, ended: Ended) -> list[str]:
        context["ti"].xcom_push(key="plan", value=ended.result)
        most = self.max_tasks or conf.getint("core", "max_map_length", fallback=1024)
        return divided([line for line in ended.lines if line.strip()], most)


class BulkloadPlanOperator(_Plan, OfLoad):
    """Plans a load in pieces. If there is nothing to load, the task and the tasks after it are skipped.

    :param piece_size: the approximate size of the logs of a piece, such as 1GiB
    :param max_tasks: the largest number of tasks among which the pieces are divided
    """

    template_fields = (*OfLoad.template_fields, "piece_size")

    def __init__(self, *, piece_size: str | None = None, max_tasks: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.piece_size = piece_size
        self.max_tasks = max_tasks


class ExtractPlanOperator(_Plan, OfExtract):
    """Plans an extract in pieces.

    :param piece_size: the approximate number of events of a piece, such as 4M
    :param max_tasks: the largest number of tasks among which the pieces are divided
    """

    template_fields = (*OfExtract.template_fields, "piece_size")

    def __init__(self, *, piece_size: str | None = None, max_tasks: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.piece_size = piece_size
        self.max_tasks = max_tasks


class _Pieces(UsertrailOperator):
    """Does the pieces of one text of a plan. A piece may be done twice.

    The template variable piece_name is the name of the pieces, such as "piece 3 of 12". Use it in
    map_index_template.

    :param piece: a text of the plan, a line as a dict, or a list of these
    :param memory: the limit of the whole process, such as 4GiB
    :param workers: the number of workers of the process
    :param temp: a local folder for sorted runs, for a load only
    """

    command = ("run-piece",)
    template_fields = ("flags", "env", "bin", "cwd", "piece", "memory", "workers", "temp")

    def __init__(
        self, *, piece: Piece, memory: str | None = None, workers: int | str | None = None, temp: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.piece = piece
        self.memory = memory
        self.workers = workers
        self.temp = temp

    def arguments(self, hook: UsertrailHook) -> list[str]:
        return options(memory=self.memory, workers=self.workers, temp=self.temp)

    def stdin(self) -> str:
        return as_lines(self.piece)

    def execute(self, context: Any) -> Any:
        context["piece_name"] = name_of(self.stdin())
        return super().execute(context)


class BulkloadPiecesOperator(_Pieces):
    """Does pieces of a load: BulkloadPiecesOperator.partial(…).expand(piece=plan.output)."""

    program = "bulkload"


class ExtractPiecesOperator(_Pieces):
    """Does pieces of an extract: ExtractPiecesOperator.partial(…).expand(piece=plan.output)."""

    program = "extract"


class _Commit(UsertrailOperator):
    """Publishes the work of the pieces of a plan, when all of them have a result.

    If an earlier try of the same task has published it, the task succeeds. It is not skipped.

    :param pieces: all texts of the plan
    """

    command = ("commit",)
    template_fields = ("flags", "env", "bin", "cwd", "pieces")

    def __init__(self, *, pieces: Sequence[Piece], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pieces = pieces

    def arguments(self, hook: UsertrailHook) -> list[str]:
        return []

    def stdin(self) -> str:
        return as_lines(self.pieces)

    def done_by_earlier_try(self, context: Any, ended: Ended) -> bool:
        return ended.status == status.NOTHING and context["ti"].try_number > 1


class BulkloadCommitOperator(_Commit):
    """Publishes a load that was done in pieces."""

    program = "bulkload"


class ExtractCommitOperator(_Commit):
    """Publishes an extract that was done in pieces."""

    program = "extract"


def divided(lines: list[str], most: int) -> list[str]:
    """Returns the lines as at most most texts, in order. Each text has about the same number of lines."""
    n = min(len(lines), most)
    cuts = [len(lines) * i // n for i in range(n + 1)] if n else []
    return ["\n".join(lines[a:b]) for a, b in zip(cuts, cuts[1:])]


def as_lines(piece: Piece) -> str:
    """Returns pieces as a command reads them: one line for each."""
    if isinstance(piece, str):
        text = piece.strip("\n")
    elif isinstance(piece, Mapping):
        text = json.dumps(piece, ensure_ascii=False)
    elif isinstance(piece, Sequence):
        text = "\n".join(as_lines(p).rstrip("\n") for p in piece)
    else:
        raise AirflowFailException(f"a piece is a line of a plan, not {piece!r}")
    return text + "\n"


def name_of(text: str) -> str:
    """Returns the name of the pieces of a text: "piece 3 of 12", "pieces 3 to 5 of 12"."""
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        first, last, of = lines[0]["piece"], lines[-1]["piece"], lines[0]["of"]
    except (ValueError, LookupError, TypeError):
        return "no piece"  # the command reports the error
    return f"piece {first} of {of}" if first == last else f"pieces {first} to {last} of {of}"
