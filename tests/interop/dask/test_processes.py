"""Workers that are processes: they are killed, run out of memory, and are ended.

It takes a while to start them, so this is left to a run with TAPE_AD_CLUSTERS=required.
"""

import logging
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")
if os.environ.get("TAPE_AD_CLUSTERS") != "required":
    pytest.skip("TAPE_AD_CLUSTERS=required runs these", allow_module_level=True)

import dask.array as da
import psutil
from dask import config
from dask.delayed import delayed as task
from distributed import Client, LocalCluster, wait
from distributed.security import Security

import tape_ad as ta
from tape_ad.errors import ClusterError, PartitionError
from tape_ad.interop.dask import steps
from tests.interop.dask.kills import kill_and_count
from tests.test_examples import run as run_example

# The program asks for Python's own handler, as a shell lets what it starts in the background ignore
# the signal.
PROGRAM = """
import signal
import sys
import time
import numpy as np
from dask.delayed import delayed
import tape_ad as ta

def loss(p, x):
    time.sleep(float(sys.argv[1]))
    return np.sum(p) * np.mean(x)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    step = ta.interop.dask.value_and_grad(loss)
    data = [delayed(np.full)(3, float(i)) for i in range(4)]
    step._workers.client()
    print(*[each.pid for each in step._workers.own.cluster.workers.values()], flush=True)
    print(float(step(np.ones(2), data)[0]))
"""


def cluster(**options: Any) -> Any:
    return LocalCluster(
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
        **options,
    )


def test_killed_workers_change_no_bit() -> None:
    kills, steps_taken = kill_and_count(kills=4, seed=0)
    assert kills >= 4
    assert steps_taken >= 1


def test_any_number_of_workers_gives_the_same_bits() -> None:
    x = da.random.default_rng(0).normal(size=(700, 3), chunks=(70, 3))
    found = set()
    for workers in (1, 2):
        with cluster(n_workers=workers) as local, Client(local):
            step = ta.interop.dask.value_and_grad(lambda p, x: np.mean(np.tanh(x @ p) ** 2))
            value, slope = step(np.array([0.1, 0.2, 0.3]), x)
            found.add((value.tobytes(), slope.tobytes()))
    assert len(found) == 1


def test_a_partition_that_kills_its_workers_is_named() -> None:
    def loss(p: Any, x: Any) -> Any:
        if x[0] == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return p * np.mean(x)

    data = [task(np.full)(3, i) for i in range(9)]
    patient = {"distributed.scheduler.allowed-failures": 1}
    with config.set(patient), cluster(n_workers=2) as local, Client(local):
        step = ta.interop.dask.value_and_grad(loss)
        with pytest.raises(
            PartitionError, match="were killed while they computed partition 5 of 9"
        ):
            step(2.0, data)


def test_a_partition_that_takes_all_memory_is_named() -> None:
    def made(number: int) -> Any:
        rows = np.ones(10**8 if number == 5 else 3)  # 800 MB, or next to nothing
        time.sleep(60 if number == 5 else 0)  # until the nanny looks
        return rows

    data = [task(made)(i) for i in range(9)]
    patient = {"distributed.scheduler.allowed-failures": 1}
    with (
        config.set(patient),
        cluster(n_workers=2, memory_limit="400 MB") as local,
        Client(local) as client,
    ):
        step = ta.interop.dask.value_and_grad(lambda p, x: p * np.mean(x))
        with pytest.raises(PartitionError, match=r"computed partition 5 of 9 .* short of memory"):
            step(2.0, data)
        assert step(2.0, data[:5]) == (2.0, 1.0)
        client.wait_for_workers(2)


@pytest.mark.parametrize("keep", [False, True])
def test_what_a_killed_worker_held_is_made_again(keep: bool) -> None:
    x = da.random.default_rng(0).normal(size=(700, 3), chunks=(70, 3))
    with cluster(n_workers=2) as local, Client(local) as client:
        held = x.persist()
        wait(held)
        step = ta.interop.dask.value_and_grad(lambda p, x: np.mean(np.tanh(x @ p) ** 2), keep=keep)
        value, slope = step(np.ones(3), held)
        held_by = client.has_what()
        nanny = next(each for each in local.workers.values() if held_by[each.worker_address])
        os.kill(nanny.pid, signal.SIGKILL)
        again = step(np.ones(3), held)
        client.wait_for_workers(2)  # a cluster is not to be closed while it starts one
    assert (again[0].tobytes(), again[1].tobytes()) == (value.tobytes(), slope.tobytes())


def test_a_cluster_of_its_own_replaces_workers_that_dask_gave_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "PATIENCE", 1.0)
    monkeypatch.setattr(steps, "LOOKS", 120)
    hasty = {"distributed.deploy.lost-worker-timeout": "1 ms"}
    data = [task(np.full)(3, i) for i in range(4)]
    with config.set(hasty), ta.interop.dask.value_and_grad(lambda p, x: p * np.mean(x)) as step:
        client = step._workers.client()
        nannies = list(client.cluster.workers.values())
        for nanny in nannies:
            os.kill(nanny.pid, signal.SIGKILL)
        assert step(2.0, data) == (3.0, 1.5)
        while len(client.nthreads()) < len(nannies):  # a step may do with the first to be replaced
            assert step(2.0, data) == (3.0, 1.5)
            time.sleep(0.1)
        assert not set(nannies) & set(client.cluster.workers.values())


def test_a_cluster_of_its_own_listens_to_this_machine_alone() -> None:
    with ta.interop.dask.value_and_grad(lambda p, x: p * np.mean(x)) as step:
        assert step.dashboard is not None
        this = psutil.Process()
        processes = [this, *this.children(recursive=True)]
        connections = [each for one in processes for each in one.net_connections("inet")]
    listening = {each.laddr.ip for each in connections if each.status == psutil.CONN_LISTEN}
    assert listening
    assert listening <= {"127.0.0.1", "::1"}


