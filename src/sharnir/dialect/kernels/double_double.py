"""Double-double arithmetic, in the dialect: a number is the sum of two doubles (high, low), 32 digits in all.

Interpreted as it stands; compiled, bit for bit the same, and called wherever other code computes in double-double.
Errors are some 1e-31 of the result.  `start` is the result to double precision, which one step of
Newton's method then doubles.  Dekker 1971; Hida, Li, Bailey 2001
"""

from ..ops import sqrt

SPLITTER = 134217729.0  # 2^27 + 1
ROUND = 6755399441055744.0  # 1.5 2^52: adding and subtracting it leaves the nearest integer
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
LN2 = (0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34)
HALVED = 512.0  # 2^9: by so much an argument of exp is reduced
# 1/k! as pairs
HIGH = (
    1.0, 1.0, 0.5, 0.16666666666666666, 0.041666666666666664, 0.008333333333333333, 0.001388888888888889,
    0.0001984126984126984, 2.48015873015873e-05, 2.7557319223985893e-06, 2.755731922398589e-07, 2.505210838544172e-08,
    2.08767569878681e-09, 1.6059043836821613e-10, 1.1470745597729725e-11, 7.647163731819816e-13, 4.779477332387385e-14,
    2.8114572543455206e-15, 1.5619206968586225e-16, 8.22063524662433e-18, 4.110317623312165e-19, 1.9572941063391263e-20,
    8.896791392450574e-22, 3.868170170630684e-23, 1.6117375710961184e-24, 6.446950284384474e-26, 2.4795962632247976e-27,
    9.183689863795546e-29,
)  # fmt: skip
LOW = (
    0.0, 0.0, 0.0, 9.25185853854297e-18, 2.3129646346357427e-18, 1.1564823173178714e-19, -5.300543954373577e-20,
    1.7209558293420705e-22, 2.1511947866775882e-23, -1.858393274046472e-22, 2.3767714622250297e-23, -1.448814070935912e-24,
    -1.20734505911326e-25, 1.2585294588752098e-26, 2.0655512752830745e-28, 7.03872877733453e-30, 4.399205485834081e-31,
    1.6508842730861433e-31, 1.1910679660273754e-32, 2.2141894119604265e-34, 1.4412973378659527e-36, -1.3643503830087908e-36,
    -7.911402614872376e-38, -8.843177655482344e-40, -3.6846573564509766e-41, -1.9330404233703465e-42, -1.2953730964765229e-43,
    1.4303150396787322e-45,
)  # fmt: skip


# --- sums and products of doubles, exact --------------------------------------------------------------------------------------
def two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def ordered_sum(a, b):
    """`two_sum` where |a| >= |b|, or a = 0."""
    s = a + b
    return s, b - (s - a)


def two_product(a, b):
    p = a * b
    s, t = SPLITTER * a, SPLITTER * b
    a_high, b_high = s - (s - a), t - (t - b)
    a_low, b_low = a - a_high, b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


# --- operators ----------------------------------------------------------------------------------------------------------------
def add(a, b):
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = ordered_sum(s, e + t)
    return ordered_sum(s, e + f)


def neg(a):
    return -a[0], -a[1]


def sub(a, b):
    return add(a, neg(b))


def mul(a, b):
    p, e = two_product(a[0], b[0])
    return ordered_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


def div(a, b):
    """Three digits of a long division, each a double."""
    q = a[0] / b[0]
    left = sub(a, scaled(b, q))
    r = left[0] / b[0]
    left = sub(left, scaled(b, r))
    return add(ordered_sum(q, r), (left[0] / b[0], 0.0))


def scaled(a, x):
    """a times a double."""
    p, e = two_product(a[0], x)
    return ordered_sum(p, e + a[1] * x)


def root(a):
    if not a[0] > 0.0:
        return sqrt(a[0]), 0.0
    y = sqrt(a[0])
    left = sub(a, two_product(y, y))
    return two_sum(y, left[0] / (2.0 * y))


def absolute(a):
    sign = -1.0 if less(a, (0.0, 0.0)) else 1.0
    return sign * a[0], sign * a[1]


def less(a, b):
    return a[0] < b[0] or (a[0] == b[0] and a[1] < b[1])


def less_equal(a, b):
    return a[0] < b[0] or (a[0] == b[0] and a[1] <= b[1])


def length(a, b):
    return root(add(mul(a, a), mul(b, b)))


def whole(a, start):
    """floor(a); where the first part is a whole number, the second decides."""
    if start != a[0]:
        return start, 0.0
    low = (a[1] + ROUND) - ROUND
    return ordered_sum(start, low - 1.0 if low > a[1] else low)


def rest(a, b, start):
    """a - b floor(a/b). `start`, the rest of the first parts, is exact: what is left without it is a whole number of b."""
    n = ((a[0] - start) / b[0] + ROUND) - ROUND
    left = sub(a, scaled(b, n))
    zero = (0.0, 0.0)
    if b[0] > 0.0:
        return add(left, b) if less(left, zero) else left if less(left, b) else sub(left, b)
    return add(left, b) if less(zero, left) else left if less(b, left) else sub(left, b)


