"""Processes for several trainings, which end with the process that started them."""
from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from typing import Any, Iterator

Pool = concurrent.futures.ProcessPoolExecutor


@contextlib.contextmanager
def processes(n: int) -> Iterator[Pool]:
    """A pool of n processes. An exception, control-C, or SIGTERM to this process ends them at once; they also end if
    this process is killed."""
    others = set(multiprocessing.active_children())
    with _terminated_by_exception():
        pool = Pool(n, multiprocessing.get_context("spawn"), _end_with_parent)
        try:
            yield pool
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _terminated_by_exception() -> Iterator[None]:
    """SIGTERM raises SystemExit, so that what is open is closed; only the main thread can have that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end_with_parent() -> None:
    """In a process of the pool: a thread waits for the end of the process that started it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def wait() -> None:
        multiprocessing.connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
