"""Runs a notebook in its folder, and compares the texts that it prints with those in the file.

notebook.py FILE [--write] prints one JSON object: the numbers of cells and of plots, and the cells
whose text differs. With --write it stores the outputs in the file.
"""

import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def texts(cell):
    """The texts that a cell prints or shows. Plots are left out."""
    out = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream" and output.name == "stdout":
            out.append(output.text)
        elif "image/png" not in output.get("data", {}):
            out.append(output.get("data", {}).get("text/plain", ""))
    return "".join(out)


def main(name, *flags):
    path = Path(name)
    stored = nbformat.read(path, as_version=4)
    done = nbformat.read(path, as_version=4)
    NotebookClient(done, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    code = [i for i, cell in enumerate(done.cells) if cell.cell_type == "code"]
    for i in code:
        done.cells[i].metadata.pop("execution", None)
    plots = sum("image/png" in output.get("data", {}) for i in code for output in done.cells[i].outputs)
    shown = sum("image/png" in output.get("data", {}) for i in code for output in stored.cells[i].outputs)
    other = [[texts(stored.cells[i]), texts(done.cells[i])] for i in code if texts(stored.cells[i]) != texts(done.cells[i])]
    if "--write" in flags:
        for i in code:
            done.cells[i].outputs = [o for o in done.cells[i].outputs if o.get("name") != "stderr"]
        done.metadata.pop("language_info", None)
        nbformat.write(done, path)
    print(json.dumps({"cells": len(code), "plots": plots, "shown": shown, "other": other}))


main(*sys.argv[1:])
