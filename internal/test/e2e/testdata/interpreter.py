"""Runs Python files one after another in this process, so that each package is imported once.

Each line of standard input names the arguments of a run, the first of which is the file, and its
folder. For each run one line of standard output has what the file printed, and how it failed.
Each file has variables and a default connection of DuckDB of its own.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import traceback

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    run = json.loads(line)
    sys.argv = run["args"]
    os.chdir(run["dir"])
    if "duckdb" in sys.modules:
        sys.modules["duckdb"].set_default_connection(sys.modules["duckdb"].connect())
    failed = ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except BaseException:
            failed = traceback.format_exc()
    print(json.dumps({"printed": printed.getvalue(), "failed": failed}), file=answers, flush=True)
