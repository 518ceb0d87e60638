"""Counts and times: from text, to text, and what is refused."""

import pytest

from afterstate.errors import InputError
from afterstate.units import format_count, format_rate, format_time, parse_count, parse_time


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1", 1),
        ("5000", 5000),
        ("100k", 100_000),
        ("100K", 100_000),
        ("2.5M", 2_500_000),
        ("2.5m", 2_500_000),
        ("1G", 10**9),
        ("0.001k", 1),
        ("1.1k", 1100),  # 1.1 has no exact float
        ("4.35M", 4_350_000),
        ("1_000", 1000),
        (7, 7),
    ],
)
def test_a_count_is_read(text: str | int, count: int) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize(
    "text", ["", "k", "abc", "-5", "+5", "1e3", "1,000", "5 ", " 5", "5kk", "5T", ".5k", "nan", "inf", "0x10"]
)
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"games is a number such as 5000, 100k or 2\.5M") as caught:
        parse_count(text, name="games")
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["1.5", "0.5", "1.2345k", "0.0001k"])
def test_a_part_of_a_game_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="block must be a whole number") as caught:
        parse_count(text, name="block")
    assert text in str(caught.value)


def test_a_count_has_a_least_value() -> None:
    with pytest.raises(InputError, match="games must be at least 1, not 0"):
        parse_count("0", name="games")
    with pytest.raises(InputError, match="games must be at least 10, not 9"):
        parse_count("9", name="games", least=10)
    assert parse_count("0", least=0) == 0


def test_a_long_text_is_not_quoted_whole() -> None:
    with pytest.raises(InputError) as caught:
        parse_count("x" * 10_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ["1", "999", "100k", "2.5M", "12G", "1000G", "999999G"])
def test_a_count_may_be_read_again(text: str) -> None:
    count = parse_count(text)
    assert parse_count(count) == count
    assert parse_count(str(count)) == count


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90.0), ("90", 90.0), ("10m", 600.0), ("1h", 3600.0), ("1.5h", 5400.0), ("2d", 172_800.0), ("250ms", 0.25)],
)
def test_a_time_is_read(text: str, seconds: float) -> None:
    assert parse_time(text) == pytest.approx(seconds, rel=1e-12)


def test_a_bare_number_is_seconds() -> None:
    assert parse_time(42) == 42.0
    assert parse_time(0.5) == 0.5


@pytest.mark.parametrize("text", ["", "s", "5x", "-1s", "1h30m", "1e3", "nan", "inf", "ten"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="time is written like 90s, 10m or 1h") as caught:
        parse_time(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["0", "0s", "0.0h"])
def test_no_time_at_all_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="time must be more than 0"):
        parse_time(text)


@pytest.mark.parametrize("text", ["90s", "10m", "1h", "0.03m", "1.03m", "9ms", "0.01ms", "4.1ms", "0.123456789d"])
def test_a_time_may_be_read_again(text: str) -> None:
    """Options are read once from the command line, and again from the file of the run."""
    seconds = parse_time(text)
    assert parse_time(seconds) == seconds


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (1, "1"),
        (999, "999"),
        (1000, "1k"),
        (1234, "1234"),
        (1500, "1.5k"),
        (100_000, "100k"),
        (2_500_000, "2.5M"),
        (2_500_001, "2500001"),
        (10**9, "1G"),
    ],
)
def test_a_count_is_written(count: int, text: str) -> None:
    assert format_count(count) == text


@pytest.mark.parametrize("count", [1, 999, 1000, 1010, 1500, 99_999, 100_000, 123_456, 2_500_000, 10**9, 12 * 10**9])
def test_a_written_count_reads_as_it_was(count: int) -> None:
    assert parse_count(format_count(count)) == count


@pytest.mark.parametrize(("rate", "text"), [(0.0, "0"), (12.0, "12"), (62_500.0, "62.5k"), (1_834_567.0, "1.83M")])
def test_a_rate_is_written(rate: float, text: str) -> None:
    assert format_rate(rate) == text


@pytest.mark.parametrize("rate", [0.25, 999.0, 999.6, 1000.0, 999_400.0, 999_999.0, 1e6, 9.999e8, 1e9, 2.5e9])
def test_a_rate_has_no_exponent(rate: float) -> None:
    assert "e" not in format_rate(rate)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.0s"),
        (4.2, "4.2s"),
        (10.0, "10s"),
        (59.4, "59s"),
        (59.6, "1m00s"),
        (95.0, "1m35s"),
        (3599.7, "1h00m"),
        (3725.0, "1h02m"),
        (90_000.0, "25h00m"),
    ],
)
def test_a_time_is_written(seconds: float, text: str) -> None:
    assert format_time(seconds) == text
