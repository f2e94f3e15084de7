"""MJCF texts of our own: every way the format has of saying the same thing, and random trees of all joints."""

from __future__ import annotations

import numpy as np

WALKER = """<mujoco model="walker">
  <compiler angle="degree" inertiafromgeom="true"/>
  <option gravity="0.3 -0.2 -9.7" timestep="0.002"/>
  <default>
    <joint armature="0.01" damping="0.7" limited="true"/>
    <geom type="capsule" density="900" contype="1"/>
    <default class="stiff">
      <joint stiffness="20" springref="12" damping="3"/>
      <default class="stiffer"><joint stiffness="35" armature="0.03"/></default>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="10 10 1"/>
    <light pos="0 0 4"/>
    <body name="torso" pos="0 0 1.4" euler="10 20 30">
      <freejoint name="root"/>
      <geom name="trunk" fromto="0 -0.07 0 0 0.07 0" size="0.07"/>
      <site name="chest" pos="0.1 0 0.05" euler="0 90 0"/>
      <body name="head" pos="0 0 0.2" euler="0 30 0">
        <geom name="skull" type="sphere" size="0.09" pos="0 0 0.03"/>
        <body name="nose" pos="0.09 0 0" euler="15 0 0"><geom type="box" size="0.01 0.02 0.01"/><camera name="eye"/></body>
      </body>
      <body name="waist" pos="-0.01 0 -0.26" quat="1 0 -0.002 0">
        <joint name="abdomen_z" axis="0 0 1" pos="0 0 0.065" range="-45 45" class="stiff"/>
        <joint name="abdomen_y" axis="0 1 0" pos="0.02 0 0.065" range="-75 30" class="stiffer" ref="7"/>
        <geom fromto="0 -0.06 0 0 0.06 0" size="0.06"/>
        <body name="thigh" pos="0 -0.1 -0.04" axisangle="1 1 0 20">
          <joint name="hip_x" axis="1 0 0" range="-25 5" class="stiff"/>
          <joint name="hip_z" axis="0 0 1" range="-60 35" pos="0 0.01 -0.02"/>
          <joint name="hip_y" axis="0 1 0.2" range="-110 20" pos="0.03 0 0.01" class="stiffer" ref="-11"/>
          <geom fromto="0 0 0 0 0.01 -0.34" size="0.06"/>
          <body name="shin" pos="0 0.01 -0.403">
            <joint name="knee" pos="0 0 0.02" axis="0 -1 0" range="-160 -2" ref="-30" springref="-20" stiffness="5"/>
            <geom fromto="0 0 0 0 0 -0.3" size="0.049"/>
            <body name="foot" pos="0 0 -0.45" xyaxes="1 0 0.1 0 1 0">
              <joint name="ankle" type="ball" pos="0 0 0.1" damping="0.2" stiffness="3" limited="false"/>
              <geom size="0.075" type="sphere"/>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="knee" gear="20"/></actuator>
  <sensor><jointpos joint="knee"/></sensor>
  <keyframe><key name="squat" qpos="0 0 1 1 0 0 0 0.1 0.2 0.3 0.4 0.5 -1 1 0 0 0"/></keyframe>
</mujoco>"""

SLIDER = """<mujoco>
  <compiler angle="radian" eulerseq="zyx" balanceinertia="true" autolimits="true"/>
  <worldbody>
    <body name="cart" euler="0.3 0.2 -0.4">
      <joint name="rail" type="slide" axis="1 0.2 0" ref="0.4" range="-1 1" stiffness="4" springref="0.9" damping="1.5"/>
      <joint name="lift" type="slide" axis="0 0 1" armature="0.6"/>
      <inertial pos="0.02 0.01 0" mass="2" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/>
      <body name="bracket" pos="0.1 0 0.2" euler="0.1 0 0.7">
        <inertial pos="0 0 0.01" quat="1 0.2 0 0.1" mass="0.3" diaginertia="0.001 0.002 0.0015"/>
        <body name="pole" pos="0 0 0.1">
          <joint name="turn" axis="0 0 1" pos="0.05 0 0"/>
          <joint name="swing" type="ball" pos="0 0.04 0.02" armature="0.02" stiffness="2"/>
          <joint name="out" type="slide" axis="0 1 1"/>
          <inertial pos="0 0 0.3" mass="0.7" diaginertia="0.02 0.02 0.001"/>
          <geom type="mesh" mesh="rock" contype="0" conaffinity="0" pos="0 0 0.3" mass="0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <asset><mesh name="rock" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="0.1 0.1 0.1"/></asset>
</mujoco>"""

