"""Counts like 100k and 2.5M, times like 90s, 10m and 1h: from text and back."""

import re

from afterstate.errors import InputError

_COUNT = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)([kKmMgG]?)")
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)?")
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_count(text: str | int, *, name: str = "count", least: int = 1) -> int:
    """Read '100k' as 100000, '2.5M' as 2500000."""
    match = _COUNT.fullmatch(str(text).replace("_", ""))
    if match is None:
        raise InputError(f"{name} is a number such as 5000, 100k or 2.5M, not {str(text)[:40]!r}")
    number = float(match[1]) * _FACTORS[match[2].lower()]
    count = round(number)
    if abs(count - number) > 1e-6:
        raise InputError(f"{name} must be a whole number, not {text!r}")
    if count < least:
        raise InputError(f"{name} must be at least {least}, not {text}")
    return count


def parse_time(text: str | float, *, name: str = "time") -> float:
    """Read '10m' as 600.0 seconds; a bare number is seconds."""
    match = _TIME.fullmatch(str(text))
    if match is None:
        raise InputError(f"{name} is written like 90s, 10m or 1h, not {str(text)[:40]!r}")
    seconds = float(match[1]) * _SECONDS[match[2] or "s"]
    if seconds <= 0:
        raise InputError(f"{name} must be more than 0, not {text}")
    return seconds


def format_count(count: float) -> str:
    """Write 100000 as '100k', 2500000 as '2.5M', 1234 as '1234'."""
    for suffix, factor in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= factor and count % (factor // 100) == 0:
            return f"{count / factor:g}{suffix}"
    return f"{count:g}" if isinstance(count, float) else str(count)


def format_rate(rate: float) -> str:
    """A speed for people: 1834567 -> '1.83M', 62500 -> '62.5k', 12 -> '12'."""
    for suffix, factor in (("M", 1e6), ("k", 1e3)):
        if rate >= factor:
            return f"{rate / factor:.3g}{suffix}"
    return f"{rate:.3g}"


def format_time(seconds: float) -> str:
    """A duration for people: 3725 -> '1h02m', 95 -> '1m35s', 4.2 -> '4.2s'."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{whole % 60:02d}s" if minutes else f"{whole}s"
