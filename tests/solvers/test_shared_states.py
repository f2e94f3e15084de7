"""One state of a large model on several threads: the same numbers as on one, whoever helps and whenever they come."""

from __future__ import annotations

import threading
import time
from functools import partial

import numpy as np
import pytest

import sharnir as sh
from sharnir.backends import threaded
from sharnir.backends.run import run_program
from sharnir.backends.thread_team import Team
from sharnir.backends.threaded import bands, divide, subtree_sizes
from sharnir.dialect.cache import Cache
from sharnir.dialect.kernels.tasks import lead
from sharnir.dialect.native import Native, from_python
from sharnir.dialect.storage import allocate
from sharnir.kernels.kane import diagonal_M3
from sharnir.programs import PROGRAMS
from sharnir.programs.sharing import SHARING
from states import EPS

MATRICES = ("composite", "stepanenko", "recursive")


@pytest.fixture
def small_models_too(monkeypatch):
    monkeypatch.setattr(threaded, "pays", lambda *given: True)


def random_carriers(rng, n, spread):
    """A tree numbered depth-first: every body hangs on one of the last few bodies of the way from the base to the one before."""
    path, out = [0], [0]
    for i in range(1, n + 1):
        path = path[: max(1, len(path) - int(rng.integers(0, spread)))]
        out.append(path[-1])
        path.append(i)
    return np.array(out)


def rows_in(ranges):
    return [i for low, high in ranges for i in range(low, high)]


# --- division -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("spread", [1, 2, 3, 8, 50])
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_parts_of_a_tree_touch_only_themselves_and_bodies_of_the_trunk_that_no_other_part_touches(spread, threads):
    rng = np.random.default_rng(spread)
    for n in (1, 2, 17, 400):
        carrier = random_carriers(rng, n, spread)
        trunk, parts = divide(carrier, threads)
        assert sorted([*rows_in(trunk), *(i for part in parts for i in rows_in(part))]) == list(range(1, n + 1))
        assert all((np.diff(part.ravel()) > 0).all() for part in (trunk, *parts)), "ranges do not ascend"
        owner = {i: k for k, part in enumerate(parts) for i in rows_in(part)}
        touched: dict[int, int] = {0: -1}
        for i, k in owner.items():
            above = int(carrier[i])
            if above and above not in owner:
                assert touched.setdefault(above, k) == k, "two parts fold into one body"
            assert above not in owner or owner[above] == k
        assert all(int(carrier[i]) not in owner for i in rows_in(trunk)), "the trunk stands on a part"


def test_parts_of_a_bushy_tree_keep_two_threads_busy():
    carrier = random_carriers(np.random.default_rng(7), 4000, 4)
    division = divide(carrier, 2)
    assert 0.5 <= division.time(2) < 0.55 and len(division.parts) <= 64


def test_legs_of_a_spider_are_whole_parts_even_where_they_are_few():
    legs = np.arange(1001) - 1
    legs[[0, 1, 2, 252, 502, 752]] = [0, 0, 1, 1, 1, 1]
    trunk, parts = divide(legs, 2)
    assert len(parts) == 4 and len(rows_in(trunk)) == 5


def test_a_chain_and_a_numbering_that_scatters_subtrees_are_not_divided():
    assert divide(sh.samples.chain(100).structure.carrier, 2).time(2) == 1.0
    m = sh.samples.tree(100, 2.0, dof=1)
    m.numbering = "leaves-last"
    assert not divide(m.structure.carrier, 2).parts


def test_free_bodies_on_the_base_are_all_in_parts():
    assert divide(np.zeros(101, dtype=np.int64), 2).time(2) < 0.53


def test_subtree_sizes_add_up():
    carrier = random_carriers(np.random.default_rng(0), 200, 4)
    size = subtree_sizes(carrier)
    assert all(size[i] == 1 + sum(size[k] for k in range(1, 201) if carrier[k] == i) for i in range(201))