COPIES = """<mujoco>
  <compiler settotalmass="7.5" boundmass="0.01" boundinertia="1e-4"/>
  <default><geom type="box" size="0.05 0.02 0.1" rgba="1 0 0 1"/></default>
  <worldbody>
    <frame pos="0 0 0.5" euler="0 40 0">
      <replicate count="3" offset="0.3 0 0" euler="0 0 20">
        <body name="arm" pos="0.1 0 0"><joint name="hinge" axis="1 1 1" pos="0 0 0.05"/><geom/>
          <body name="tip" pos="0 0 0.1"><joint name="bend" axis="0 1 0"/><geom type="ellipsoid"/></body></body>
      </replicate>
    </frame>
    <body name="loose" pos="1 1 1" euler="10 20 30"><freejoint align="true"/><geom pos="0.1 0.2 0"/><geom euler="0 45 0"/></body>
    <body name="other" pos="-1 1 1"><joint type="free"/><geom pos="0.1 0.2 0"/></body>
  </worldbody>
</mujoco>"""

COUPLED = """<mujoco>
  <worldbody>
    <body name="palm" pos="0 0 1">
      <joint name="wrist" axis="0 0 1"/><joint name="nod" axis="0 1 0" pos="0 0 0.01" ref="20"/>
      <geom type="box" size="0.1 0.1 0.02"/>
      <body name="left" pos="0.1 0 0"><joint name="a" axis="0 1 0" ref="5"/><geom type="capsule" size="0.02 0.1"/>
        <body name="leftmost" pos="0 0 0.2">
          <joint name="b" axis="0 1 0" armature="0.01"/><geom type="capsule" size="0.02 0.1"/>
        </body>
      </body>
      <body name="right" pos="-0.1 0 0"><joint name="c" type="slide" axis="1 0 0"/><geom size="0.05"/></body>
      <body name="still" pos="0 0.1 0"><joint name="d" axis="1 0 0" ref="3"/><geom size="0.05"/></body>
    </body>
  </worldbody>
  <equality>
    <joint joint1="b" joint2="a" polycoef="0.1 -0.7 0 0 0"/>
    <joint joint1="c" joint2="nod" polycoef="0.02 0.3 0 0 0"/>
    <joint joint1="d" polycoef="0.2 0 0 0 0"/>
  </equality>
</mujoco>"""


def two_hinges(more: str = "", inside: str = "") -> str:
    return f"""<mujoco><worldbody>
      <body name="one" pos="0.1 0.2 0.3" euler="10 20 30"><joint name="a" axis="1 0 0"/><geom size="0.1"/>
        <site name="s" pos="0.1 0.1 0"/>
        <body name="fixed" pos="0 0 0.1" euler="0 0 40"><geom size="0.05"/></body>{inside}</body>
      <body name="two" pos="0 1 0"><joint name="b" axis="0 1 0"/><geom size="0.1"/>
        <site name="t" pos="0.1 0 0.2" euler="5 6 7"/></body>
    </worldbody>{more}</mujoco>"""


