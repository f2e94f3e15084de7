"""Forces of a compiled MJCF model: tendons, as springs and dampers on their length where it is a sum of joints or of straight
lines; actuators, whose controls are parameters and whose activations are states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import FormatError
from ..model.forces import Actuator, Muscle, Tendon
from .mjcf_import import MjcfImport, Names
from .mjcf_joints import BALL, HINGE, SLIDE

LEAST = 1e-15
"""MuJoCo's smallest divisor."""
DYNAMICS = {"none": "none", "integrator": "integrator", "filter": "filter", "filterexact": "filter"}
"""The exact filter is one of step length: in continuous time it is the filter."""


# --- tendons
def add_tendons(on: MjcfImport) -> None:
    compiled, report, names = on.compiled, on.report, Names()
    on_tendon = compiled.actuator_trntype == compiled.enumeration("mjtTrn")["tendon"]
    driven = set(compiled.actuator_trnid[on_tendon, 0].tolist())
    stiff, damped = (on.passive and not compiled.is_disabled(what) for what in ("spring", "damper"))
    for k in range(compiled.count("tendon")):
        label = compiled.label("tendon", k)
        stiffness, damping = float(compiled.tendon_stiffness[k]) * stiff, float(compiled.tendon_damping[k]) * damped
        terms, points = tendon_path(on, k)
        for field in ("limited", "armature", "frictionloss", "stiffnesspoly", "dampingpoly", "springyield"):
            if np.any(compiled.given(f"tendon_{field}", k)):
                report.ignored(f"{field} of a tendon", label)
        if not stiffness and not damping and k in driven and (terms or points):
            report.kept("tendon", label, "as the path of its actuators")
        elif not stiffness and not damping:
            report.ignored("tendon", label, "it has no spring and no damper that act")
        elif not terms and len({body for body, _ in points}) < 2:
            report.ignored("tendon", label, "only straight lines between sites and sums of coordinates are known")
        else:
            low, high = (float(x) for x in compiled.tendon_lengthspring[k])
            on.model.add_force(Tendon(names.unique(label, "tendon"), stiffness, damping, low, high, terms, points))
            report.honoured("tendon", label, "spring and damper on its length")


def tendon_path(on: MjcfImport, k: int) -> tuple[list[tuple[str, int, int, float]], list[tuple[str, tuple[float, ...]]]]:
    """The terms of a fixed tendon, or the points of a spatial one; nothing where it wraps, branches or runs over pulleys."""
    compiled, places = on.compiled, on.coordinates
    kinds = compiled.enumeration("mjtWrap")
    wraps = range(compiled.tendon_adr[k], compiled.tendon_adr[k] + compiled.tendon_num[k])
    objects = [(int(compiled.wrap_type[w]), int(compiled.wrap_objid[w]), float(compiled.wrap_prm[w])) for w in wraps]
    if all(kind == kinds["joint"] and o in places for kind, o, _ in objects):
        return [(places[o].joint, places[o].q, places[o].v, coefficient) for _, o, coefficient in objects], []
    if all(kind == kinds["site"] for kind, _, _ in objects):
        sites = [on.site(o) for _, o, _ in objects]
        return [], [(site.body, tuple(site.at.position)) for site in sites]
    return [], []


# --- actuators
class NotRead(Exception):
    """Why an actuator is left out."""


def add_actuators(on: MjcfImport, wanted: bool) -> None:
    model, compiled, report = on.model, on.compiled, on.report
    reader = _Reader(on)
    names = Names(*model.forces, *model.parameters)
    for k in range(compiled.count("actuator")):
        label = compiled.label("actuator", k)
        try:
            if not wanted:
                raise NotRead("actuators=False")
            fields = reader.fields(k)
        except NotRead as why:
            report.ignored("actuator", label, str(why))
            continue
        name = names.unique(compiled.name_or_number("actuator", k), "actuator")
        control: Any = model.add_parameter(name, reader.control(k))
        model.add_force(Actuator(name, control, **fields), name=name)
        more = ", its activation the state <name>.activation" if reader.has_activation(k) else ""
        report.honoured("actuator", label, f"its control is a parameter of its name{more}")


