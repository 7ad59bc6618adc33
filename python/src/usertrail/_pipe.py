"""The reading end of a pipe."""

from __future__ import annotations

import fcntl
import os
import select

import pyarrow as pa

# The size of a pipe, where the system allows it: fewer switches between the two processes.
PIPE_BYTES = 1 << 20

# Python handles Ctrl-C between two calls. A read that waits for longer than this is interrupted
# for it, so that no Ctrl-C is lost if it comes just before the read.
POLL_MS = 500


class Pipe:
    """A file for pyarrow. It reads from a pipe without a copy, into memory of pyarrow, which it does
    not fill with zeros first."""

    closed = False

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._ready = select.poll()
        self._ready.register(descriptor, select.POLLIN)
        size = getattr(fcntl, "F_SETPIPE_SZ", None)
        if size is not None:
            try:
                fcntl.fcntl(descriptor, size, PIPE_BYTES)
            except OSError:
                pass  # more than /proc/sys/fs/pipe-max-size

    def read(self, size: int) -> memoryview:
        """Returns size bytes, or fewer at the end."""
        filled = 0
        whole = memoryview(pa.allocate_buffer(size))
        while filled < size:
            while not self._ready.poll(POLL_MS):
                pass
            n = os.readv(self._descriptor, [whole[filled:]])
            if n == 0:
                break
            filled += n
        return whole[:filled]

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Does nothing: the process closes its pipe."""
