"""Adams–Bashforth–Moulton in PECE form, order 1 to 13 and step varied together: few evaluations for smooth problems.

The past is stored as modified divided differences phi_1 … phi_k of the derivative; changing the step changes coefficients
only.  Orders 1–12 predict, the corrector is one higher.  Written after the book, its letters and its count from 1:
Shampine, Gordon: Computer Solution of Ordinary Differential Equations, 1975 (STEP, INTRP); ode113 is its descendant.
"""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...dialect.ops import sqrt
from .advance import advance
from .control import begin, first_step, weight_of
from .problem import copy, evaluate, project
from .state import (
    GOING,
    MAX_STEP,
    NOT_FINITE,
    REJECTED,
    STEP_TOO_SMALL,
    H,
    T,
    all_finite,
    arrive_at,
    keep_old,
    reach,
    smallest_step,
)

MAX_ORDER = 12
ADAMS_FAILURES = 40
GSTR = (0.0, 0.5, 0.0833, 0.0417, 0.0264, 0.0188, 0.0143, 0.0114, 0.00936, 0.00789, 0.00679, 0.00592, 0.00524, 0.00468)
K, K_OLD, NS, HOLD, PHASE, ERK, ERKM1, ERKM2 = range(8)


class AdamsMemory(NamedTuple):
    phi: Array[16, "n"]
    p: Array["n"]
    yp: Array["n"]
    psi: Array[14]
    alpha: Array[14]
    beta: Array[14]
    sig: Array[15]
    v: Array[14]
    w: Array[14]
    g: Array[15]
    now: Array[8]  # order, last order, steps of this size so far, last step, whether in the starting phase, errors


def adams_start(problem, run, memory):
    if not begin(problem, run):
        return NOT_FINITE
    first_step(problem, run, 1.0)
    for i in range(run.x.shape[0]):
        memory.phi[1, i] = run.dx[i]
        memory.phi[2, i] = 0.0
    memory.g[1] = 1.0
    memory.g[2] = 0.5
    memory.sig[1] = 1.0
    memory.now[K] = 1.0
    memory.now[K_OLD] = 0.0
    memory.now[NS] = 0.0
    memory.now[HOLD] = 0.0
    memory.now[PHASE] = 1.0
    return GOING


def adams_step(problem, run, memory):
    clock, now, phi = run.clock, memory.now, memory.phi
    n = run.x.shape[0]
    h = clock[H]
    failures, blown = 0, False
    keep_old(run)
    while True:
        if failures > ADAMS_FAILURES or not abs(h) >= smallest_step(run):
            return NOT_FINITE if blown else STEP_TOO_SMALL
        t_new = reach(run, h)
        if abs(t_new - clock[T] - h) > 1e-10 * abs(h):  # the last step; else h stays what it was, to the last bit
            h = t_new - clock[T]
        k = int(now[K])
        adams_coefficients(memory, h, k)
        adams_predict(run, memory, h, k)
        evaluate(problem, run, t_new, memory.p, memory.yp)
        k_new = adams_errors(run, memory, h, k)
        error = abs(h) * now[ERK] * (memory.g[k] - memory.g[k + 1])
        good = error <= 1.0
        if good:
            for i in range(n):
                run.x[i] = memory.p[i] + h * memory.g[k + 1] * (memory.yp[i] - phi[1, i])
            project(problem, t_new, run.x)
            evaluate(problem, run, t_new, run.x, run.dx)
            if all_finite(run, run.dx):
                break
            copy(run.x_old, run.x)
            copy(run.dx_old, run.dx)
        elif error != error:
            all_finite(run, memory.yp)
        blown = good or error != error
        failures += 1
        run.tally[REJECTED] += 1.0
        adams_restore(memory, h, k)
        now[PHASE] = 0.0
        shorter = 0.5
        estimate = abs(h) * now[ERK] * memory.sig[k + 1] * GSTR[k]
        if blown:
            shorter = 0.25
        elif failures > 3 and 0.25 * estimate > 0.5:
            shorter = sqrt(0.5 / estimate)
        now[K] = 1.0 if failures >= 3 or blown else k_new
        h *= shorter
    now[K_OLD] = k
    now[HOLD] = h
    adams_update(run, memory, k)
    arrive_at(run, t_new)
    adams_next(run, memory, h, k, k_new)
    return GOING


