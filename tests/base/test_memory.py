"""That memory is kept from step to step, and that the collector is put back."""

import gc
import os
import platform
import subprocess
import sys

import pytest

from tape_ad.base.memory import MANY, pause_collection, resume_collection, uncollected

PROGRAM = """
import resource
import numpy as np
import tape_ad as ta

{first}

def step():
    arrays = [np.ones(250_000) for _ in range(5)]  # 2 MB each, 2,400 pages in all

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

step()
before = faults()
for _ in range(10):
    step()
print(faults() - before)
"""


RECORD = "ta.ComputationRecord()"
OFF = "ta.training.keep_freed_memory(False)"

of_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="another C library decides otherwise"
)


def faults(first: str, **variables: str) -> int:
    """Count the pages that a process was given after its first step, which follows a line."""
    fixing = ("MALLOC_", "GLIBC_TUNABLES")  # what fixes the thresholds from outside
    environment = {k: v for k, v in os.environ.items() if not k.startswith(fixing)}
    done = subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-c", PROGRAM.replace("{first}", first)],
        capture_output=True,
        text=True,
        check=True,
        env=environment | variables,
    )
    return int(done.stdout)


@of_glibc
def test_freed_memory_is_not_given_back_and_cleared_again() -> None:
    assert faults(RECORD) < 1_000
    assert faults("ta.training.keep_freed_memory()") < 1_000


@of_glibc
@pytest.mark.parametrize("first", ["", OFF, f"{OFF}; {RECORD}", f"{RECORD}; {OFF}"])
def test_without_a_record_or_on_request_a_process_is_as_it_was(first: str) -> None:
    assert faults(first) > 10_000


@of_glibc
def test_the_environment_turns_it_off() -> None:
    assert faults(RECORD, TAPE_AD_KEEP_FREED_MEMORY="0") > 10_000


@of_glibc
@pytest.mark.parametrize(("threshold", "kept"), [("65536", True), ("65537", False)])
def test_a_worker_keeps_freed_memory_but_where_a_user_has_said_how_much(
    threshold: str, kept: bool
) -> None:
    assert (faults(RECORD, MALLOC_TRIM_THRESHOLD_=threshold) < 1_000) == kept


def test_the_collector_runs_again_when_the_last_pause_ends() -> None:
    for first, second in (("one", "two"), ("two", "one")):
        pause_collection("one")
        pause_collection("two")
        resume_collection(first)
        resume_collection(first)
        assert not gc.isenabled()
        resume_collection(second)
        assert gc.isenabled()


OLD = """
import gc, weakref
from tape_ad.base import memory

def paused(make):
    memory.pause_collection("one")
    made = [make() for _ in range(2 * memory.MANY)]
    memory.resume_collection("one")
    return made

kept = paused(list)
print({id(each) for each in gc.get_objects(generation=0)}.isdisjoint(map(id, kept)))

class Node:
    def __init__(self):
        self.own = self

memory.MOST = 5 * memory.MANY
lives = [weakref.ref(paused(Node)[0]) for _ in range(2)]
print([live() is None for live in lives])
"""


def test_what_a_long_pause_has_made_is_old_and_garbage_of_many_is_collected() -> None:
    """In a process of its own: here, what has been imported is frozen."""
    done = subprocess.run(  # noqa: S603 - the text is ours
        [sys.executable, "-c", OLD], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n") == ["True", "[True, False]", ""]


def test_what_a_user_has_frozen_stays_apart() -> None:
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        pause_collection("one")
        made = [[number] for number in range(2 * MANY)]
        resume_collection("one")
        assert count <= gc.get_freeze_count() < count + len(made)
    finally:
        gc.unfreeze()


def test_a_collector_that_did_not_run_is_left_as_it_was() -> None:
    gc.disable()
    try:
        assert uncollected(uncollected, gc.isenabled) is False
        resume_collection("nobody")
        assert not gc.isenabled()
    finally:
        gc.enable()
