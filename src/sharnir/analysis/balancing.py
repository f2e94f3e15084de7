"""The search for an equilibrium: the nearest one, by damped Newton steps, or downhill, by the work of the forces.

`nearest`    Levenberg–Marquardt on what is left of the forces: it ends at equilibria of any kind near the start.
`downhill`   Newton steps with the sizes of the curvatures in place of the curvatures, each of which the forces must favour by
             their work: with a potential this is its minimisation, without one a motion of great damping. It leaves saddles, and
             ends only where no motion is favoured.
"""

from __future__ import annotations

import numpy as np

from ..equations.assembly.least_motion import ACCEPTED, Step, damped_newton
from .balance import Balance, Position

MAX_ITERATIONS = 200
BALANCED = 1e-12
"""Forces left below this share of `scale` are rounding."""
SETTLED = 1e-7
"""Forces left below this share of `scale` are balanced where the next step is short."""
SHORT = 1e-10
"""A step, rad or m, relative to the coordinates where these are large."""
FIRST_REACH = 0.5
"""The largest motion of a joint in the first step, rad or m; doubled by steps that go well."""
FLAT = 1e-9
"""Curvatures below this share of the largest give no length of a step."""
KICK = 0.05


class BalancingSearch:
    """`iterations` counts all that were made."""

    def __init__(self, problem: Balance) -> None:
        self.problem, self.iterations = problem, 0

    def is_settled(self, now: Position, step: np.ndarray | None = None) -> bool:
        """Whether the forces are balanced, `step` being what would balance them better."""
        if now.worst <= BALANCED * now.scale:
            return True
        step = now.motion(-_solved(now.K, now.F)) if step is None else step
        length = float(np.abs(step).max(initial=0.0))
        return now.worst <= SETTLED * now.scale and length <= SHORT * (1.0 + float(np.abs(now.q).max(initial=0.0)))

    # --- the nearest --------------------------------------------------------------------------------------------------------
    def nearest(self, now: Position) -> tuple[Position, bool]:
        """The last position, and whether it is an equilibrium."""
        reach, is_settled = FIRST_REACH, False

        def step(now: Position, damping: float, gain: float) -> Step | None:
            nonlocal reach, is_settled
            reach = 2.0 * reach if gain > 0.5 else max(0.5 * reach, 1e-8) if gain <= ACCEPTED else reach
            K, F = now.K, now.F
            mu = damping * float((K**2).sum(axis=0).max(initial=0.0))
            y = -np.linalg.lstsq(K.T @ K + mu * np.eye(len(F)), K.T @ F, rcond=1e-15)[0] if mu else -_solved(K, F)
            motion = now.motion(y)
            is_settled = self.is_settled(now, motion)
            if is_settled:
                return None
            self.iterations += 1
            share = min(1.0, reach / max(float(np.abs(motion).max(initial=0.0)), 1e-300))
            promised = now.cost - float(((F + share * (K @ y)) ** 2).sum())
            return Step(share * motion, promised) if promised > 1e-12 * now.cost else None  # else a least, not zero

        end = damped_newton(now, step, lambda now, motion: self.problem.step(now.q, motion), MAX_ITERATIONS)
        return (self.polished(end), True) if is_settled else (end, False)

    # --- downhill -----------------------------------------------------------------------------------------------------------
    def downhill(self, now: Position) -> tuple[Position, bool]:
        reach, kicks = FIRST_REACH, 0
        far = 1e4 * (1.0 + float(np.abs(now.q).max(initial=0.0)))
        for _ in range(MAX_ITERATIONS):
            w, U = np.linalg.eigh(0.5 * (now.K + now.K.T))
            least = max(FLAT * float(np.abs(w).max(initial=0.0)), 1e-12 * float(np.abs(now.F).max(initial=0.0)), 1e-300)
            sizes = np.maximum(np.abs(w), least)
            y = -U @ ((U.T @ now.F) / sizes)
            step = now.motion(y)
            if self.is_settled(now, step):
                kick = self._kicked(now, w, U) if kicks < 3 else None
                if kick is None:
                    return self.polished(now), True
                now, kicks, reach = kick, kicks + 1, FIRST_REACH
                continue
            self.iterations += 1
            share = min(1.0, reach / max(float(np.abs(step).max(initial=0.0)), 1e-300))
            favoured = -share * float(now.F @ y)
            after = self.problem.step(now.q, share * step)
            work = -1.0 if after is None else -0.5 * share * float((now.left + after.left) @ step)
            if after is not None and work > 0.05 * favoured:
                now, reach = after, 2.0 * reach if work > 0.45 * favoured or share == 1.0 else reach
                if np.abs(now.q).max(initial=0.0) > far:
                    return now, False
            else:
                reach = 0.25 * min(reach, share * float(np.abs(step).max(initial=0.0)))
                if reach < 1e-14:
                    return now, False
        return now, False

    def _kicked(self, now: Position, w: np.ndarray, U: np.ndarray) -> Position | None:
        """A position beside an equilibrium at which the forces favour some motion; None where they favour none."""
        if not len(w) or w[0] >= -1e-6 * max(float(np.abs(w).max()), 1e-300):
            return None
        motion = now.motion(U[:, 0])
        return self.problem.step(now.q, motion * KICK / max(float(np.abs(motion).max()), 1e-300))

    def polished(self, now: Position) -> Position:
        """A few full steps of Newton's method, while they help."""
        for _ in range(3):
            after = self.problem.step(now.q, now.motion(-_solved(now.K, now.F)))
            if after is None or not after.worst < 0.5 * now.worst:
                break
            now = after
        return now


def _solved(K: np.ndarray, F: np.ndarray) -> np.ndarray:
    """K⁻¹F, of least norm where K is singular."""
    return np.linalg.lstsq(K, F, rcond=1e-11)[0] if K.size else F
