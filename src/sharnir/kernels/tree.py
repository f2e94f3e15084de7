"""The bodies of a tree as kernels see them: integers and mass properties. Row 0 is the base."""

from typing import NamedTuple

from ..dialect.arrays import Array, IntegerArray


class Tree(NamedTuple):
    carrier: IntegerArray["nb1"]           # k_i < i
    last_child: IntegerArray["nb1"]        # the last of the bodies that body i carries, 0 where it carries none
    first: IntegerArray["nb1+1"]           # axes (columns of A, speeds) of joint i: first[i] .. first[i+1]
    above: IntegerArray["na"]              # the axis before axis a on the way to the base, -1 where there is none
    stretch: IntegerArray["na"]            # the first of the axes a', a'+1, .. a that stand one on the other without a gap
    owner: IntegerArray["na"]              # the joint that axis a belongs to
    hinge: IntegerArray["nb1"]             # 1 where joint i only turns body i about its origin: v^r = A q̇ and psi^r = 0
    speed: IntegerArray["na"]              # the speed that drives axis a: a itself unless coordinates are coupled
    geared: IntegerArray["nr"]             # axes with a rotor
    rotor: Array["na"]              # inertia of the rotor of axis a, as the axis feels it
    mass: Array["nb1"]
    moment: Array["nb1", 3]         # h = m r_c, body axes
    inertia: Array["nb1", 6]        # J_O about the body's origin, body axes
    alike: IntegerArray["nb1"]      # which of the distinct bodies body i is like
    mobility: Array["nk", 6, 6]     # inverse of the mass matrix of each distinct body, with what it is lent
    gravity: Array[3]               # world axes
    # flexible bodies: model/flexible.py, kernels/flexible.py
    elastic: IntegerArray["nb1"]           # which deformation row i is, -1 where it is a rigid body
    deformed: IntegerArray["nfl"]          # the row of deformation f
    coordinate: IntegerArray["nfl+1"]      # its elastic coordinates: coordinate[f] .. coordinate[f+1], as its axes
    elastic_block: IntegerArray["nfl"]     # where its mass matrix begins in E
    flexed: IntegerArray["nb1"]            # which deformation body i has, -1 where it has none
    own: IntegerArray["nb1", 2]            # axes of joint i itself: own[i, 0] .. own[i, 1]; others: of its place
    # what has rows of its own among the multipliers: multipliers.py
    geared_of: IntegerArray["nb1+1"]       # axes of joint i with a rotor: geared_of[i] .. geared_of[i+1] of geared
    lent_of: IntegerArray["nb1+1"]         # inertias that body i is lent, counted through all bodies
    lent_at: IntegerArray["nk"]            # the first of those in `lent` of each distinct body
    lent: Array["nle", 6]           # l of the inertias l l', body axes
    # unknowns that bodies share, in nodes (a speed, the rows of a constraint) by order of elimination: model/elimination.py
    unknown_of: IntegerArray["na"]         # node of the speed of axis a, -1 where it is the axis' own
    left: IntegerArray["nb1+1"]            # nodes that leave at body i: left[i+1] .. left[i], the base's last
    unknown: IntegerArray["nn+1"]          # unknowns of node p: unknown[p] .. unknown[p+1]
    multiplier: IntegerArray["nn"]         # 1 where node p is a constraint
    number: IntegerArray["nsx"]            # of an unknown among speeds or multipliers
    panel: IntegerArray["nn+1"]            # where in D the rows of node p begin: its own unknowns, then the later ones it meets
    width: IntegerArray["nn"]              # length of such a row
    later_of: IntegerArray["nn+1"]         # nodes that node p meets, later_of[p] .. later_of[p+1] of
    later: IntegerArray["nsl", 3]          # node; its column in the panel; its place among the columns of the body where p leaves
    held_of: IntegerArray["nb1+1"]         # nodes that stay with body i, held_of[i] .. held_of[i+1] of
    held: IntegerArray["nsh", 3]           # node; its place among the columns of body i; and of its carrier
    column: IntegerArray["nb1+1"]          # where in B the columns of body i begin
    axis_row: IntegerArray["na+1"]         # where in E the row of axis a begins
    pair_of_node: IntegerArray["nn+1"]     # where in `pair` are those of the nodes that p meets, and
    pair_of_body: IntegerArray["nb1+1"]    # of those that stay with body i:
    pair: IntegerArray["nsp"]              # the place in D of the block of every two of them, the first row by row
    on_body: IntegerArray["nsb1", 4]       # blocks of K: node, body, place in B, place in K
    on_speed: IntegerArray["nss1", 6]      # columns of K: node, axis, 1: in D or 0: in E, place, stride, place in K
    on_elastic: IntegerArray["nxs"]        # of every elastic coordinate: the place in B of its column at the deformation
    elastic_pair: IntegerArray["nxp"]      # of every entry of a mass matrix: its place in D, -1 below the diagonal
