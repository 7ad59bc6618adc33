"""pip installs the package, and Airflow finds it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import COMPLETE

pytestmark = pytest.mark.skipif(not COMPLETE, reason="make test-all builds the package; make test imports its modules from the source")

SOURCE = Path(__file__).parents[1]

FOUND = """
import json
import usertrail_airflow as u
assert u.BulkloadOperator and u.LogsSensor
from airflow.providers_manager import ProvidersManager
m = ProvidersManager()
hook = m.hooks["usertrail"]
print(json.dumps({"version": m.providers["usertrail-airflow"].version, "hook": hook.hook_name, "class": hook.hook_class_name, "file": u.__file__}))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Returns a folder with the built package, and nothing else of this repository."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    run(pip + ["wheel", "--no-deps", "--no-build-isolation", "-w", folder, SOURCE])
    (wheel,) = folder.glob("usertrail_airflow-*.whl")
    run(pip + ["install", "--no-deps", "--no-index", "--target", folder / "site", wheel])
    return folder / "site"


def run(args, **env):
    done = subprocess.run(args, capture_output=True, text=True, env={**os.environ, **env})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_holds_its_modules(site):
    modules = sorted(p.stem for p in (SOURCE / "src" / "usertrail_airflow").glob("*.py"))
    assert sorted(p.stem for p in (site / "usertrail_airflow").glob("*.py")) == modules


def test_it_is_imported_and_a_provider_of_airflow(site):
    printed = run([sys.executable, "-c", FOUND], PYTHONPATH=str(site))
    assert json.loads(printed.splitlines()[-1]) == {
        "version": "0.1.0", "hook": "usertrail", "class": "usertrail_airflow.hook.UsertrailHook", "file": str(site / "usertrail_airflow" / "__init__.py"),
    }  # fmt: skip
