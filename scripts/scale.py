"""Rounds and formats the numbers on the scales of pictures."""

import math

import numpy

def exponent_for(size):
    """Returns the exponent of the power of ten, a multiple of 3, by which numbers of this size are
    divided; 0 if they are short without scaling."""
    if size == 0 or 1e-2 <= size < 1e5:
        return 0
    return 3 * math.floor(math.log10(size) / 3 + 1e-9)


def ticks(low, high, most=6):
    """Returns (values, decimal places) of round numbers from low to high."""
    step = 10**math.floor(math.log10((high - low) / most))
    step *= next(factor for factor in (1, 2, 5, 10, 20) if (high - low) / (factor * step) <= most)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)], digits


def plain(value):
    """Formats a number with up to four digits, without exponent if short: 1.23, 0.00045, 210000."""
    rounded = float(f"{value:.4g}")
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e7:
        return numpy.format_float_positional(rounded, trim="-")
    mantissa, exponent = f"{rounded:.3e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"
