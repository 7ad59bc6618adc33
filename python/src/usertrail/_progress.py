"""A bar of tqdm."""

from __future__ import annotations

import sys
import warnings
from typing import Any


def watched() -> bool:
    """Reports whether a person looks: in a notebook, or at a terminal."""
    shell = sys.modules.get("IPython")
    inside = shell.get_ipython() if shell is not None else None
    return (inside is not None and hasattr(inside, "kernel")) or sys.stderr.isatty()


class Bar:
    """Counts events. Without progress, or if nobody looks, it shows nothing."""

    def __init__(self, progress: bool | None, title: str) -> None:
        self._bar: Any = None
        if watched() if progress is None else progress:
            with warnings.catch_warnings():  # where ipywidgets are missing, the bar is text
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm

            self._bar = tqdm(desc=title, unit=" events", unit_scale=True, leave=False)

    def add(self, events: int) -> None:
        if self._bar is not None:
            self._bar.update(events)

    def say(self, line: dict[str, Any]) -> None:
        """Shows a line of the log of a command: what it does, and how fast."""
        if self._bar is not None:
            self._bar.set_description_str(str(line.get("msg", "")))
            self._bar.set_postfix_str(str(line.get("rate", "")))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
