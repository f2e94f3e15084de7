"""Coupled coordinates: several axes move with one speed. Between the speeds of the user and the axes of the algorithms.

A column of A of a follower is written per unit of its leader's speed, so that spreading is copying and folding is adding.
"""


def spread(tree, x, axes):
    """Give every axis the number of its speed.  Reads x (nv,).  Writes axes (na,)."""
    for a in range(axes.shape[0]):
        axes[a] = x[tree.speed[a]]


def fold(tree, axes, x):
    """Add up the numbers of the axes of every speed.  Reads axes (na,).  Writes x (nv,)."""
    for s in range(x.shape[0]):
        x[s] = 0.0
    for a in range(axes.shape[0]):
        s = tree.speed[a]
        x[s] = x[s] + axes[a]


def fold_columns(tree, J, out):
    """`fold` for every row of a matrix.  Reads J (m, na).  Writes out (m, nv)."""
    for i in range(J.shape[0]):
        for s in range(out.shape[1]):
            out[i, s] = 0.0
        for a in range(J.shape[1]):
            s = tree.speed[a]
            out[i, s] = out[i, s] + J[i, a]


def fold_matrix(tree, M, out):
    """Rows and columns.  Reads M (na, na).  Writes out (nv, nv)."""
    for s in range(out.shape[0]):
        for r in range(out.shape[0]):
            out[s, r] = 0.0
    for a in range(M.shape[0]):
        for b in range(M.shape[0]):
            s, r = tree.speed[a], tree.speed[b]
            out[s, r] = out[s, r] + M[a, b]
