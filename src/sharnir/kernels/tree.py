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
    speed: IntegerArray["na"]              # the speed that drives axis a: a itself unless coordinates are coupled
    geared: IntegerArray["nr"]             # axes with a rotor
    rotor: Array["na"]              # inertia of the rotor of axis a, as the axis feels it
    mass: Array["nb1"]
    moment: Array["nb1", 3]         # h = m r_c, body axes
    inertia: Array["nb1", 6]        # J_O about the body's origin, body axes
    alike: IntegerArray["nb1"]      # which of the distinct bodies body i is like
    mobility: Array["nk", 6, 6]     # inverse of the mass matrix of each distinct body (nan where there is none)
    gravity: Array[3]               # world axes
