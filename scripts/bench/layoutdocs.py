"""The figures of layouts.py: as tables, as JSON, as plots, and into docs/explanation/layouts.md."""

import json
import os
import sys

import queries
import report
from data import ROOT

DOC = os.path.join(ROOT, "docs", "explanation", "layouts.md")
PLOTS = os.path.join(ROOT, "docs", "img")
FIGURES = os.path.join(ROOT, "internal", "bulkload", "advise", "figures.json")

# The text between these lines of DOC is replaced.
BEGIN, END = "<!-- make bench-layouts generates the following part -->\n", "<!-- end of the generated part -->\n"

PLACES = {"files": "tables of files", "hbase": "HBase"}


def publish(figures, machine, records, nights):
    """Writes the figures to FIGURES, the plots and DOC."""
    write_json(figures, FIGURES)
    os.makedirs(PLOTS, exist_ok=True)
    drawn = "\n".join(f"![{what}](../img/{draw(figures, place)})\n" for place, what in PLACES.items() if of(figures, place))
    with open(DOC, encoding="utf-8") as f:
        before, begin, rest = f.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"bench: {DOC} does not have the lines {BEGIN.strip()} and {END.strip()}")
    head = f"{records:,} records of {nights} nights, {machine}.\n"
    with open(DOC, "w", encoding="utf-8") as f:
        f.write(f"{before}{BEGIN}\n{head}\n{tables(figures)}\n{drawn}\n{END}{after}")


def write_json(figures, path):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(f) for f in figures) + "\n]\n")


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def of(figures, place):
    return [f for f in figures if f["where"] == place]


def tables(figures):
    """For each place, a table of the loads and a table of each query. A column is a number of
    events per user."""
    out = []
    for place, what in PLACES.items():
        some = of(figures, place)
        if not some:
            continue
        out.append(table(some, f"Load into {what}: seconds / MB of the table", lambda f: f"{f['load_seconds']:.1f} / {f['bytes'] / report.MB:.1f}"))
        for name, asked in queries.NAMES.items():
            out.append(table(
                some, f"{asked[0].upper() + asked[1:]}, {what}: p50 ms / p99 ms / queries per second / cells read",
                lambda f, name=name: cell(f["questions"][name]),
            ))
    return "\n".join(out)


def cell(q):
    return f"{short(q['p50_ms'])} / {short(q['p99_ms'])} / {short(q['per_second'])} / {short(q['cells'])}"


def short(x):
    """A number to about three digits."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def table(figures, title, text):
    sizes = ordered(f["each"] for f in figures)
    lines = [f"**{title}**\n", "| events per user | " + " | ".join(f"{each:,}" for each in sizes) + " |", "|---|" + "---:|" * len(sizes)]
    for layout in ordered(f["layout"] for f in figures):
        by = {f["each"]: text(f) for f in figures if f["layout"] == layout}
        lines.append(f"| `{layout}` | " + " | ".join(by.get(each, "") for each in sizes) + " |")
    return "\n".join(lines) + "\n"


def ordered(values):
    return list(dict.fromkeys(values))


def draw(figures, place):
    """Draws the median of each query over the number of events per user. Returns the file's
    name."""
    import matplotlib

    matplotlib.use("svg")
    # The same figures give the same bytes, and texts stay texts.
    matplotlib.rcParams.update({"svg.hashsalt": place, "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(12, 7), sharex=True, layout="constrained")
    some = of(figures, place)
    for ax, (name, asked) in zip(axes.flat, queries.NAMES.items()):
        for n, layout in enumerate(ordered(f["layout"] for f in some)):
            mine = sorted((f["each"], f["questions"][name]["p50_ms"]) for f in some if f["layout"] == layout)
            ax.plot(*zip(*mine), marker="osD^v<>"[n % 7], markersize=4, label=layout)
        ax.set(title=asked, xscale="log", yscale="log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("")
        ax.grid(alpha=0.3)
    for ax in axes[-1]:
        ax.set_xlabel("events per user")
    for ax in axes[:, 0]:
        ax.set_ylabel("ms, median")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    name = f"layouts-{place}.svg"
    figure.savefig(os.path.join(PLOTS, name), metadata={"Date": None})
    pyplot.close(figure)
    return name
