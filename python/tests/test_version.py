from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from build_version import normal


@pytest.mark.parametrize(
    ("described", "version"),
    [
        ("v1.2.0", "1.2.0"), ("v1.2.0-rc.1", "1.2.0rc1"), ("v1.2.0-5-gabc1234", "1.2.0.post5+gabc1234"), ("v1.2.0-dirty", "1.2.0+dirty"),
        ("abc1234", "0.0.0+abc1234"), ("abc1234-dirty", "0.0.0+abc1234.dirty"), ("unknown", "0.0.0+unknown"),
        ("31341263", "0.0.0+31341263"), ("31341a63", "0.0.0+31341a63"),
    ],
)  # fmt: skip
def test_versions_are_of_pep_440(described: str, version: str) -> None:
    from packaging.version import Version

    assert normal(described) == version == str(Version(version))
