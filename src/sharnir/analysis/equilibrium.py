"""Equilibrium: where a mechanism rests under its forces, or moves steadily with given speeds; whether that is stable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..dialect.jit import in_background
from ..dynamics import Dynamics
from ..equations.assembly.fixed_coordinates import Held
from ..equations.assembly.search import closed_position
from ..equations.motion.retraction import retract
from ..equations.rows.constraint_table import table_of
from ..errors import AssemblyError, EquilibriumError, SingularError, StateError, known, suggesting
from ..model.model import Model
from ..model.states import check_model, check_state, check_tau
from ..model.validity import beyond_validity, warn_of_deformation
from ..reporting.formats import plural
from ..reporting.notebook import Fact, Shown
from ..types import State, random_generator, truth
from .arguments import SHOWN, coordinate_facts, first_lines, speeds_of, steady_speeds, unit_of_force, whole, with_values
from .balance import Balance, BalancingSearch, Position
from .flexibility import warn_of_locking
from .limits import Limits, closed_starts, random_start
from .linear_system import LARGE

CHANGING = 1e-9
"""Rates of states above this are not zero."""


@dataclass(frozen=True, repr=False)
class Equilibrium(Shown):
    """A position at which all forces balance. `dynamics.forward(q, v, tau, t)` is zero there."""

    dynamics: Dynamics
    q: np.ndarray
    v: np.ndarray
    """The speeds of a steady motion; zero at rest."""
    t: float
    tau: np.ndarray
    """(nv,): joint forces, those that were given and those that hold or drive the held joints."""
    held: tuple[str, ...]
    """Speeds whose joints were held or driven, so that their part of `tau` is an output."""
    multipliers: np.ndarray
    """λ of every constraint row, empty for a tree."""
    residual: float
    """The largest force that stays unbalanced, N or N m."""
    stability: str
    """"stable", "unstable" or "undecided"."""
    reason: str
    steady: bool
    """Whether forces stay balanced as held joints and drives move on; false where it holds at this instant only."""
    iterations: int
    starts: int

    @property
    def model(self) -> Model:
        return self.dynamics.model

    @property
    def state_rates(self) -> dict[str, float]:
        """States of forces are held; this is how fast each would change here: not zero where the rest does not last."""
        return dict(zip(self.model.states, self.dynamics.state_rates(self.q, self.v, self.t).tolist(), strict=True))

    def reactions(self) -> dict[str, np.ndarray]:
        """{joint: (6,) force and moment on the body it carries, at its origin, in its axes}; drives and locks included."""
        R = self.dynamics.reactions(self.q, self.v, self.tau, self.t)
        return {joint.name: R[i] for i, joint in enumerate(self.model.joints)}

    def summary(self) -> str:
        """The equilibrium in a few lines of text."""
        m, kind = self.model, "steady motion" if self.v.any() else "equilibrium"
        lines = [f"{m.name}: {self.stability} {kind}; {self.reason}"]
        if not self.steady:
            lines.append(f"  balanced at t = {self.t:g} only: the forces change as drives and held joints move on")
        moving = {name: x for name, x in self.state_rates.items() if abs(x) > CHANGING} if m.states else {}
        for name, x in moving.items():
            lines.append(f"  it does not last: state {name!r}, held at {m.states[name]:g}, changes here at a rate of {x:.3g}")
        lines.append(f"  unbalanced  {self.residual:.2g} N, N m after {plural(self.iterations, 'iteration')}")
        names, v_names = m.q_names, m.v_names
        width = max(10, *map(len, names[:SHOWN]), *map(len, self.held)) if names else 10
        lines += first_lines(names, self.q.round(15) + 0.0, width)
        for name in self.held[:SHOWN]:
            k = v_names.index(name)
            what = f"driven at {self.v[k]:g} by" if self.v[k] else "held by"
            lines.append(f"  {name:<{width}} {what} {self.tau[k]:.6g} {unit_of_force(m, k)}".rstrip())
        return "\n".join(lines)

    def _facts(self) -> tuple[str, list[Fact]]:
        m, at = self.model, {name: k for k, name in enumerate(self.model.v_names)}
        holding = [(f"holds {name}", float(self.tau[at[name]]), unit_of_force(m, at[name])) for name in self.held[:SHOWN]]
        facts = [*coordinate_facts(m, self.q), *holding, ("unbalanced", self.residual, "N, N m"), ("reason", self.reason, "")]
        return m.name, [("stability", self.stability, ""), *facts]

    def __repr__(self) -> str:
        return f"<Equilibrium of {self.model.name!r}: {self.stability}, {self.reason}>"


# --- whether an equilibrium is stable: by the potential energy where forces have one, else by the linearised motion
ROUNDING = 1e-9
"""Error of stiffnesses, relative to the largest one and to the forces of the model."""
SYMMETRY = 1e-7
"""Stiffnesses are symmetric, as those of a potential, if they are up to this share of the largest."""
GROWTH = 1e-8
"""Rates of growth below this share of the largest eigenvalue are none."""


def stability(now: Position, speeds: bool) -> tuple[str, str]:
    """ "stable", "unstable" or "undecided", and the reason. `speeds`: whether held joints move."""
    K, C = now.K, now.C
    if not len(K):
        return "stable", "nothing can move"
    size = float(np.abs(K).max())
    noise = SYMMETRY * size + ROUNDING * now.scale * float((now.motions**2).sum(axis=0).max())
    if np.abs(K - K.T).max() <= noise:
        return _by_energy(now, K, C, speeds)
    return _by_eigenvalues(now, K, C)


def _by_energy(now: Position, K: np.ndarray, C: np.ndarray, speeds: bool) -> tuple[str, str]:
    """Lagrange and Dirichlet; Kelvin, Tait and Chetaev where forces depend on speeds."""
    w, U = np.linalg.eigh(0.5 * (K + K.T))
    zero = ROUNDING * (float(np.abs(w).max()) + now.scale * ((now.motions @ U) ** 2).sum(axis=0))
    energy = "potential energy" + (" with that of the centrifugal forces" if speeds else "")
    fed = np.linalg.eigvalsh(0.5 * (C + C.T))
    damping_noise = ROUNDING * (float(np.abs(C).max()) + float(np.sqrt(np.abs(w).max())))
    feeds, has_speed_forces = fed[0] < -damping_noise, float(np.abs(C).max()) > damping_noise
    if (w > zero).all():
        if feeds:
            return _by_eigenvalues(now, K, C)
        return "stable", f"the {energy} has a minimum here" + (", and no force feeds the motion" if has_speed_forces else "")
    falling = np.flatnonzero(w < -zero)
    if len(falling) and (not has_speed_forces or len(falling) % 2):
        return "unstable", f"the {energy} decreases along a motion of {_moving(now, U[:, falling[0]])}"
    if len(falling):  # gyroscopic forces may hold what the potential does not
        return _by_eigenvalues(now, K, C)
    flat = int(np.argmin(np.abs(w)))
    return "undecided", f"the {energy} does not change, to second order, along a motion of {_moving(now, U[:, flat])}"


def _by_eigenvalues(now: Position, K: np.ndarray, C: np.ndarray) -> tuple[str, str]:
    """By the eigenvalues of the linearised motion ÿ + C ẏ + K y = 0."""
    n = len(K)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]])
    s, X = np.linalg.eig(A)
    fastest = int(np.argmax(s.real))
    x, zero = s[fastest], GROWTH * max(float(np.abs(s).max()), 1e-300)
    moving = _moving(now, X[:n, fastest])
    if x.real > zero:
        how = f"oscillates with {abs(x.imag) / (2 * np.pi):.3g} Hz and grows" if abs(x.imag) > zero else "grows"
        return "unstable", f"a small motion of {moving} {how}, e-fold in {1.0 / x.real:.3g} s"
    if x.real < -zero:
        return "stable", f"every small motion decays, the slowest, of {moving}, e-fold in {-1.0 / x.real:.3g} s"
    return "undecided", f"the linearised motion of {moving} neither grows nor decays"


def _moving(now: Position, y: np.ndarray) -> str:
    """The joints that take part in a motion."""
    parts = np.abs(now.motions @ y)
    names: Sequence[str] = now.problem.model.v_names
    order = [k for k in np.argsort(-parts, kind="stable") if parts[k] > 0.2 * parts.max()]
    return known((names[k] for k in order), 4)


# --- the search
BEST = ". The best position found is in `error.result`"
UNSTEADY = 1e-7
"""Forces left after a while of the motion, relative to the size of the forces, above which it is not steady."""


@suggesting
def equilibrium(
    model: Model,
    guess: State = None,
    *,
    tau: State = None,
    t: float = 0.0,
    speeds: State = None,
    fixed: Sequence[str] = (),
    stable: bool | None = None,
    starts: int = 8,
    seed: int | np.random.Generator = 0,
    parameters: Mapping[str, float] | None = None,
    states: Mapping[str, float] | None = None,
) -> Equilibrium:
    """A position in which the model rests under gravity, its forces and the joint forces `tau`; loops stay closed.

    guess    coordinates, an array or {joint: value}. One that is balanced is taken as it is; from any other the forces are
             followed until they balance
    tau      constant joint forces, an array or {joint: value}
    t        the time: drives are where, and move as, their functions say
    speeds   {joint: value} for steady motion: these joints are driven at constant speed and stay where the guess has them,
             all others are at rest relative to their carriers; what drives them is in `.tau`
    fixed    joints that are held where the guess has them; what holds them is in `.tau`
    stable   True: only an equilibrium that is not unstable; False: the nearest of any kind; by default one that is not unstable,
             where such a one is found and the guess is not balanced
    starts   how many positions to search from: the guess, then random ones (by `seed`)
    parameters   {name: value} of the model; the rest as the model has them
    states   {name: value} of states of forces, which are held; the rest as they start in the model. `.state_rates` of the result

    An EquilibriumError where there is none names the joint whose force cannot be balanced; `error.result` has the best position.
    """
    model = with_values(check_model(model, "equilibrium"), parameters, states)
    q, _, t = check_state(model, guess, None, t)
    v, driven = steady_speeds(model, speeds)
    held = driven | speeds_of(model, fixed, "fixed")
    joint_forces, starts, rng = check_tau(model, tau), whole(starts, "starts"), random_generator(seed)
    if stable is not None:
        stable = truth(stable, "stable")
    d = Dynamics(model)
    problem = Balance(d, table_of(model) if model.constraints else None, v, joint_forces, ~held, t)

    def searched() -> Equilibrium:
        positions = _starts(problem, q, guess, starts, rng)
        return _searched(BalancingSearch(problem), positions, q, held, stable, guess is not None)

    found = in_background(searched, model.nv > LARGE, "equilibrium")
    if model.structure.deformations:
        warn_of_locking(d, t, found.q, q)
        warn_of_deformation(beyond_validity(model, found.q, np.array(t)))
    return found


def _searched(
    search: BalancingSearch, starts: Starts, q: np.ndarray, held: np.ndarray, stable: bool | None, is_guessed: bool
) -> Equilibrium:
    """The first equilibrium of the kind that is wanted."""
    best: Position | None = None
    unstable: Equilibrium | None = None
    tried = 0
    for tried, (start, is_guess) in enumerate(starts, 1):
        if is_guess and is_guessed and not stable and search.is_settled(start):
            return _result(search, search.polished(start), tried, held)
        for way in (search.nearest, search.downhill) if stable is False else (search.downhill, search.nearest):
            now, found = way(start)
            if found:
                result = _result(search, now, tried, held)
                if stable is False or result.stability != "unstable":
                    return result
                unstable = unstable or result
            if best is None or now.cost < 0.99 * best.cost:
                best = now
    if unstable is not None and not stable:
        return unstable
    if unstable is not None:
        advice = f"give another guess, or accept one with stable=False{BEST}"
        raise EquilibriumError(f"only unstable equilibria were found: {unstable.reason}; {advice}", unstable)
    if best is not None:
        raise EquilibriumError(_why_not(best) + BEST, _result(search, best, tried, held, False))
    p = search.problem
    if p.table is not None:
        closed_position(p.model, p.table, q, p.t, Held(~p.free, (), ()))  # says why there is no closed position
    raise EquilibriumError("the forces of the model are not defined at the guess, nor at other positions; give another guess")


Starts = Iterator[tuple[Position, bool]]


def _starts(problem: Balance, q: np.ndarray, guess: State, starts: int, rng: np.random.Generator) -> Starts:
    """Positions with their loops closed, and whether it is the guess."""
    limits = Limits(problem.model)

    def closed(k: int) -> np.ndarray | None:
        if k:
            return problem.allowed(random_start(problem.model, q, problem.free, limits, rng))
        found = None
        if isinstance(guess, Mapping):  # named joints stay where they are, if the others can close the loops
            found = problem.allowed(q, problem.free & ~speeds_of(problem.model, list(guess), "guess"))
        found = problem.allowed(q) if found is None else found
        return _assembled(problem, q) if found is None else found

    for k, start in closed_starts(closed, starts):
        if (now := problem.at(start)) is not None:
            yield now, k == 0


def _assembled(problem: Balance, q: np.ndarray) -> np.ndarray | None:
    """Closed as an assembly does it, which finds more and takes longer: a straight chain between near anchors."""
    if problem.table is None:
        return None
    try:
        return closed_position(problem.model, problem.table, q, problem.t, Held(~problem.free, (), ()))
    except (AssemblyError, SingularError, np.linalg.LinAlgError):
        return None


def _result(search: BalancingSearch, now: Position, starts: int, held: np.ndarray, is_balanced: bool = True) -> Equilibrium:
    p = search.problem
    _check_speeds(p, now.q)
    decided, reason = stability(now, bool(p.v.any())) if is_balanced else ("undecided", "the forces do not balance here")
    names = tuple(name for name, is_held in zip(p.model.v_names, held, strict=True) if is_held)
    return Equilibrium(
        p.d, now.q, p.v, p.t, p.tau + p.held_forces(now), names, now.lam, now.worst, decided, reason, _is_steady(p, now),
        search.iterations, starts,
    )  # fmt: skip


def _check_speeds(p: Balance, q: np.ndarray) -> None:
    """Constraints must allow the given speeds, with all others zero."""
    if p.table is None:
        return
    now = p.table.evaluate(q, p.v, p.t)
    for order, left in ((1, now["rate"]), (2, now["gamma"])):
        size = max(1.0, float(np.abs(p.v).max(initial=0.0))) ** order * p.table.scale.of_rows(q, now["J"])
        worst = int(np.argmax(np.abs(left) / size)) if len(left) else -1
        if worst >= 0 and abs(left[worst]) > 1e-8 * size[worst]:
            row = p.table.rows[worst]
            advice = "give the speeds of all joints that move, or a time at which drives rest"
            raise StateError(f"speeds: {row} would be violated by {row.amount(left[worst], order)}; {advice}")


def _is_steady(p: Balance, now: Position) -> bool:
    """Whether the forces that were balanced still are a little later."""
    ahead = 0.3 / max(1.0, float(np.abs(p.v).max(initial=0.0)))
    later = Balance(p.d, p.table, p.v, p.tau, p.free, p.t + ahead)
    closed = later.allowed(retract(p.model, now.q, ahead * p.v, p.t))
    then = None if closed is None else later.at(closed)
    return then is not None and then.worst <= UNSTEADY * now.scale + 2.0 * now.worst


def _why_not(best: Position) -> str:
    model = best.problem.model
    k = int(np.argmax(np.abs(best.left)))
    joint = next(j.name for j in model.joints if model.v_slice(j.name).start <= k < model.v_slice(j.name).stop)
    amount = f"{abs(best.left[k]):.4g} {unit_of_force(model, k)}".rstrip()
    remedies = f"add a spring or a stop, balance it with tau={{{joint!r}: …}}, hold the joint with fixed=[{joint!r}]"
    what = f"no equilibrium was found: at joint {model.v_names[k]!r} a force of {amount} stays unbalanced"
    return f"{what}; {remedies}, or give a guess nearer to an equilibrium"
