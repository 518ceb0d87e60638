"""Counts like 100k and 2.5M, times like 90s, 10m and 1h: from text and back."""

import math
import re
from collections.abc import Collection, Iterable
from typing import Any, SupportsFloat, SupportsIndex

from afterstate.errors import InputError

_COUNT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([kKmMgG]?)")
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(us|ms|s|m|h|d)?")
_BYTES = re.compile(r"(\d{1,12})([kKmMgG]?)")
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30}
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_MOST_COUNT = 10**15  # so that sums and products with it fit into 64 bits
_MOST_TIME = 1e11  # seconds: 3,000 years
_SECONDS = {"us": 1e-6, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def plain(value: Any) -> Any:
    """A number of NumPy's as one of Python's, such as np.int64(100) -> 100; anything else as it is."""
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () else value


def parse_count(text: str | SupportsIndex, *, name: str = "count", least: int = 1) -> int:
    """Read '100k' as 100000, '2.5M' as 2500000."""
    text = plain(text)
    if isinstance(text, int) and not isinstance(text, bool):
        count = text
    else:
        match = _COUNT.fullmatch(text.replace("_", "")) if isinstance(text, str) else None
        if match is None:
            raise InputError(f"{name} is a number such as 5000, 100k or 2.5M, not {_show(text)}")
        number = float(match[1]) * _FACTORS[match[2].lower()]
        count = round(number)
        if abs(count - number) > 1e-6:
            raise InputError(f"{name} must be a whole number, not {text!r}")
    if count < least:
        raise InputError(f"{name} must be at least {least}, not {_show(count)}")
    if count > _MOST_COUNT:
        raise InputError(f"{name} must be at most {_MOST_COUNT}, not {_show(count)}")
    return count


def parse_time(text: str | SupportsFloat, *, name: str = "time", bare: bool = True) -> float:
    """Read '10m' as 600.0 seconds. A number without a unit is seconds; as text it is an error if not `bare`."""
    text = plain(text)
    if isinstance(text, str):
        match = _TIME.fullmatch(text)
        if match is None:
            raise InputError(f"{name} is written like 90s, 10m or 1h, not {_show(text)}")
        if match[2] is None and not bare:
            raise InputError(f"{name} {text} has no unit: give {text}s or {text}ms")
        seconds = float(match[1]) * _SECONDS[match[2] or "s"]
    else:
        seconds = _float(text)
    if not 0 < seconds <= _MOST_TIME:
        raise InputError(f"{name} must be more than 0 and at most {_MOST_TIME:.0f} seconds, not {_show(text)}")
    return seconds


def parse_length(text: str, *, name: str = "length") -> tuple[float, bool]:
    """How long something is, in games or in time -> the number, and whether it is seconds: '50k', '2M' games, '30m', '2h'."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match is not None and match[2] is not None:
        return parse_time(text, name=name), True
    try:
        return float(parse_count(text, name=name)), False
    except InputError as error:
        raise InputError(f"{name} is a time such as 30m, or games such as 50k, not {_show(text)}") from error


def parse_bytes(text: str | SupportsIndex, *, name: str = "size") -> int:
    """Read '64M' as 67108864 bytes; a bare number is bytes."""
    text = plain(text)
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    match = _BYTES.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"{name} is written in bytes like 512k, 64M or 2G, not {_show(text)}")
    return int(match[1]) << _SHIFTS[match[2].lower()]


def parse_rate(text: str | SupportsFloat, *, name: str = "alpha") -> float:
    """Read '0.1' as 0.1, '1/64' as 0.015625."""
    if isinstance(text, str):
        top, _, bottom = text.replace(" ", "").partition("/")
        below = _float(bottom[:40] or "1")
        rate = _float(top[:40]) / below if below else math.nan
    else:
        rate = _float(text)
    if math.isnan(rate):
        raise InputError(f"{name} is a number such as 0.1 or 1/64, not {_show(text)}")
    return rate


def parse_share(text: str | float, *, name: str = "share") -> float:
    """Read '10%' as 0.1, '0.1' as 0.1; from above 0 to 100 %."""
    if isinstance(text, str):
        share = _float(text[:40].removesuffix("%")) / (100 if text.endswith("%") else 1)
    else:
        share = _float(text)
    if not 0 < share <= 1:
        raise InputError(f"{name} is a share above 0 and at most 100%, such as 10%, not {_show(text)}")
    return share


def _float(value: Any) -> float:
    """A number as a float; nan for what is none, or too large."""
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError):
        return math.nan


def _show(value: Any) -> str:
    """What was given, for an error message: text in quotes, a number as it is unless it is endless."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**30 else f"a number of {value.bit_length()} bits"
    return repr(shorten(value, 40)) if isinstance(value, str) else shorten(repr(value), 40)


def check_seed(seed: SupportsIndex) -> int:
    """Return a seed if the generator can take it, else raise."""
    seed = plain(seed)
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise InputError(f"seed must be a whole number, 0 to 2**63 - 1, not {_show(seed)}")
    return seed


def format_count(count: float) -> str:
    """Write 100000 as '100k', 2500000 as '2.5M', 1234 as '1234'."""
    for suffix, factor in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= factor and count % (factor // 100) == 0:
            return f"{count / factor:g}{suffix}"
    return f"{count:g}" if isinstance(count, float) else str(count)


def format_rate(rate: float) -> str:
    """A speed as text: 1834567 -> '1.83M', 62500 -> '62.5k', 12 -> '12'."""
    for suffix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= 0.9995 * factor:
            return f"{rate / factor:.3g}{suffix}"
    return f"{rate:.3g}"


def format_bytes(size: float) -> str:
    """A memory size as text: 524288 -> '512 KiB', 268435456 -> '256 MiB'."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}" if size < 1000 * factor else f"{size / factor:.0f} {unit}"
    return f"{size / 1024:.3g} KiB"


def format_time(seconds: float) -> str:
    """A duration as text: 3725 -> '1h02m', 95 -> '1m35s', 4.2 -> '4.2s', 0.0105 -> '10.5ms'."""
    if 0 < seconds < 0.1:
        return f"{seconds * 1e3:.3g}ms" if seconds >= 0.001 else f"{seconds * 1e6:.3g}us"
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{whole % 60:02d}s" if minutes else f"{whole}s"


def check_keywords(given: Iterable[str], known: Collection[str], *, of: str) -> None:
    """Refuse a keyword that is no option, with the error that Python has for it."""
    for name in given:
        if name not in known:
            import difflib  # only for an error

            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
            raise TypeError(f"{of} has no option {name!r}: {hint}")


def shorten(text: str, width: int = 80) -> str:
    """At most `width` characters of a user's text, for an error message."""
    return text if len(text) <= width else text[: width - 3] + "..."