def test_what_nobody_can_make_again_is_named() -> None:
    with cluster(n_workers=2) as local, Client(local) as client:
        held = client.scatter([np.full(3, i) for i in range(4)])
        step = ta.interop.dask.value_and_grad(lambda p, x: p * np.mean(x))
        assert step(2.0, held) == (3.0, 1.5)
        keeper = client.who_has(held[:1])[held[0].key][0]
        nanny = next(each for each in local.workers.values() if each.worker_address == keeper)
        os.kill(nanny.pid, signal.SIGKILL)
        with pytest.raises(PartitionError, match=r"partition 0 of 4 .* a worker that is gone"):
            step(2.0, held)
        again = client.scatter([np.full(3, i) for i in range(4)])
        assert step(2.0, again) == (3.0, 1.5)
        client.wait_for_workers(2)


def test_only_who_has_the_certificate_takes_part() -> None:
    x = da.random.default_rng(0).normal(size=(700, 3), chunks=(70, 3))
    step = ta.interop.dask.value_and_grad(lambda p, x: np.mean(np.tanh(x @ p) ** 2))
    with Client(processes=False, dashboard_address=":0"):
        plain = step(np.ones(3), x)
    security = Security.temporary()
    with cluster(n_workers=2, security=security) as local:
        with Client(local) as client:
            value, slope = step(np.ones(3), x)
            workers = list(client.has_what())
        with pytest.raises(OSError, match="certificate"):
            Client(local.scheduler_address, security=Security.temporary())
        with pytest.raises(OSError, match="closed"):
            Client(local.scheduler_address.replace("tls", "tcp"), security=Security())
    assert all(address.startswith("tls://") for address in [local.scheduler_address, *workers])
    assert (value.tobytes(), slope.tobytes()) == (plain[0].tobytes(), plain[1].tobytes())


def test_a_scheduler_that_is_gone_is_told_and_training_goes_on(tmp_path: Path) -> None:
    x = da.ones((40, 2), chunks=(10, 2))

    def loss(p: Any, x: Any) -> Any:
        return np.mean((x @ p["w"] - 1) ** 2)

    def trained(params: Any, optimizer: Any, first: int, last: int, step: Any) -> None:
        for number in range(first, last):
            _, grads = step(params, x)
            optimizer.step(params, grads)
            path = tmp_path / "run.npz"
            ta.training.save_checkpoint(path, params, optimizer.state, number + 1, {})

    whole = {"w": np.zeros(2)}
    params = {"w": np.zeros(2)}
    step = ta.interop.dask.value_and_grad(loss)
    with Client(processes=False, dashboard_address=":0"):
        trained(whole, ta.optim.Adam(lr=0.1), 0, 6, step)
    first = Client(processes=False, dashboard_address=":0")
    trained(params, ta.optim.Adam(lr=0.1), 0, 3, step)
    assert first.cluster is not None
    first.cluster.close()
    with pytest.raises(ClusterError, match="go on from the last checkpoint"):
        step(params, x)
    first.close()
    with Client(processes=False, dashboard_address=":0"):
        saved = ta.training.load_checkpoint(tmp_path / "run.npz")
        optimizer = ta.optim.Adam(lr=0.1, state=saved.state)
        trained(saved.params, optimizer, saved.step, 6, step)
    assert saved.params["w"].tobytes() == whole["w"].tobytes()


def test_no_worker_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "PATIENCE", 0.2)
    step = ta.interop.dask.value_and_grad(lambda p, x: p * np.sum(x))
    with (
        Client(processes=False, n_workers=0, dashboard_address=":0"),
        pytest.raises(ClusterError, match="no worker"),
    ):
        step(1.0, da.ones(4, chunks=2))


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_cluster_of_its_own_leaves_no_process_behind(tmp_path: Path, interrupted: bool) -> None:
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    running = subprocess.Popen(  # noqa: S603 - our own program in our own interpreter
        [sys.executable, program, "60" if interrupted else "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stdout is not None
    pids = [int(pid) for pid in running.stdout.readline().split()]
    if interrupted:
        time.sleep(1)  # until tasks run
        running.send_signal(signal.SIGINT)
    printed, errors = running.communicate(timeout=60)
    assert pids
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert ("KeyboardInterrupt" in errors) == interrupted, errors
    assert printed == ("" if interrupted else "3.0\n")


@pytest.mark.parametrize(("step", "killed"), [("7", 1), ("-1", 0)])
def test_the_example_counts_every_gradient_once(tmp_path: Path, step: str, killed: int) -> None:
    result = run_example("08_parallel_training.py", tmp_path, "--kill-at", step, "--out", ".")
    assert result.returncode == 0, result.stderr
    assert re.search(rf"(?m)^2 processes: 40 steps in .* s, with {killed} killed$", result.stdout)
    (difference,) = re.findall(r"(?m)between the parameters: (\S+)$", result.stdout)
    assert float(difference) < 1e-12
    assert (tmp_path / "parallel.npz").exists()


def test_the_example_opens_files_and_draws_what_steps_cost(tmp_path: Path) -> None:
    few = ["--steps", "4", "--times", "1"]
    result = run_example("12_distributed.py", tmp_path, *few, "--out", "made/here")
    assert result.returncode == 0, result.stderr
    assert "between numbers of workers: none, to the bit\n" in result.stdout
    assert len(re.findall(r"(?m)^(?:Adam|L-BFGS): loss \d\.\d{3} -> ", result.stdout)) == 2
    assert (tmp_path / "made/here/distributed.png").read_bytes().startswith(b"\x89PNG")