@pytest.mark.parametrize("n", [1, 2, 3, 100, 101])
def test_bands_hold_every_body_once(n):
    assert sorted(i for part in bands(n, 3) for i in rows_in(part)) == list(range(1, n + 1))


# --- the same numbers ---------------------------------------------------------------------------------------------------------
def with_forces_and_parameters():
    """A tree that divides, with springs, a drive, and a mass and a place that depend on parameters."""
    m = sh.Model("spider")
    c = m.add_parameter("c", 2.0)
    m.add_body("hub", mass=1.0 + c, inertia=(1.0, 2.0, 2.5))
    m.add_joint("drive", sh.Revolute("z", motion=lambda t: 0.3 * sh.sin(c * t)), "ground", "hub")
    for leg in range(4):
        carrier = "hub"
        for k in range(6):
            name = f"link{leg}{k}"
            m.add_body(name, mass=c, com=(0.2, 0.0, 0.1 * leg), inertia=(0.1, 0.2, 0.2))
            m.add_joint(f"joint{leg}{k}", sh.Revolute("y"), carrier, name, at=sh.Pose((0.1 * c, 0.1 * leg, 0.0)))
            carrier = name
        m.add_force(sh.SpringDamper("ground", carrier, stiffness=3.0, length=0.1))
    return m


@pytest.mark.usefixtures("small_models_too")
@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize(
    "make",
    [
        partial(sh.samples.tree, 60, 3.0),
        partial(sh.samples.tree, 90, 1.2, seed=4),
        with_forces_and_parameters,
        sh.samples.all_joints,
    ],
)
def test_accelerations_on_threads_are_those_on_one(make, threads):
    m = make()
    rng = np.random.default_rng(1)
    q, v, tau = m.random_q(rng), rng.normal(size=m.nv), rng.normal(size=m.nv)
    wrenches = rng.normal(size=(m.structure.nb, 6))
    one, many = (sh.Dynamics(m, "separate", "loops", threads=k) for k in (1, threads))
    for given in (None, dict.fromkeys(m.parameters, 0.7) or None, None):
        for pushed in (None, wrenches):
            found, expected = (d.forward(q, v, tau, 0.3, pushed, parameters=given) for d in (many, one))
            assert np.abs(found - expected).max() <= 100 * EPS * np.abs(expected).max()
        q = m.random_q(rng)


@pytest.mark.usefixtures("small_models_too")
@pytest.mark.parametrize("method", MATRICES)
def test_columns_on_threads_are_those_on_one(method):
    rng = np.random.default_rng(2)
    for m in (sh.samples.tree(40, 1.5), sh.samples.chain(25, dof=3), sh.samples.all_joints()):
        q = m.random_q(rng)
        one, many = (sh.Dynamics(m, method, "loops", threads=k).mass_matrix(q) for k in (1, 3))
        assert np.abs(one - many).max() <= 50 * EPS * np.abs(one).max()


def test_K_16_needs_only_sums_over_children_for_its_diagonal():
    """M3_jj, which column j of the recursive algorithm finds, by a sum from child to carrier."""
    m = sh.samples.tree(30, 1.7, seed=5)
    q = m.random_q(np.random.default_rng(6))
    program, s = PROGRAMS["inertia/recursive"], m.structure
    work = allocate(program.work, program.sizes(s))
    run_program(program, s, {"q": q, "t": [0.0]}, work=work)
    columns = work.inertia.M3jj[1:].copy()
    diagonal_M3(s.tree, work.poses, work.inertia)
    assert np.abs(work.inertia.M3jj[1:] - columns).max() <= 50 * EPS * np.abs(columns).max()


def test_motion_on_threads_is_the_motion_on_one():
    m = sh.samples.tree(SHARING["rates"].least, 2.0, dof=1)
    options = {"method": "separate", "integrator": "rk4", "step": 1e-3, "output": None, "balance": False}
    one, two = (sh.simulate(m, 0.005, threads=k, **options) for k in (1, 2))
    assert np.array_equal(one.q, two.q) and np.array_equal(one.v, two.v)


