"""Writes vector_tables.h beside it: python3 vector_tables.py (needs mpmath and numpy).

Near-minimax polynomials (interpolation at Chebyshev's points, with 100 digits) and points of tables that lie close to
floating-point numbers, so that what a table holds adds next to nothing to the error of a result.
"""

import pathlib
import struct

import mpmath as mp
import numpy as np

mp.mp.dps = 100


def single(x):
    """The float32 nearest to x."""
    return mp.mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def fit(f, low, high, terms):
    """Coefficients, lowest first. Next to 0 instead of at 0, where a quotient has no value."""
    return mp.chebyfit(lambda x: f(x if x else mp.mpf(10) ** -25), [low, high], terms)[::-1]


def parts(x, count):
    """float32 numbers whose sum is x."""
    result = []
    for _ in range(count):
        result.append(single(x))
        x -= result[-1]
    return result


def fit_even(f, high, terms):
    """By powers of the square."""
    return fit(lambda square: f(mp.sqrt(square)), 0, high * high, terms)


def least_worst(f, weight, t, fixed, terms):
    """The `terms` coefficients after those `fixed` that make the greatest weighted error least (Lawson's iteration)."""
    columns = np.stack([t**k for k in range(len(fixed), len(fixed) + terms)], axis=1)
    wanted = f - sum(c * t**k for k, c in enumerate(fixed))
    importance = np.ones_like(t)
    for _ in range(60):
        scale = weight * np.sqrt(importance)
        found = np.linalg.lstsq(columns * scale[:, None], wanted * scale, rcond=None)[0]
        importance *= np.abs((columns @ found - wanted) * weight) + 1e-300
        importance /= importance.max()
    return found


def pieces(f, step, count, degree):
    """table[k][j]: the k-th coefficient in x - j * step of f around j * step, for float32. f is odd: the first piece goes
    through 0. Coefficients are rounded one by one, and those after make good what that has cost."""
    rows = []
    for j in range(count):
        t = np.cos(np.linspace(0, np.pi, 120)) * step / 2
        if j == 0:
            t = np.abs(t[t > step * 1e-3])
        exact = np.array([float(f(mp.mpf(float(x)) + j * mp.mpf(step))) for x in t])
        row = [0.0] if j == 0 else []
        while len(row) <= degree:
            found = least_worst(exact, 1 / exact, t, row, degree + 1 - len(row))
            row.append(float(np.float32(found[0])))
        rows.append([mp.mpf(c) for c in row])
    return [[row[k] for row in rows] for k in range(degree + 1)]


def log_points(log, count, rounded, candidates):
    """1 / c and log c for the intervals of the mantissa m in [3/4, 3/2), by the leading bits of its fraction; c = 1 around 1."""
    inverse, value = [], []
    for j in range(count):
        low, high = 1 + mp.mpf(j) / count, 1 + mp.mpf(j + 1) / count
        if j >= count // 2:
            low, high = low / 2, high / 2
        if j in (0, count - 1):
            inverse.append(mp.mpf(1))
            value.append(mp.mpf(0))
            continue
        middle = rounded(2 / (low + high))
        unit = mp.mpf(2) ** (mp.floor(mp.log(middle, 2)) - (23 if rounded is single else 52))
        def distance(inv):
            exact = -log(inv)
            return abs(exact - rounded(exact))
        best = min((middle + i * unit for i in range(-candidates, candidates + 1)), key=distance)
        inverse.append(best)
        value.append(-log(best))
    return [inverse, value]


def saturated(table):
    """With 1 in the middle of the last piece, within a rounding error of which the function is there: so it is 1 from that
    piece's end on."""
    table[0][-1] = mp.mpf(1)
    return table


def pow_points():
    """1 / c of so few bits that c's quotient with a mantissa less 1 is a float32; log2 c in two parts, of which the first
    adds to an exponent without rounding."""
    rows = [[], [], []]
    for j in range(32):
        low, high, steps = (1 + mp.mpf(j) / 32, 1 + mp.mpf(j + 1) / 32, 64)
        if j >= 16:
            low, high, steps = low / 2, high / 2, 32
        inverse = mp.mpf(1) if j in (0, 31) else mp.nint(2 / (low + high) * steps) / steps
        log_c = -mp.log(inverse, 2)
        first = mp.nint(log_c * 2**15) / 2**15
        for row, value in zip(rows, (inverse, first, log_c - first)):
            row.append(value)
    return rows


def log_terms(low, high, terms):
    """Of (log(1 + r) - r) / r^2."""
    return fit(lambda r: (mp.log1p(r) - r) / (r * r), low, high, terms)


def show(name, values, digits, kind):
    def numbers(row):
        return ", ".join(mp.nstr(v, digits, strip_zeros=True, min_fixed=-5, max_fixed=digits) for v in row)
    if isinstance(values[0], list):
        rows = ", ".join("{" + numbers(row) + "}" for row in values)
        return f"constexpr {kind} {name}[{len(values)}][{len(values[0])}] = {{{rows}}};"
    return f"constexpr {kind} {name}[{len(values)}] = {{{numbers(values)}}};"