def random_tree(seed: int, bodies: int = 9, passive: bool = True) -> str:
    """Bodies with up to three joints of any kind, welded ones between, several on the world."""
    rng = np.random.default_rng((seed, 23))
    children: dict[int, list[int]] = {0: []}
    for i in range(1, bodies + 1):
        parent = int(rng.integers(max(0, i - 3), i))
        children[parent].append(i)
        children[i] = []

    def numbers(n: int, scale: float = 1.0) -> str:
        return " ".join(f"{x:.17g}" for x in rng.normal(size=n) * scale)

    def joint(i: int, k: int, kind: str) -> str:
        words = [f'name="j{i}{k}" type="{kind}" pos="{numbers(3, 0.1)}" armature="{rng.uniform(0, 0.2):.6g}"']
        if kind != "ball":
            words.append(f'axis="{numbers(3)}" ref="{rng.normal():.17g}" springref="{rng.normal():.17g}"')
        if passive:
            words.append(f'damping="{rng.uniform(0, 1):.6g}" stiffness="{rng.uniform(0, 5) * rng.integers(2):.6g}"')
        return f"<joint {' '.join(words)}/>"

    def body(i: int, top: bool) -> str:
        if top and rng.random() < 0.3:
            joints = [f'<joint type="free" damping="{passive * rng.uniform(0, 1):.6g}"/>']
        else:
            kinds = rng.choice(["hinge", "slide"], int(rng.integers(0, 4))).tolist()
            if len(kinds) < 3 and rng.random() < 0.4:  # MuJoCo has no hinge after a ball
                after = len(kinds) - 1 - max((k for k, kind in enumerate(kinds) if kind == "hinge"), default=-1)
                kinds.insert(len(kinds) - int(rng.integers(after + 1)), "ball")
            joints = [joint(i, k, kind) for k, kind in enumerate(kinds)]
        low = rng.uniform(0.01, 0.02)
        moments = f"{low:.6g} {low * rng.uniform(1, 1.5):.6g} {low * rng.uniform(1, 1.4):.6g}"
        inertial = (
            f'<inertial pos="{numbers(3, 0.1)}" quat="{numbers(4)}" mass="{rng.uniform(0.2, 2):.6g}" diaginertia="{moments}"/>'
        )
        inner = "".join(body(k, False) for k in children[i])
        return f'<body name="b{i}" pos="{numbers(3, 0.3)}" quat="{numbers(4)}">{"".join(joints)}{inertial}{inner}</body>'

    world = "".join(body(k, True) for k in children[0])
    last = '<body name="last"><joint name="last"/><geom size="0.1"/></body>'
    option = f'<compiler angle="radian"/><option gravity="{numbers(3, 5.0)}"/>'
    return f'<mujoco model="tree {seed}">{option}<worldbody>{world}{last}</worldbody></mujoco>'


LOOPS = '<equality><weld body1="one" body2="two"/><connect site1="s" site2="t"/><joint joint1="a" joint2="b"/></equality>'
MACHINE = """<mujoco>
  <worldbody>
    <body name="A"><joint name="a" axis="0 1 0" ref="10"/><geom size=".1" pos=".2 0 .1"/><site name="s" pos=".1 0 .1"/>
      <body name="B" pos=".3 0 0">
        <joint name="b" type="slide" axis="1 0 .2" armature=".2" actuatorfrcrange="-.2 .3"/><joint name="c" axis="1 0 0"/>
        <geom size=".1" pos=".1 .05 .1"/>
      </body>
    </body>
    <body name="F" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <site name="r" pos=".1 .2 0" euler="5 6 7"/>
      <body name="G" pos="0 .3 0"><joint name="ball" type="ball"/><geom type="box" size=".1 .2 .1" pos=".1 0 0"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="sum"><joint joint="a" coef=".5"/><joint joint="c" coef="-1.2"/></fixed>
    <spatial name="line"><site site="s"/><site site="r"/></spatial>
  </tendon>
  <actuator>%s</actuator>
  %s
</mujoco>"""
JOINTS = """
    <motor name="motor" joint="a" gear="2" ctrlrange="-1 1"/>
    <position name="position" joint="b" kp="3" kv=".3" gear="-2" forcerange="-2 .7"/>
    <position name="slow position" joint="c" kp="3" dampratio="1" timeconst=".2"/>
    <velocity name="velocity" jointinparent="c" kv="4"/>
    <intvelocity name="intvelocity" joint="a" kp="5" actrange="-.5 .5"/>
    <damper name="damper" joint="a" kv="2" ctrlrange="0 3"/>
    <cylinder name="cylinder" joint="a" timeconst=".3" area=".7" bias="1 2 3"/>
    <general name="general" tendon="sum" gear="1.5" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="4 5 6"
      dyntype="integrator"/>
    <muscle name="muscle" joint="a" lengthrange="-1.5 1.5" force="20"/>
    <muscle name="smooth muscle" tendon="sum" lengthrange="-1 2" scale="30" tausmooth="0.4"/>"""
"""Every actuator on joints and sums of them."""
PLACES = """
    <motor name="rope" tendon="line" gear=".7"/>
    <general name="rotor" site="r" gear="1 2 3 .1 .2 .3" biastype="affine" biasprm="0 1 -.5"/>
    <general name="gimbal" joint="ball" gear="1 -2 .5" dyntype="filter" biastype="affine" biasprm=".3 0 -.2"/>"""
"""Actuators on lines and places."""

SEED_FILES = [WALKER, SLIDER, COPIES, COUPLED, random_tree(4), two_hinges(LOOPS), MACHINE % (JOINTS + PLACES, "")]
"""What the fuzzer damages."""
