"""A first look: build a mechanism, see its tree and its matrices, watch every form of its equations agree, and let it move.

python examples/tour.py            # what `make demo` runs; writes pictures to results/, and crane.html to watch it
"""

from pathlib import Path

import crane
import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")


def show_tree(m: sh.Model) -> None:
    print(f"{m.name}: {len(m.bodies)} bodies, {m.nv} freedoms, {m.nq} coordinates\n")
    depth: list[int] = []
    for body, joint, carrier in zip(m.bodies, m.joints, m.parents, strict=True):
        depth.append(0 if carrier < 0 else depth[carrier] + 1)
        freedom = ", ".join(joint.type.v_names()) or ("driven in time" if joint.type.motion else "rigid")
        print(f"  {'   ' * depth[-1]}└ {body.name:<14} {body.mass:6.0f} kg   {joint.type.type_name:<9} {joint.name!r}: {freedom}")


def show_agreement(m: sh.Model, q: np.ndarray, v: np.ndarray, t: float) -> None:
    print("\nThe same accelerations by every method (largest difference from the extended system), and their cost:\n")
    print(f"  {'method':<30} {'difference':>10}  {'operations':>10}  {'compiled':>9}   where it comes from")
    oracle = sh.Dynamics(m, "extended").forward(q, v, t=t)
    for method in sh.methods():
        if method.name == "momentum":
            continue
        d = sh.Dynamics(m, method.name, backend="auto" if "sparse" in method.backends else "python")
        error = np.abs(d.forward(q, v, t=t) - oracle).max() / np.abs(oracle).max()
        written = f"{d.count().total:>10}" if method.program else f"{'':>10}"
        folded = f"{d.count(compiled=True).total:>9}" if "llvm" in method.backends else f"{'':>9}"
        print(f"  {method.name:<30} {error:10.1e}  {written}  {folded}   {method.source}")


def show_answers(m: sh.Model, q: np.ndarray, v: np.ndarray, t: float) -> None:
    d = sh.Dynamics(m)
    print(f"\nmethod='auto' chose {d.method!r} on {d.backend}: {d.why}")
    still = np.zeros(m.nv)
    tau, R = d.inverse(q, v, still, t=t), d.inverse_reactions(q, v, still, t=t)
    slew, hook = m.joint_index("slew"), m.joint_index("hook")
    print(f"  to move on steadily, the luffing gear needs {tau[m.v_slice('luff')][0] / 1e3:.1f} kN m, ", end="")
    print(f"the slewing drive {R[slew, 5] / 1e3:.2f} kN m; the hook bears {np.linalg.norm(R[hook, :3]) / 1e3:.2f} kN")
    kinetic, potential = d.energy(q, v, t=t)
    print(f"  kinetic energy {float(kinetic) / 1e3:.2f} kJ, potential energy {float(potential) / 1e3:.1f} kJ")


def draw(m: sh.Model, q: np.ndarray, v: np.ndarray, t: float, path: Path) -> None:
    """The structure of the papers' matrices for this mechanism."""
    x = sh.matrices(m, q, v, t)
    pictures = {
        "S  kinematic structure": x.S, "T = S⁻¹": x.T, "B = TA  tangent basis": x.B,
        "L  multipliers": x.L, "Mᵣ  inertia matrix": x.M_r, "extended system": x.extended,
    }  # fmt: skip
    plt.style.use(STYLE)
    fig, axes = plt.subplots(2, 3, figsize=(10, 6.6))
    for axis, (name, matrix) in zip(axes.flat, pictures.items(), strict=True):
        size = np.log10(np.abs(matrix) + 1e-300)
        axis.imshow(np.where(size > -12, size, np.nan), cmap="viridis", interpolation="nearest", vmin=-2, vmax=4)
        axis.set_title(f"{name}   {matrix.shape[0]}×{matrix.shape[1]}", fontsize=10, fontweight="normal", loc="center")
        axis.grid(False)
        axis.set_xticks([])
        axis.set_yticks([])
        for side in axis.spines.values():
            side.set(color="#bbbbbb", visible=True)
    fig.suptitle("One crane, six matrices: the extended system and what it is projected to (colour: order of magnitude)")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"\nwritten: {path}")


def show_motion(folder: Path) -> None:
    """Motors hold the boom and run the trolley out while the tower slews."""
    print("\nNow with motors, for twenty seconds:\n")
    motion, path = crane.simulate(), folder / "crane_motion.png"
    crane.show(motion, folder / "crane.png")
    motion.plot(path=path)
    print(f"written: {path}")
    page = motion.animate(folder / "crane.html", traces=[("load", (0.0, 0.0, -4.0))])
    print(f"\nopen {page}")


def main() -> None:
    m, folder = crane.build(), Path("results")
    q = m.coordinates({"luff": 0.4, "travel": 3.0, "hook": (0.98, 0.1, -0.15, 0.0)})
    v = m.speeds({"luff": 0.05, "travel": -0.3, "hook": (0.1, 0.2, 0.0)})
    folder.mkdir(exist_ok=True)
    show_tree(m)
    show_agreement(m, q, v, t=1.0)
    show_answers(m, q, v, t=1.0)
    draw(m, q, v, 1.0, folder / "structure.png")
    show_motion(folder)


if __name__ == "__main__":
    main()