def adams_coefficients(m, h, k):
    """psi, alpha, beta, sig, g for this step and order; those before NS stand already.  Chapter 10"""
    now, v, w, alpha = m.now, m.v, m.w, m.alpha
    k_old = int(now[K_OLD])
    if h != now[HOLD]:
        now[NS] = 0.0
    if now[NS] <= k_old:
        now[NS] += 1.0
    ns = int(now[NS])
    if k < ns:
        return
    m.beta[ns] = 1.0
    alpha[ns] = 1.0 / ns
    ahead = h * ns
    m.sig[ns + 1] = 1.0
    for i in range(ns + 1, k + 1):
        before = m.psi[i - 1]
        m.psi[i - 1] = ahead
        m.beta[i] = m.beta[i - 1] * m.psi[i - 1] / before
        ahead = before + h
        alpha[i] = h / ahead
        m.sig[i + 1] = i * alpha[i] * m.sig[i]
    m.psi[k] = ahead
    if ns <= 1:
        for q in range(1, k + 1):
            v[q] = 1.0 / (q * (q + 1.0))
            w[q] = v[q]
    else:
        if k > k_old:  # the order was raised: one more of the integrals
            v[k] = 1.0 / (k * (k + 1.0))
            for j in range(1, ns - 1):
                v[k - j] -= alpha[j + 1] * v[k - j + 1]
        for q in range(1, k + 2 - ns):
            v[q] -= alpha[ns] * v[q + 1]
            w[q] = v[q]
        m.g[ns + 1] = w[1]
    for i in range(ns + 2, k + 2):
        for q in range(1, k + 3 - i):
            w[q] -= alpha[i - 1] * w[q + 1]
        m.g[i] = w[1]


def adams_predict(run, m, h, k):
    """p = x + h sum g_i phi_i; the differences become those at the new point, as predicted."""
    n = run.x.shape[0]
    for i in range(int(m.now[NS]) + 1, k + 1):
        for l in range(n):
            m.phi[i, l] *= m.beta[i]
    for l in range(n):
        m.phi[k + 2, l] = m.phi[k + 1, l]
        m.phi[k + 1, l] = 0.0
        m.p[l] = 0.0
    for i in range(k, 0, -1):
        for l in range(n):
            m.p[l] += m.g[i] * m.phi[i, l]
            m.phi[i, l] += m.phi[i + 1, l]
    for l in range(n):
        m.p[l] = run.x_old[l] + h * m.p[l]


def adams_errors(run, m, h, k):
    """Errors at orders k, k-1, k-2 (RMS of weighted differences); returns the order to go on with."""
    n = run.x.shape[0]
    e2, e1, e0 = 0.0, 0.0, 0.0
    for l in range(n):
        w = weight_of(run, l, m.p[l])
        d = m.yp[l] - m.phi[1, l]
        if k > 2:
            e2 += ((m.phi[k - 1, l] + d) / w) * ((m.phi[k - 1, l] + d) / w)
        if k > 1:
            e1 += ((m.phi[k, l] + d) / w) * ((m.phi[k, l] + d) / w)
        e0 += (d / w) * (d / w)
    e2, e1, e0 = sqrt(e2 / max(n, 1)), sqrt(e1 / max(n, 1)), sqrt(e0 / max(n, 1))
    m.now[ERKM2] = abs(h) * m.sig[k - 1] * GSTR[k - 2] * e2 if k > 2 else 0.0
    m.now[ERKM1] = abs(h) * m.sig[k] * GSTR[k - 1] * e1 if k > 1 else 0.0
    m.now[ERK] = e0
    estimate = abs(h) * e0 * m.sig[k + 1] * GSTR[k]
    if k > 2 and max(m.now[ERKM1], m.now[ERKM2]) <= estimate:
        return k - 1
    if k == 2 and m.now[ERKM1] <= 0.5 * estimate:
        return k - 1
    return k


