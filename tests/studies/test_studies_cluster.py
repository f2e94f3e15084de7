"""Studies on a cluster of Dask: the same bits as on threads, and nothing lost when workers die or differ."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import sharnir as sh
from browser import wait_for
from study_cases import same

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning:distributed")

OVER = {"rod.mass": (0.5, 2.0), "v0.main": (1.0, 3.0)}
RUN = {"duration": 0.2}


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as made, distributed.Client(made, set_as_default=False) as client:
        yield made, client


def outputs() -> dict:
    scale = 2.0
    return {"end": "final of slide", "peak": "peak of acceleration of slide", "own": lambda r: scale * r.q[-1, 0]}


@pytest.mark.parametrize("step", [{}, {"step": 0.01}], ids=["adaptive", "on lanes"])
def test_a_cluster_gives_the_bits_of_threads(cluster, step):
    given = {"model": sh.samples.slider_crank(), "over": OVER, "run": RUN | step, "outputs": outputs(), "runs": 40}
    threads = sh.study(**given, progress=False)
    assert set(threads["status"].values) == {"done"}
    assert same(threads, sh.study(**given, client=cluster[1], bundle=5, progress=False))


def test_a_worker_that_is_killed_has_its_bundle_done_again(cluster, tmp_path):
    made, client = cluster

    obituary = str(tmp_path / "died")

    def deadly(r):
        """A run late in the study ends its worker, once."""
        from contextlib import suppress

        if r.parameters[0, 0] == 21.0:
            with suppress(FileExistsError), open(obituary, "x", encoding="utf-8") as file:
                print(os.getpid(), file=file, flush=True)
                os.kill(os.getpid(), 9)
        return r.q[-1, 0]

    model = sh.samples.slider_crank()
    model.add_parameter("number", 0.0)
    given = {"model": model, "over": {"number": np.arange(40.0)}, "run": RUN, "outputs": {"own": deadly}}
    ds = sh.study(**given, client=client, bundle=5, store=tmp_path / "s", progress=False)
    victim = int((tmp_path / "died").read_text(encoding="utf-8"))
    assert set(ds["status"].values) == {"done"} and victim not in [w.pid for w in made.workers.values()]
    assert same(ds, sh.study(**given, progress=False))


def test_another_version_on_a_worker_is_refused_with_both(cluster):
    client = cluster[1]
    client.wait_for_workers(2)
    address = next(iter(client.scheduler_info(n_workers=-1)["workers"]))

    def pretend(version):
        import importlib

        vars(importlib.import_module("sharnir"))["__version__"] = version

    client.run(pretend, "0.0.9", workers=[address])
    try:
        with pytest.raises(sh.StateError, match=rf"{address} has sharnir 0\.0\.9, this process has sharnir {sh.__version__}"):
            sh.study(sh.samples.pendulum(), {"bar.mass": [1.0, 2.0]}, {"duration": 0.1}, client=client, progress=False)
    finally:
        client.run(pretend, sh.__version__, workers=[address])


def test_a_function_that_cannot_be_sent_is_named(cluster, tmp_path):
    lock = threading.Lock()
    with pytest.raises(sh.SharnirError, match="output 'held' cannot be sent to another process"):
        sh.study(
            sh.samples.pendulum(), {"bar.mass": [1.0, 2.0]}, {"duration": 0.1}, {"held": lambda r: float(lock.locked())},
            client=cluster[1], store=tmp_path / "s", progress=False,
        )  # fmt: skip


def test_a_scheduler_out_of_reach_is_named():
    with pytest.raises(sh.StateError, match=r"no scheduler of Dask answers at tcp://127\.0\.0\.1:9"):
        sh.study(sh.samples.pendulum(), {"bar.mass": [1.0]}, {"duration": 0.1}, client="tcp://127.0.0.1:9", progress=False)


def test_a_cluster_that_goes_away_loses_nothing(tmp_path):
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50, "processes": False}

    def slow(r):
        import time

        time.sleep(0.04)
        return r.q[-1, 0]

    def close(made):
        wait_for(lambda: len([*(tmp_path / "s" / "status").glob("[0-9]*")]) >= 2)
        made.close()

    given = {
        "model": sh.samples.pendulum(),
        "over": {"bar.mass": np.linspace(1.0, 2.0, 60)},
        "run": RUN,
        "outputs": {"own": slow},
    }
    with distributed.LocalCluster(**options) as made, distributed.Client(made, set_as_default=False) as client:
        threading.Thread(target=close, args=(made,)).start()
        with pytest.raises(sh.StudyError, match=r"cluster was lost.*call study again") as caught:
            sh.study(**given, client=client, bundle=2, store=tmp_path / "s", progress=False)
    done = caught.value.result["status"].values == "done"
    assert 0 < done.sum() < 60
    whole = sh.study(**given, store=tmp_path / "s", progress=False)
    assert set(whole["status"].values) == {"done"} and np.array_equal(
        whole["own"].values[done], caught.value.result["own"].values[done]
    )