def main():
    pi, log2 = mp.pi, mp.log(2)
    half_log2 = log2 / 2 * (1 + mp.mpf(2) ** -12)
    eighth = mp.tan(pi / 8) * (1 + mp.mpf(2) ** -20)
    def odd_rest(function):
        return lambda t: (function(t) - t) / t**3
    f32 = [
        ("tanh on [0, 9.04), x = 147/512 j + t", "kTanh", saturated(pieces(mp.tanh, 147 / 512, 32, 5))),
        ("erf on [0, 3.94), x = j/8 + t", "kErf", pieces(mp.erf, 1 / 8, 32, 4)),
        ("(e^r - 1 - r) / r^2, |r| <= ln 2 / 2", "kExp",
         fit(lambda r: (mp.expm1(r) - r) / (r * r), -half_log2, half_log2, 5)),
        ("(2^r - 1) / r, |r| <= 1/2", "kExp2", fit(lambda r: mp.expm1(r * log2) / r, mp.mpf(-0.5), mp.mpf(0.5), 6)),
        ("1/c and log c, m = c (1 + r)", "kLog", log_points(mp.log, 32, single, 1000)),
        ("1/c and log2 c", "kLog2", log_points(lambda x: mp.log(x, 2), 32, single, 1000)),
        ("1/c and log10 c", "kLog10", log_points(mp.log10, 32, single, 1000)),
        ("(log(1 + r) - r) / r^2, -1/60 <= r <= 1/32", "kLog1p", log_terms(-mp.mpf(1) / 60, mp.mpf(1) / 32, 4)),
        ("1/c and log2 c in two parts", "kPow", pow_points()),
        ("(log(1 + r) - r + r^2 / 2) / (ln 2 r^3), |r| <= 1/32", "kPowTail",
         fit(lambda r: (mp.log1p(r) - r + r * r / 2) / r**3 / log2, -mp.mpf(1) / 32, mp.mpf(1) / 32, 4)),
        ("pi / 16 = the sum of these", "kTurnParts", parts(pi / 16, 3)),
        ("sin and cos of 2 pi j / 32", "kTurn", [[mp.sinpi(mp.mpf(j) / 16) for j in range(32)], [mp.cospi(mp.mpf(j) / 16) for j in range(32)]]),
        ("(sin r - r) / r^3 and (cos r - 1) / r^2 by powers of r^2, |r| <= pi / 30", "kSin",
         fit_even(odd_rest(mp.sin), pi / 30, 2)),
        (None, "kCos", fit_even(lambda r: (mp.cos(r) - 1) / (r * r), pi / 30, 2)),
        ("(atan t - t) / t^3 by powers of t^2, |t| <= tan(pi / 8)", "kAtan", fit_even(odd_rest(mp.atan), eighth, 5)),
        ("(asin t - t) / t^3 by powers of t^2, |t| <= 1/2", "kAsin", fit_even(odd_rest(mp.asin), mp.mpf(0.5), 5)),
        ("(sinh t - t) / t^3 by powers of t^2, |t| <= 1", "kSinh", fit_even(odd_rest(mp.sinh), 1, 4)),
    ]
    half_turn = pi / 4 * (1 + mp.mpf(2) ** -20)
    def atanh_rest(s):
        return (2 * mp.atanh(s) - 2 * s) / s**3
    def erf_rest(x):
        return mp.erf(x) / x - 1
    def erfcx(u):
        x = 2 * (1 + u) / (1 - u)
        return mp.erfc(x) * mp.exp(x * x)
    f64 = [
        ("(e^r - 1 - r) / r^2, |r| <= ln 2 / 2", "kExpDouble",
         fit(lambda r: (mp.expm1(r) - r) / (r * r), -half_log2, half_log2, 10)),
        ("(2 atanh s - 2 s) / s^3 by powers of s^2, |s| <= 3 - sqrt(8)", "kAtanhDouble",
         fit_even(atanh_rest, 3 - mp.sqrt(8), 7)),
        ("(2 atanh s - 2 s - 2/3 s^3) / s^5 by powers of s^2, |s| <= 3 - sqrt(8)", "kAtanhTail",
         fit_even(lambda s: (atanh_rest(s) - mp.mpf(2) / 3) / s**2, 3 - mp.sqrt(8), 9)),
        ("erf x / x - 1 by powers of x^2, |x| <= 1", "kErfDouble", fit_even(erf_rest, 1, 13)),
        ("exp(x^2) erfc x, x = 2 (1 + u) / (1 - u) in [1, 6]", "kErfcxDouble",
         fit(erfcx, -mp.mpf(1) / 3, mp.mpf(1) / 2, 16)),
        ("(sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 by powers of r^2, |r| <= pi / 4", "kSinDouble",
         fit_even(odd_rest(mp.sin), half_turn, 6)),
        (None, "kCosDouble", fit_even(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4, half_turn, 6)),
        ("Of kAtan, kAsin and kSinh", "kAtanDouble", fit_even(odd_rest(mp.atan), eighth, 11)),
        (None, "kAsinDouble", fit_even(odd_rest(mp.asin), mp.mpf(0.5), 13)),
        (None, "kSinhDouble", fit_even(odd_rest(mp.sinh), 1, 8)),
    ]
    lines = ["/// \\file", "/// Coefficients and tables of vector_math; vector_tables.py computes them.", "#pragma once", "",
             "namespace deuteron::codegen {", ""]
    for text, name, values in f32:
        lines += [f"/// {text}."] if text else []
        lines += [show(name, values, 10, "double")]
    for text, name, values in f64:
        lines += [f"/// {text}."] if text else []
        lines += [show(name, values, 19, "double")]
    lines += ["", "}  // namespace deuteron::codegen", ""]
    pathlib.Path(__file__).with_suffix(".h").write_text("\n".join(lines))


main()