# --- sine and cosine ----------------------------------------------------------------------------------------------------------
def power_series(x, z, first, step, terms, sign):
    """x (1/first! + sign z/(first + step)! + z^2/(first + 2 step)! …)."""
    k = first + step * (terms - 1)
    s = (HIGH[k], LOW[k])
    for i in range(1, terms):
        k = first + step * (terms - 1 - i)
        s = mul(s, z)
        s = add((HIGH[k], LOW[k]), (sign * s[0], sign * s[1]))
    return mul(x, s)


def sine_and_cosine(a):
    """Sine and cosine as one tuple of four. The argument is reduced to a quarter of a turn by pi/2 in three parts."""
    k = (a[0] * 0.6366197723675814 + ROUND) - ROUND
    r = a
    for i in range(3):
        r = sub(r, two_product(k, HALF_PI[i]))
    z = mul(r, r)
    s = power_series(r, z, 1, 2, 14, -1.0)
    c = power_series((1.0, 0.0), z, 0, 2, 14, -1.0)
    quarter = k - 4.0 * ((0.25 * k + ROUND) - ROUND)  # -2 … 2
    if quarter == 1.0:
        return c[0], c[1], -s[0], -s[1]
    if quarter == -1.0:
        return -c[0], -c[1], s[0], s[1]
    if quarter == 0.0:
        return s[0], s[1], c[0], c[1]
    return -s[0], -s[1], -c[0], -c[1]


def sine(a):
    x = sine_and_cosine(a)
    return x[0], x[1]


def cosine(a):
    x = sine_and_cosine(a)
    return x[2], x[3]


def tangent(a):
    x = sine_and_cosine(a)
    return div((x[0], x[1]), (x[2], x[3]))


# --- their inverses -----------------------------------------------------------------------------------------------------------
def angle(y, x, start):
    """atan2(y, x): what is left after a turn back by `start` is its own tangent."""
    t = sine_and_cosine((start, 0.0))
    s, c = (t[0], t[1]), (t[2], t[3])
    along = add(mul(x, c), mul(y, s))
    if not along[0] > 0.0:
        return start, 0.0
    across = sub(mul(y, c), mul(x, s))
    return add((start, 0.0), div(across, along))


def arctangent(a, start):
    return angle(a, (1.0, 0.0), start)


def arcsine(a, start):
    return angle(a, root(mul(sub((1.0, 0.0), a), add((1.0, 0.0), a))), start)


def arccosine(a, start):
    return angle(root(mul(sub((1.0, 0.0), a), add((1.0, 0.0), a))), a, start)


# --- exponentials -------------------------------------------------------------------------------------------------------------
def exponential_less_one(a):
    """exp(a) - 1 for |a| < 0.4, with all digits where a is small."""
    x = (a[0] / HALVED, a[1] / HALVED)
    p = power_series(x, x, 1, 1, 10, 1.0)
    for i in range(9):
        p = add(scaled(p, 2.0), mul(p, p))
    return p


def exponential(a):
    if not abs(a[0]) < 700.0:
        return (0.0, 0.0) if a[0] < 0.0 else (a[0] * 1e308, 0.0)
    k = (a[0] / LN2[0] + ROUND) - ROUND
    r = a
    for i in range(3):
        r = sub(r, two_product(k, LN2[i]))
    s = add((1.0, 0.0), exponential_less_one(r))
    power = 2.0**k
    return power * s[0], power * s[1]


def logarithm(a, start):
    if not a[0] > 0.0:
        return start, 0.0
    return add((start, 0.0), sub(mul(a, exponential((-start, 0.0))), (1.0, 0.0)))


def power(a, b, start, log_start):
    """a^b; `start` has the sign, and is the result where a is zero. `log_start`: log |a|."""
    if a[0] == 0.0 or start != start:
        return start, 0.0
    x = exponential(mul(b, logarithm(absolute(a), log_start)))
    sign = -1.0 if start < 0.0 else 1.0
    return sign * x[0], sign * x[1]


def hyperbolic_sine(a):
    if abs(a[0]) < 0.4:
        e = exponential_less_one(a)
        return scaled(add(e, div(e, add(e, (1.0, 0.0)))), 0.5)
    e = exponential(a)
    return scaled(sub(e, div((1.0, 0.0), e)), 0.5)


def hyperbolic_cosine(a):
    e = exponential(a)
    return scaled(add(e, div((1.0, 0.0), e)), 0.5)


def hyperbolic_tangent(a):
    if abs(a[0]) > 40.0:
        return (1.0, 0.0) if a[0] > 0.0 else (-1.0, 0.0)
    return div(hyperbolic_sine(a), hyperbolic_cosine(a))