class _Reader:
    def __init__(self, on: MjcfImport) -> None:
        compiled = on.compiled
        self.on, self.compiled, self.report = on, compiled, on.report
        self.clamps = not compiled.is_disabled("clampctrl")
        self.disabled = int(compiled.opt_disableactuator[0])
        self.drives_of = Counter(j for k in range(compiled.count("actuator")) for j in self._joints(k))
        """How many actuators drive each joint of the file."""

    def has_activation(self, k: int) -> bool:
        return int(self.compiled.actuator_actadr[k]) >= 0

    def control(self, k: int) -> float:
        """Its control in the first keyframe, within its range; 0 without keyframes."""
        c = self.compiled
        at = int(c.given("actuator_ctrladr", k, k))
        value = float(c.key_ctrl[0, at]) if c.count("key") else 0.0
        low, high = self._range("ctrl", k) or (-np.inf, np.inf)
        return min(max(value, low), high)

    def fields(self, k: int) -> dict[str, Any]:
        """Fields of the `Actuator` beside name and control."""
        c = self.compiled
        if c.is_disabled("actuation") or self.disabled >> int(c.actuator_group[k]) & 1:
            raise NotRead("the file disables it")
        several = any(c.given(f"actuator_{field}", k, 1) != 1 for field in ("ctrlnum", "outnum"))
        if several or c.given("actuator_plugin", k, -1) >= 0:
            raise NotRead("plugins, and actuators of several controls, are not known")
        if any(np.any(c.given(f"actuator_{field}", k)) for field in ("delay", "history")):
            raise NotRead("its control is delayed")
        law = self._law(k)
        reads_length = "muscle" in law or bool(law["gain"][1] or law["bias"][1])
        fields = {**law, **self._transmission(k, reads_length)}
        fields["control_range"] = self._range("ctrl", k) if self.clamps else None
        fields["force_range"] = self._force_range(k)
        if self.has_activation(k):
            fields["activation_range"] = self._range("act", k)
            if c.count("key"):
                fields["activation"] = float(c.key_act[0, int(c.actuator_actadr[k])])
            if c.actuator_actearly[k]:
                note = "force and activation are of the same instant, as in MuJoCo for small steps"
                self.report.approximated("actearly", c.label("actuator", k), note)
        return fields

    # --- gain, bias, activation -------------------------------------------------------------------------------------------
    def _law(self, k: int) -> dict[str, Any]:
        c = self.compiled
        dyn, gain, bias = (self._word(kind, k) for kind in ("dyn", "gain", "bias"))
        if "muscle" in (dyn, gain, bias):
            return {"muscle": self._muscle(k, (dyn, gain, bias))}
        if dyn not in DYNAMICS or gain not in ("fixed", "affine") or bias not in ("none", "affine"):
            raise NotRead(f"dynamics {dyn!r}, gain {gain!r}, bias {bias!r} are not known")
        gains, biases = c.actuator_gainprm[k, :3].tolist(), c.actuator_biasprm[k, :3].tolist()
        out: dict[str, Any] = {
            "gain": gains if gain == "affine" else [gains[0], 0.0, 0.0],
            "bias": biases if bias == "affine" else [0.0, 0.0, 0.0],
            "dynamics": DYNAMICS[dyn],
        }
        return out | ({"time_constant": max(LEAST, float(c.actuator_dynprm[k, 0]))} if DYNAMICS[dyn] == "filter" else {})

    def _muscle(self, k: int, kinds: Sequence[str]) -> Muscle:
        c = self.compiled
        prm = [float(x) for x in c.actuator_gainprm[k, :9]]
        if set(kinds) != {"muscle"} or prm != c.actuator_biasprm[k, :9].tolist():
            raise NotRead("it is a muscle in part only")
        low, high, force, scale = prm[:4]
        curve = dict(zip(("lmin", "lmax", "vmax", "fpmax", "fvmax"), prm[4:], strict=True))
        rising, falling, smooth = (float(x) for x in c.actuator_dynprm[k, :3])
        lengths = c.actuator_lengthrange[k].tolist()
        if lengths[0] >= lengths[1]:
            raise NotRead("the muscle has no lengthrange")
        peak = force if force >= 0.0 else scale / max(LEAST, float(c.actuator_acc0[k]))
        times = (max(LEAST, rising), max(LEAST, falling))
        return Muscle(lengths, peak, (low, high), time_constants=times, smooth=smooth, **curve)

    # --- transmission -----------------------------------------------------------------------------------------------------
    def _transmission(self, k: int, reads_length: bool) -> dict[str, Any]:
        c = self.compiled
        kind, gear = self._word("trn", k), c.actuator_gear[k]
        one, other = (int(x) for x in c.actuator_trnid[k])
        if kind in ("joint", "jointinparent"):
            if one not in self.on.coordinates:
                raise NotRead("an equality holds its joint")
            at = self.on.coordinates[one]
            if c.jnt_type[one] == BALL and kind == "joint" and not reads_length:
                return {"terms": [(at.joint, at.q, at.v + a, float(gear[a])) for a in range(3)]}
            if c.jnt_type[one] not in (HINGE, SLIDE):
                raise NotRead("on ball joints only forces that do not depend on the angle are known, on free joints none")
            return {"gear": float(gear[0]), "terms": [(at.joint, at.q, at.v, 1.0)]}
        if kind == "tendon":
            terms, points = tendon_path(self.on, one)
            if not terms and len({body for body, _ in points}) < 2:
                raise NotRead("of tendons only straight lines between sites and sums of coordinates are known")
            if c.given("tendon_actfrclimited", one):
                self.report.ignored("actuatorfrcrange of a tendon", c.label("actuator", k), "use forcerange")
            return {"gear": float(gear[0]), "terms": terms, "points": points}
        if kind == "site" and other < 0:
            site = self.on.site(one)
            return {"body": site.body, "at": site.at, "wrench": [float(x) for x in gear]}
        raise NotRead("a refsite is not known" if kind == "site" else f"transmission {kind!r} is not known")

    def _joints(self, k: int) -> Sequence[int]:
        """Joints of the file that an actuator may drive."""
        c, kind, one = self.compiled, self._word("trn", k), int(self.compiled.actuator_trnid[k, 0])
        if kind in ("joint", "jointinparent"):
            return [one]
        if kind == "tendon":
            wraps = range(c.tendon_adr[one], c.tendon_adr[one] + c.tendon_num[one])
            if all(c.wrap_type[w] == c.enumeration("mjtWrap")["joint"] for w in wraps):
                return [int(c.wrap_objid[w]) for w in wraps]
        return range(c.count("joint"))

    def _force_range(self, k: int) -> tuple[float, float] | None:
        """Its own limits, and those of its joint where it is the only drive of it."""
        c, own, j = self.compiled, self._range("force", k), int(self.compiled.actuator_trnid[k, 0])
        if not self._word("trn", k).startswith("joint") or not c.jnt_actfrclimited[j]:
            return own
        if self.drives_of[j] > 1 or not c.actuator_gear[k, 0]:
            note = "it holds for the sum of several actuators, which is not limited here"
            self.report.ignored("actuatorfrcrange", c.label("joint", j), note)
            return own
        if c.jnt_type[j] == BALL:
            self.report.ignored("actuatorfrcrange", c.label("joint", j), "a ball joint")
            return own
        low, high = sorted((c.jnt_actfrcrange[j] / float(c.actuator_gear[k, 0])).tolist())
        first = own or (-np.inf, np.inf)
        return min(max(first[0], low), high), min(max(first[1], low), high)

    # --- fields of the compiled model ---------------------------------------------------------------------------------------
    def _range(self, what: str, k: int) -> tuple[float, float] | None:
        if not getattr(self.compiled, f"actuator_{what}limited")[k]:
            return None
        low, high = getattr(self.compiled, f"actuator_{what}range")[k].tolist()
        if low > high:
            raise FormatError(f"{self.compiled.label('actuator', k)}: {what}range {low:g} {high:g} is empty")
        return low, high

    def _word(self, kind: str, k: int) -> str:
        """The word for its "dyn", "gain", "bias" or "trn" type."""
        return self.compiled.word(f"mjt{kind.title()}", getattr(self.compiled, f"actuator_{kind}type")[k])
