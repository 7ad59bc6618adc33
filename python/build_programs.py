"""Builds bulkload and extract into the wheel.

The programs are built for the platform of $USERTRAIL_PLATFORM, such as linux/arm64, or else for
this machine. $USERTRAIL_PROGRAMS names a directory that has them already.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ["bulkload", "extract"]

# The wheels of platforms, by Go's names. The programs for Linux are static, so they run with
# every C library.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/arm64": "macosx_11_0_arm64",
    "darwin/amd64": "macosx_11_0_x86_64",
}


def here() -> str:
    """Returns the platform of this machine, by Go's names."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{sys.platform}/{machine}"


def build(checkout: Path, to: Path, target: str, version: str) -> None:
    """Builds the programs as `make build` does."""
    if shutil.which("go") is None:
        raise SystemExit("usertrail: building the wheel needs Go 1.26: install it, or set USERTRAIL_PROGRAMS to a directory with bulkload and extract")
    goos, _, goarch = target.partition("/")
    flags = f"-s -w -X usertrail/cmd/internal/cli.version={version}"
    command = ["go", "build", "-tags", "arrow_json_stdlib", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", f"{to}{os.sep}"]
    env = {**os.environ, "CGO_ENABLED": "0", "GOOS": goos, "GOARCH": goarch}
    subprocess.run([*command, *(f"./cmd/{name}" for name in PROGRAMS)], cwd=checkout, env=env, check=True)


class CustomBuildHook(BuildHookInterface):
    """Adds the programs, and the platform to the name of the wheel."""

    made: str | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        target = os.environ.get("USERTRAIL_PLATFORM") or here()
        if target not in TAGS:
            raise SystemExit(f"usertrail: there is no wheel for {target}: it is one of {', '.join(TAGS)}")
        given = os.environ.get("USERTRAIL_PROGRAMS")
        if given is None:
            self.made = tempfile.mkdtemp(prefix="usertrail-wheel-")
            build(Path(self.root).parent, Path(self.made), target, self.metadata.version)
        programs = Path(given or self.made or "")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[target]}"
        build_data["force_include"].update({str(programs / name): f"usertrail/bin/{name}" for name in PROGRAMS})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.made is not None:
            shutil.rmtree(self.made)
