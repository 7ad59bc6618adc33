"""Finds the programs, and reads their settings from a connection."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from usertrail_airflow._airflow import AirflowFailException, BaseHook


class UsertrailHook(BaseHook):
    """Finds bulkload and extract.

    It looks for them in the folder bin, then in the folder bin of the connection, then in the
    folder that $USERTRAIL_BIN names, and then on the PATH. The extra of a connection has these
    members. All are optional:

        {"bin": "/opt/usertrail/bin", "job": "/etc/usertrail.yaml", "table": "hdfs://nn:8020/trails",
         "env": {"HADOOP_CONF_DIR": "/etc/hadoop/conf"},
         "keytab": "/etc/security/loader.keytab", "principal": "loader@EXAMPLE.COM", "protection": "privacy"}

    keytab, principal and protection are for clusters with Kerberos. A keytab is a file on the machine
    of the task; the connection does not hold the key.
    """

    MEMBERS = ("bin", "job", "table", "env", "keytab", "principal", "protection")

    conn_name_attr = "conn_id"
    default_conn_name = "usertrail_default"
    conn_type = "usertrail"
    hook_name = "usertrail"

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        return {
            "hidden_fields": ["host", "schema", "login", "password", "port"],
            "relabeling": {},
            "placeholders": {"extra": '{"bin": "/opt/usertrail/bin", "job": "/etc/usertrail.yaml"}'},
        }

    def __init__(self, conn_id: str | None = None, *, bin: str | None = None, env: Mapping[str, str] | None = None) -> None:
        super().__init__()
        extra = self.get_connection(conn_id).extra_dejson if conn_id else {}
        if unknown := sorted(set(extra) - set(self.MEMBERS)):
            raise AirflowFailException(f"connection {conn_id}: unknown members of its extra: {', '.join(unknown)}: it may have {', '.join(self.MEMBERS)}")
        self.bin = bin or extra.get("bin") or os.environ.get("USERTRAIL_BIN")
        self.job: str | None = extra.get("job")
        self.table: str | None = extra.get("table")
        user = {f"USERTRAIL_{key.upper()}": extra[key] for key in ("keytab", "principal", "protection") if extra.get(key)}
        self.env = {str(k): str(v) for k, v in {**user, **(extra.get("env") or {}), **(env or {})}.items()}

    def program(self, name: str) -> str:
        """Returns the path of bulkload or extract."""
        if found := shutil.which(name, path=self.bin or self.env.get("PATH")):
            return found
        where = f"in {self.bin}" if self.bin else "on the PATH"
        raise AirflowFailException(
            f"there is no {name} {where}: name its folder by bin of the operator or of the connection, or by $USERTRAIL_BIN"
        )

    def test_connection(self) -> tuple[bool, str]:
        """Reports the versions of the programs, or why they cannot be run."""
        try:
            versions = [
                subprocess.run([self.program(name), "--version"], capture_output=True, text=True, check=True, timeout=30).stdout.strip()
                for name in ("bulkload", "extract")
            ]
        except (AirflowFailException, OSError, subprocess.SubprocessError) as e:
            return False, str(e)
        return True, "; ".join(versions)