def adams_restore(m, h, k):
    """The step failed: differences and psi as they were."""
    n = m.p.shape[0]
    for i in range(1, k + 1):
        for l in range(n):
            m.phi[i, l] = (m.phi[i, l] - m.phi[i + 1, l]) / m.beta[i]
    for i in range(2, k + 1):
        m.psi[i - 1] = m.psi[i] - h


def adams_update(run, m, k):
    """Differences with the derivative as corrected."""
    for l in range(run.x.shape[0]):
        m.phi[k + 1, l] = run.dx[l] - m.phi[1, l]
        m.phi[k + 2, l] = m.phi[k + 1, l] - m.phi[k + 2, l]
    for i in range(1, k + 1):
        for l in range(run.x.shape[0]):
            m.phi[i, l] += m.phi[k + 1, l]


def adams_next(run, m, h, k, k_new):
    """Order and step to go on with: doubled, unchanged or shortened, so that coefficients change seldom."""
    now, n = m.now, run.x.shape[0]
    erk = abs(h) * now[ERK] * m.sig[k + 1] * GSTR[k]
    order, error = k, erk
    if k_new == k - 1 or k == MAX_ORDER:
        now[PHASE] = 0.0
    if now[PHASE] == 1.0:
        order, error = k + 1, 0.0
    elif k_new == k - 1:
        order, error = k - 1, now[ERKM1]
    elif k + 1 <= now[NS]:  # the step has been the same long enough to see the next order
        total = 0.0
        for l in range(n):
            d = m.phi[k + 2, l] / weight_of(run, l, run.x[l])
            total += d * d
        above = abs(h) * GSTR[k + 1] * sqrt(total / max(n, 1))
        if k > 1 and now[ERKM1] <= min(erk, above):
            order, error = k - 1, now[ERKM1]
        elif above < (erk if k > 1 else 0.5 * erk) and k < MAX_ORDER:
            order, error = k + 1, above
    now[K] = order
    if now[PHASE] == 1.0 or error * 2.0 ** (order + 1.0) <= 0.5:
        h_new = 2.0 * h
    elif error <= 0.5:
        h_new = h
    else:
        h_new = h * max(0.5, min(0.9, (0.5 / error) ** (1.0 / (order + 1.0))))
    if abs(h_new) > run.rule[MAX_STEP]:
        h_new = h if abs(h) <= run.rule[MAX_STEP] and abs(h) > 0.5 * run.rule[MAX_STEP] else run.rule[MAX_STEP] * h / abs(h)
    run.clock[H] = h_new


def adams_rows(problem, run, m):
    """Store the data of `adams_dense`: the differences and the psi of the last step, and its order."""
    k = int(m.now[K_OLD])
    run.nodes[0] = k
    for j in range(1, k + 1):
        run.nodes[j] = m.psi[j]
    for j in range(1, k + 2):
        for l in range(run.x.shape[0]):
            run.F[j, l] = m.phi[j, l]


def adams_dense(run, t, out):
    """The polynomial through the corrected derivatives, integrated back from the end of the step (INTRP)."""
    psi, w = run.nodes, run.weights
    back = t - run.clock[T]
    ki = int(psi[0]) + 1
    for i in range(1, ki + 1):
        w[i] = 1.0 / i
    for l in range(out.shape[0]):
        out[l] = run.F[1, l]
    term = 0.0
    for j in range(2, ki + 1):
        gamma = (back + term) / psi[j - 1]
        eta = back / psi[j - 1]
        for i in range(1, ki + 2 - j):
            w[i] = gamma * w[i] - eta * w[i + 1]
        for l in range(out.shape[0]):
            out[l] += w[1] * run.F[j, l]
        term = psi[j - 1]
    for l in range(out.shape[0]):
        out[l] = run.x[l] + back * out[l]


def adams(problem, run, events, output, memory):
    return advance(adams_start, adams_step, adams_rows, adams_dense, problem, run, events, output, memory)
