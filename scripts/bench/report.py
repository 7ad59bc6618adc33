"""Prints the tables and lines of the benchmarks."""

import platform

MB = 1 << 20


def machine():
    """Returns the line that describes the machine."""
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        cores = sum(line.startswith("processor") for line in f)
    with open("/proc/meminfo", encoding="utf-8") as f:
        memory = int(f.readline().split()[1]) / (1 << 20)
    return f"{cores} x {model}, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def table(rows):
    """Prints Runs as a table in Markdown."""
    print("| work | best s | median s | cpu s | peak_rss MB |")
    print("|---|---:|---:|---:|---:|")
    for runs in rows:
        print(f"| {runs.name} | {runs.best():.3f} | {runs.median():.3f} | {runs.cpu():.2f} | {runs.rss() / MB:.0f} |")
    print()


def sizes(bytes_of):
    """Prints the sizes of tables in Markdown."""
    print("| table | MB |")
    print("|---|---:|")
    for name, n in bytes_of.items():
        print(f"| {name} | {n / 1e6:.0f} |")
    print()


def ratio(name, ours, peer, value, reach):
    """Prints the line of a figure, and returns whether the figure reaches its goal."""
    verdict = "ok" if value >= reach else "short"
    print(f"ratio {name} ours={ours} peer={peer} ratio={value:.2f} reach={reach:g} {verdict}", flush=True)
    return verdict == "ok"


def seconds(x):
    return f"{x:.3f}s"


def rate(amount, runs, unit):
    return f"{amount / runs.median():.0f}{unit}/s"


def megabytes(n):
    return f"{n / MB:.0f}MB"
