"""Contacts between the geoms of an MJCF file as forces: which pairs touch by its rules, and which of them a `Contact` can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.body import GROUND
from ..model.forces import Contact
from ..model.forces.contact import PAIRS
from ..model.shapes import Plane
from ..reporting.formats import plural
from .ground import CALLED, DAMPING, MOST, SINK, SLIP, shape_of
from .mjcf_import import MjcfImport, Names

SOFT = (
    f"elastic, of a stiffness at which the lighter of two mechanisms sinks by {1e3 * SINK:g} mm on four points; solref, solimp, "
    f"margin and gap are not read, friction is smooth below {1e2 * SLIP:g} cm/s"
)
STANDARD = 9.81
"""m/s²: what weighs mechanisms where there is no gravity."""


def add_contacts(on: MjcfImport) -> None:
    """A `Contact` for every pair of geoms that touch; the report says what a contact here is, and what is left out."""
    c, report, where = on.compiled, on.report, str(on.source.path)
    if c.is_disabled("contact") or c.is_disabled("constraint"):
        report.ignored("contacts", where, "the file switches them off")
        return
    shapes, notes, mass = dict[int, Any](), list[str](), _masses(on)
    names, left, made = Names(*on.model.forces), Counter[str](), list[Contact]()
    gravity = float(np.linalg.norm(np.array(on.model.gravity))) or STANDARD
    for a, b, friction in _pairs(on):
        for g in (a, b):
            if g not in shapes:
                visual = on.model.visuals[g]
                shapes[g] = Plane(visual.at) if visual.kind == "plane" else shape_of(visual, on.model, MOST, notes)
        ends = next(((x, y) for x, y in ((a, b), (b, a)) if (type(shapes[x]), type(shapes[y])) in PAIRS), None)
        if ends is None:
            left[" with a ".join(sorted(on.model.visuals[g].kind for g in (a, b)))] += 1
            continue
        body, other = (on.model.visuals[g].body for g in ends)
        weight = gravity * min(mass[x] for x in (body, other) if x != GROUND)
        contact = Contact(body, shapes[ends[0]], shapes[ends[1]], other, weight / (4.0 * SINK), DAMPING, slip=SLIP, **friction)
        plain = f"{CALLED}{body}" if other == GROUND else f"contact of {body} with {other}"
        on.model.add_force(contact, names.unique(plain, "contact"))
        made.append(contact)
    if made:
        points = sum(len(list(PAIRS[type(one.shape), type(one.against)](one))) for one in made)
        report.approximated(f"contacts of {plural(len(made), 'pair')} of geoms", where, f"{plural(points, 'part')}: {SOFT}")
    for kinds, n in left.items():
        report.ignored(
            f"contacts of a {kinds} ({n})", where, "no sharnir.Contact of such shapes: they pass through", warning=True
        )
    for note in dict.fromkeys(notes):
        report.approximated("shape that touches", where, note)


def _masses(on: MjcfImport) -> dict[str, Any]:
    """By body, the mass of the whole mechanism that hangs on the ground where it does."""
    tree = on.model.tree
    bodies, root = [on.model.parts.bodies[k] for k in tree.bodies], list[int]()
    for i, carrier in enumerate(tree.carriers):
        root.append(i if carrier < 0 else root[carrier])
    total = np.bincount(root, [body.mass for body in bodies])
    return {body.name: float(total[root[i]]) for i, body in enumerate(bodies)}


def _pairs(on: MjcfImport) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Geoms that touch by the rules of the file, its <pair>s first: bits agree, bodies differ and are neither excluded nor, away
    from the ground, carrier and carried."""
    c, listed = on.compiled, set[tuple[int, int]]()
    for k in range(c.count("pair")):
        a, b = sorted((int(c.pair_geom1[k]), int(c.pair_geom2[k])))
        listed.add((a, b))
        if _body(on, a) != _body(on, b):
            slide, _, spin, roll, _ = c.pair_friction[k].tolist()
            yield a, b, _friction(int(c.pair_dim[k]), slide, spin, roll)
    excluded = {tuple(sorted(divmod(int(x), 1 << 16))) for x in c.exclude_signature}
    adult = c.is_disabled("filterparent")
    above = {on.carriers[i].body: on.carriers[int(c.body_parentid[i])].body for i in range(1, c.count("body"))
             if on.carriers[i].body != on.carriers[int(c.body_parentid[i])].body}  # fmt: skip
    kind, affinity = (np.asarray(x, dtype=np.int64) for x in (c.geom_contype, c.geom_conaffinity))
    for a in range(c.count("geom")):
        meets = (kind[a] & affinity[a + 1 :]) | (kind[a + 1 :] & affinity[a])
        for b in (a + 1 + np.flatnonzero(meets)).tolist():
            x, y = _body(on, a), _body(on, b)
            related = not adult and GROUND not in (x, y) and (above.get(x) == y or above.get(y) == x)
            apart = tuple(sorted((int(c.geom_bodyid[a]), int(c.geom_bodyid[b])))) in excluded
            if x != y and not related and not apart and (a, b) not in listed:
                first = int(c.geom_priority[a]) - int(c.geom_priority[b])
                of = [a, b] if not first else [a if first > 0 else b]
                yield a, b, _friction(int(c.geom_condim[of].max()), *c.geom_friction[of].max(axis=0).tolist())


def _body(on: MjcfImport, g: int) -> str:
    return on.carriers[int(on.compiled.geom_bodyid[g])].body


def _friction(dimension: int, slide: float, spin: float, roll: float) -> dict[str, Any]:
    return {"friction": slide * (dimension > 1), "spin": spin * (dimension > 3), "rolling": roll * (dimension > 4)}
