"""Where the programs are, and what they are told besides their flags."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from usertrail_airflow._airflow import AirflowFailException, BaseHook


class UsertrailHook(BaseHook):
    """Finds bulkload and extract.

    They lie in the folder bin, or else in that of the connection, or else in that which
    $USERTRAIL_BIN names, or else on the PATH. A connection says by its extra, all of it
    optional:

        {"bin": "/opt/usertrail/bin", "job": "/etc/usertrail.yaml", "table": "hdfs://nn:8020/trails",
         "env": {"HADOOP_CONF_DIR": "/etc/hadoop/conf"},
         "keytab": "/etc/security/loader.keytab", "principal": "loader@EXAMPLE.COM", "protection": "privacy"}

    keytab, principal and protection are for clusters with Kerberos. A keytab is a file on the machine
    of the task; the connection does not hold the key.
    """

    SAYS = ("bin", "job", "table", "env", "keytab", "principal", "protection")

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
        said = self.get_connection(conn_id).extra_dejson if conn_id else {}
        if unknown := sorted(set(said) - set(self.SAYS)):
            raise AirflowFailException(f"connection {conn_id}: its extra says {', '.join(unknown)}; it may say {', '.join(self.SAYS)}")
        self.bin = bin or said.get("bin") or os.environ.get("USERTRAIL_BIN")
        self.job: str | None = said.get("job")
        self.table: str | None = said.get("table")
        user = {f"USERTRAIL_{key.upper()}": said[key] for key in ("keytab", "principal", "protection") if said.get(key)}
        self.env = {str(k): str(v) for k, v in {**user, **(said.get("env") or {}), **(env or {})}.items()}

    def program(self, name: str) -> str:
        """The path of bulkload or extract."""
        if found := shutil.which(name, path=self.bin or self.env.get("PATH")):
            return found
        where = f"in {self.bin}" if self.bin else "on the PATH"
        raise AirflowFailException(
            f"there is no {name} {where}: name the folder that it lies in by bin of the operator or the connection, or by $USERTRAIL_BIN"
        )

    def test_connection(self) -> tuple[bool, str]:
        """Says which versions of the programs are there."""
        try:
            said = [
                subprocess.run([self.program(name), "--version"], capture_output=True, text=True, check=True, timeout=30).stdout.strip()
                for name in ("bulkload", "extract")
            ]
        except (AirflowFailException, OSError, subprocess.SubprocessError) as e:
            return False, str(e)
        return True, "; ".join(said)