def test_threads_share_what_is_large_and_nothing_else():
    def native(m, method, program, threads=2):
        runner = sh.Dynamics(m, method, "loops").formulation.programs.runner(program)
        arrays = {name: np.zeros(size) for name, size in runner.inputs.items()}
        arrays |= {name: np.zeros(shape) for name, shape in runner.outputs.items()}
        return runner.chain(arrays, threads)[-1]

    least = SHARING["forward/separate"].least
    tree, chain = sh.samples.tree(least, 2.0, dof=1), sh.samples.chain(least)
    assert isinstance(native(tree, "separate", "forward/separate"), Team)
    assert not isinstance(native(tree, "separate", "forward/separate", threads=1), Team)
    assert not isinstance(native(sh.samples.tree(least - 1, dof=1), "separate", "forward/separate"), Team)
    assert not isinstance(native(chain, "separate", "forward/separate"), Team), "a chain has no subtrees"
    assert isinstance(native(chain, "recursive", "inertia/recursive"), Team)


# --- tasks --------------------------------------------------------------------------------------------------------------------
STEPS = (1, 7, 1, 5)


@pytest.mark.parametrize("threads", [2, 4])
def test_every_task_is_done_once_and_no_step_begins_before_the_last_has_ended(threads):
    log = []

    def task(step, k):
        log.append(("begin", step, k))
        log.append(("end", step, k))

    team = Team([[from_python(partial(task, s, k)) for k in range(n)] for s, n in enumerate(STEPS)], threads, Cache())
    for _ in range(100):
        team()
        assert sorted(log) == [(what, s, k) for what in ("begin", "end") for s, n in enumerate(STEPS) for k in range(n)]
        assert [s for _, s, _ in log] == sorted(s for _, s, _ in log)
        log.clear()


def test_tasks_interpreted_are_tasks_compiled():
    log = []
    team = Team([[from_python(partial(log.append, (s, k))) for k in range(n)] for s, n in enumerate(STEPS)], 2, Cache())
    tasks, _ = team.arrays
    lead(tasks)
    assert log == [(s, k) for s, n in enumerate(STEPS) for k in range(n)]


def team_of_sleepers():
    """Two tasks that take long enough for another thread to come, and the threads that did them."""
    names = set()

    def task():
        time.sleep(0.05)
        names.add(threading.current_thread().name)

    return Team([[from_python(task), from_python(task)]], 2, Cache()), names


def until(condition, tries=1000):
    """Whether it comes about: on a busy machine helpers come late, and not every time."""
    return any(condition() for _ in range(tries))


def test_another_thread_helps():
    team, names = team_of_sleepers()
    assert until(lambda: team() or len(names) == 2)


def test_code_that_calls_the_address_is_helped_by_those_present_and_alone_otherwise():
    team, names = team_of_sleepers()
    Native.__call__(team)
    assert names == {threading.current_thread().name}
    with team.present():
        assert until(lambda: Native.__call__(team) or len(names) == 2)


@pytest.mark.usefixtures("small_models_too")
def test_several_callers_and_teams_at_once_give_what_each_gives_alone():
    models = [sh.samples.tree(80, 2.0, dof=1, seed=k) for k in range(3)]
    forward = [sh.Dynamics(m, "separate", "loops", threads=2).forward for m in models]
    states = [np.random.default_rng(k).normal(size=(3, 80)) for k in range(3)]
    expected = [sh.Dynamics(m, "separate", "loops").forward(*x) for m, x in zip(models, states, strict=True)]
    wrong = []

    def call(k):
        for i in range(60):
            n = (k + i) % 3
            if not np.array_equal(forward[n](*states[n]), expected[n]):
                wrong.append(n)

    callers = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong
