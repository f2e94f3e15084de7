"""Vectors (3), matrices (9, row by row), symmetric matrices (6: xx yy zz xy xz yz) and motions (6) as tuples.

G is a matrix of direction cosines, carrier -> body: `mv(G, x)` takes x into the body's axes, `mtv(G, x)` back.
A motion or a force is (linear; angular): three numbers, then three.
"""

ZERO3 = (0.0, 0.0, 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


# --- vectors ------------------------------------------------------------------------------------------------------
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(a, s):
    return (a[0] * s, a[1] * s, a[2] * s)


def neg(a):
    return (-a[0], -a[1], -a[2])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


# --- matrices -----------------------------------------------------------------------------------------------------
def mv(A, x):
    return (A[0]*x[0] + A[1]*x[1] + A[2]*x[2],
            A[3]*x[0] + A[4]*x[1] + A[5]*x[2],
            A[6]*x[0] + A[7]*x[1] + A[8]*x[2])


def mtv(A, x):
    return (A[0]*x[0] + A[3]*x[1] + A[6]*x[2],
            A[1]*x[0] + A[4]*x[1] + A[7]*x[2],
            A[2]*x[0] + A[5]*x[1] + A[8]*x[2])


def mm(A, B):
    x = mtv(B, (A[0], A[1], A[2]))
    y = mtv(B, (A[3], A[4], A[5]))
    z = mtv(B, (A[6], A[7], A[8]))
    return (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


def transpose(A):
    return (A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8])


def cosines_z(c, s):
    """G of a turn about z by the angle with cosine c and sine s."""
    return (c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0)


def cosines_quaternion(w, x, y, z):
    """G of the turn whose quaternion is (w x y z), of any length: it stands for its unit."""
    s = 2.0 / (w*w + x*x + y*y + z*z)
    return (1.0 - s*(y*y + z*z), s*(x*y + w*z), s*(x*z - w*y),
            s*(x*y - w*z), 1.0 - s*(x*x + z*z), s*(y*z + w*x),
            s*(x*z + w*y), s*(y*z - w*x), 1.0 - s*(x*x + y*y))


def quaternion_rate(w, x, y, z, omega):
    """d/dt of the quaternion of a frame that turns with omega, given in its own axes."""
    a, b, c = 0.5 * omega[0], 0.5 * omega[1], 0.5 * omega[2]
    return (-x*a - y*b - z*c, w*a + y*c - z*b, w*b + z*a - x*c, w*c + x*b - y*a)


# --- storage ------------------------------------------------------------------------------------------------------
def get3(X, i):
    return (X[i, 0], X[i, 1], X[i, 2])


def get3b(X, i):
    """The second half of a row of six: its angular part."""
    return (X[i, 3], X[i, 4], X[i, 5])


def get6(X, i):
    return (X[i, 0], X[i, 1], X[i, 2], X[i, 3], X[i, 4], X[i, 5])


def get9(X, i):
    return (X[i, 0], X[i, 1], X[i, 2], X[i, 3], X[i, 4], X[i, 5], X[i, 6], X[i, 7], X[i, 8])


def set3(X, i, x):
    X[i, 0] = x[0]
    X[i, 1] = x[1]
    X[i, 2] = x[2]


def set33(X, i, x, y):
    """A row of six from its linear and its angular part."""
    X[i, 0] = x[0]
    X[i, 1] = x[1]
    X[i, 2] = x[2]
    X[i, 3] = y[0]
    X[i, 4] = y[1]
    X[i, 5] = y[2]


def set9(X, i, x):
    for k in range(9):
        X[i, k] = x[k]


# --- symmetric matrices and inertias --------------------------------------------------------------------------------
def sv(S, x):
    return (S[0]*x[0] + S[3]*x[1] + S[4]*x[2],
            S[3]*x[0] + S[1]*x[1] + S[5]*x[2],
            S[4]*x[0] + S[5]*x[1] + S[2]*x[2])


def add6(a, b):
    return (a[0]+b[0], a[1]+b[1], a[2]+b[2], a[3]+b[3], a[4]+b[4], a[5]+b[5])


def add9(a, b):
    return (a[0]+b[0], a[1]+b[1], a[2]+b[2], a[3]+b[3], a[4]+b[4], a[5]+b[5], a[6]+b[6], a[7]+b[7], a[8]+b[8])


def skew(x):
    """The matrix of the vector product with x."""
    return (0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0)


def congruence(G, A):
    """G'AG: the matrix A seen from the carrier."""
    x = mv(A, (G[0], G[3], G[6]))
    y = mv(A, (G[1], G[4], G[7]))
    z = mv(A, (G[2], G[5], G[8]))
    x, y, z = mtv(G, x), mtv(G, y), mtv(G, z)
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


def congruence_sym(G, S):
    """G'SG of a symmetric S."""
    x = sv(S, (G[0], G[3], G[6]))
    y = sv(S, (G[1], G[4], G[7]))
    z = sv(S, (G[2], G[5], G[8]))
    return (G[0]*x[0] + G[3]*x[1] + G[6]*x[2],
            G[1]*y[0] + G[4]*y[1] + G[7]*y[2],
            G[2]*z[0] + G[5]*z[1] + G[8]*z[2],
            G[1]*x[0] + G[4]*x[1] + G[7]*x[2],
            G[2]*x[0] + G[5]*x[1] + G[8]*x[2],
            G[2]*y[0] + G[5]*y[1] + G[8]*y[2])


def set6(X, i, x):
    for k in range(6):
        X[i, k] = x[k]


def inc33(X, i, x, y):
    """Add to a row of six its linear and its angular part."""
    X[i, 0] = X[i, 0] + x[0]
    X[i, 1] = X[i, 1] + x[1]
    X[i, 2] = X[i, 2] + x[2]
    X[i, 3] = X[i, 3] + y[0]
    X[i, 4] = X[i, 4] + y[1]
    X[i, 5] = X[i, 5] + y[2]
