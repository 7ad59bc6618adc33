"""What the benchmarks print."""

import platform

MB = 1 << 20


def machine():
    """The line that says where figures come from."""
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
    """Rows of (who, Runs), as Markdown."""
    print("| work | best s | median s | cpu s | peak_rss MB |")
    print("|---|---:|---:|---:|---:|")
    for runs in rows:
        print(f"| {runs.name} | {runs.best():.3f} | {runs.median():.3f} | {runs.cpu():.2f} | {runs.rss() / MB:.0f} |")
    print()


def sizes(bytes_of):
    """The sizes of tables, as Markdown."""
    print("| table | MB |")
    print("|---|---:|")
    for name, n in bytes_of.items():
        print(f"| {name} | {n / 1e6:.0f} |")
    print()


def ratio(name, ours, peer, value, reach):
    """The line that a figure is checked by."""
    verdict = "ok" if value >= reach else "short"
    print(f"ratio {name} ours={ours} peer={peer} ratio={value:.2f} reach={reach:g} {verdict}", flush=True)
    return verdict == "ok"


def seconds(x):
    return f"{x:.3f}s"


def rate(amount, runs, unit):
    return f"{amount / runs.median():.0f}{unit}/s"


def megabytes(n):
    return f"{n / MB:.0f}MB"
