"""Structured mutations of files: what a bad disk or a bad editor makes of them. The same seed gives the same ones."""

import random
import re

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_]{2,}")
_VALUES = (
    *(b"-1", b"0", b"1", b"-0.0", b"0.1", b"1e999", b"-1e999", b"nan", b"inf", b"-inf", b"NaN", b"Infinity", b"1e308"),
    *(b"4294967296", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"1152921504606846976"),
    *(b"99999999999999999999999", b"0x" + b"f" * 5000, b"7" * 5000, b'"x"', b'""', b"[]", b"[[]]", b"{}", b"{a = 1}"),
    *(b"true", b"false", b"null", b"1979-05-27", b"'1k'", b'"1e9"', b"100%", b"1/0", b"0/0"),
)
_TEXTS = (
    *(b"\0", b"\0" * 600, b"\xff\xfe", b"\xc3", "\u0663\u00b2\ud7ff\U0001f600".encode(), b"\r\n", b"\n", b"|", b"@", b"#"),
    *(b"=", b'"', b"[", b"{", b"[" * 20_000, b'{"a":' * 20_000, b"a." * 20_000, b"a=" + b"[" * 20_000, b"(" * 300, b" " * 5000),
)


def mutate(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Between one and four changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        data = chance.choice(_CHANGES)(data, chance, others)
    return data


def _flip(data: bytes, chance: random.Random, _: list[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :] if at < len(data) else data


def _cut(data: bytes, chance: random.Random, _: list[bytes]) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _drop(data: bytes, chance: random.Random, _: list[bytes]) -> bytes:
    first = chance.randrange(len(data) + 1)
    return data[:first] + data[first + chance.choice((1, 2, 8, 100)) :]


def _repeat(data: bytes, chance: random.Random, _: list[bytes]) -> bytes:
    first = chance.randrange(len(data) + 1)
    part = data[first : first + chance.choice((1, 8, 100))]
    return data[:first] + part * chance.choice((2, 3, 50)) + data[first:]


def _insert(data: bytes, chance: random.Random, _: list[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice((*_TEXTS, *_VALUES, chance.randbytes(5))) + data[at:]


def _splice(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    other = chance.choice(others)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _other_number(data: bytes, chance: random.Random, _: list[bytes]) -> bytes:
    return _put(data, _NUMBER, chance, chance.choice(_VALUES))


def _other_word(data: bytes, chance: random.Random, _: list[bytes]) -> bytes:
    words = _WORD.findall(data[:100_000])
    return _put(data, _WORD, chance, chance.choice(words)) if words else data


def _put(data: bytes, pattern: re.Pattern[bytes], chance: random.Random, new: bytes) -> bytes:
    """Replace one match of a pattern."""
    found = list(pattern.finditer(data, 0, 100_000))
    if not found:
        return data
    one = chance.choice(found)
    return data[: one.start()] + new + data[one.end() :]


def _swap_lines(data: bytes, chance: random.Random, _: list[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data
    one, two = chance.sample(range(len(lines)), 2)
    lines[one], lines[two] = lines[two], lines[one]
    return b"".join(lines)


_CHANGES = (
    _flip,
    _cut,
    _drop,
    _repeat,
    _insert,
    _splice,
    _other_number,
    _other_number,
    _other_number,
    _other_word,
    _swap_lines,
)
