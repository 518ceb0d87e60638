"""Weight files that are broken, cut, or lie about their size: a clear error, no crash, and no memory taken for nothing."""

import random
import struct
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterstate.cli.main import Exit
from afterstate.errors import AfterstateError, FileError, InputError, ModelError, ResourceError
from afterstate.network.interop.foreign import find_foreign
from afterstate.network.interop.reading import Reading, split_reading
from afterstate.network.modelfile import load_model, read_header
from commandline import check, run
from otherweights import course_file, demo_file, make_tables, tdl_file, tdl_name, tdl_simple, tdl_table

PATTERNS = ("01", "569")
TABLES = make_tables(PATTERNS)
NAMES = [tdl_name(pattern) for pattern in PATTERNS]
WITH_TC = tdl_file(*(tdl_table(tdl_name(name), ("f", held), ("f", held + held)) for name, held in TABLES.items()))
FILES = {
    "course": course_file(TABLES),
    "2017": course_file(TABLES, count="Q"),
    "demo": demo_file(TABLES),
    "tdl": tdl_simple(TABLES),
    "tc": WITH_TC,
    "row": tdl_simple({"01": TABLES["01"]}) + tdl_simple({"569": TABLES["569"]}),
}
HUGE = 1 << 60
MEBIBYTE = 1 << 20


def read(path: Path) -> object:
    """Everything that a file holds."""
    foreign = find_foreign(path, Reading(network=",".join(PATTERNS)))
    assert foreign is not None
    return foreign.load_all()


def refused(path: Path, raw: bytes, *words: str) -> str:
    """Reading these bytes fails with one line that names the file -> that line."""
    path.write_bytes(raw)
    with pytest.raises(FileError) as caught:
        read(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    for word in words:
        assert word in text, text
    return text


@pytest.mark.parametrize("kind", FILES)
def test_whole_files_are_read(kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(FILES[kind])
    assert read(tmp_path / "file")


def boundaries(raw: bytes) -> Iterator[int]:
    """Where to cut: everywhere near the beginning and the end, and somewhere in between."""
    yield from range(min(64, len(raw)))
    yield from range(64, len(raw) - 64, 499)
    yield from range(max(len(raw) - 64, 64), len(raw))


def ends_between_files(kind: str, cut: int) -> bool:
    """Of two files in a row, the first alone is a whole file, though not with the patterns that we ask for."""
    return kind == "row" and cut == len(tdl_simple({"01": TABLES["01"]}))


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_cut_is_refused_wherever_it_ends(kind: str, tmp_path: Path) -> None:
    for cut in boundaries(FILES[kind]):
        text = refused(tmp_path / "file", FILES[kind][:cut])
        if cut > 24 and not ends_between_files(kind, cut):
            assert "not a whole file" in text


@pytest.mark.parametrize("kind", ["course", "2017", "demo", "tdl"])
def test_more_than_the_tables_is_refused(kind: str, tmp_path: Path) -> None:
    refused(tmp_path / "file", FILES[kind] + b"\x01", "not a whole file")


# --- headers that lie ----------------------------------------------------------------------------------------------------

ONE = tdl_table(NAMES[0], ("f", TABLES["01"]))
FLOATS = struct.pack("<256f", *range(256))
LIES = {
    "tables without end, demo": (struct.pack("<Qi", 4000, 20) + b"2-tuple pattern 01  ", "name a pattern"),
    "weights without end, course": (
        struct.pack("<IQ", 2, 256) + FLOATS + struct.pack("<Q", HUGE),
        "table 2 has 1152921504606846976 weights",
    ),
    "weights without end, demo": (struct.pack("<Qi", 1, 18) + b"2-tuple pattern 01" + struct.pack("<Q", HUGE), "weights"),
    "weights without end, tdl": (struct.pack("<BIB", 0, 1, 4) + NAMES[0] + struct.pack("<HQ", 4, HUGE), "weights"),
    "as many as there can be": (struct.pack("<IQ", 1, 16**8) + FLOATS, "17179869184 bytes"),
    "a block without end": (tdl_file(ONE[:-2] + struct.pack("<HQ", 65535, HUGE)), "bytes"),
    "tables without end, tdl": (struct.pack("<BIB", 0, 0xFFFFFFFF, 4) + NAMES[0], "4294967295 tables"),
    "fewer tables than it says": (struct.pack("<I", 3) + FILES["course"][4:], "it ends at byte"),
    "no power of 16": (struct.pack("<IQ", 2, 256) + FLOATS + struct.pack("<Q", 390625), "390625 weights"),
    "numbers of three bytes": (struct.pack("<BIB", 0, 1, 4) + NAMES[0] + struct.pack("<HQ", 3, 256), "3 bytes"),
    "another kind of table": (tdl_file(tdl_table(NAMES[0], ("f", TABLES["01"])), b"\x07" * 9), "begins with 7"),
    "another magic between files": (FILES["tdl"] + b"\x09" + FILES["tdl"][1:], "where 0 begins a file"),
    "a name without letters": (struct.pack("<Q", 2) + demo_file({"01": TABLES["01"]})[8:] + b"\xff" * 4, "-1 letters"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_takes_no_memory(lie: str, tmp_path: Path) -> None:
    raw, word = LIES[lie]
    (tmp_path / "file").write_bytes(raw)
    tracemalloc.start()
    try:
        refused(tmp_path / "file", raw, word)
        assert tracemalloc.get_traced_memory()[1] < MEBIBYTE
    finally:
        tracemalloc.stop()


def test_a_file_larger_than_the_memory_is_refused(tmp_path: Path) -> None:
    """A file of holes as large as it says: 16 tables of 16 GiB."""
    path = tmp_path / "weights.bin"
    table = struct.pack("<Q", 16**8)
    with open(path, "wb") as file:
        file.write(struct.pack("<I", 16))
        for _ in range(16):
            file.write(table)
            file.seek(4 * 16**8, 1)
        file.truncate(file.tell())
    cells = ["01234567", "12345678", "23456789", "3456789a", "456789ab", "56789abc", "6789abcd", "789abcde"]
    cells += ["02468ace", "13579bdf", "01234568", "01234569", "0123456a", "0123456b", "0123456c", "0123456d"]
    foreign = find_foreign(path, Reading(network=",".join(cells)))
    assert foreign is not None
    with pytest.raises(ResourceError, match=r"256\.0 GiB"):
        foreign.load()


# --- names and numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["0123456789", "mono", "01-2", "00", "", "0g", "é1"])
def test_names_that_are_no_patterns(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    text = f"2-tuple pattern {name}".encode("latin-1")
    raw = struct.pack("<Qi", 1, len(text)) + text + struct.pack("<Q", 256) + FLOATS
    refused(path, raw, "pattern" if name != "00" else "more than once")
    refused(path, tdl_file(tdl_table(name.encode("latin-1").ljust(8)[:8], ("f", TABLES["01"]))), "file of TDL2048+")


@pytest.mark.parametrize(
    "name", [struct.pack("<IHH", 0x123, 2, 0), struct.pack("<IHH", 0x10100001, 8, 0), struct.pack("<IHH", 1, 9, 0)]
)
def test_names_that_do_not_fit_their_size(name: bytes, tmp_path: Path) -> None:
    refused(tmp_path / "file", tdl_file(tdl_table(name, ("f", TABLES["01"]))), "no pattern of 2 cells")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("kind", ["course", "demo", "tdl"])
def test_weights_that_are_no_numbers(wrong: float, kind: str, tmp_path: Path) -> None:
    raw = FILES[kind]
    at = len(raw) - (402 if kind == "tdl" else 400)
    refused(tmp_path / "file", raw[:at] + struct.pack("<f", wrong) + raw[at + 4 :], "where a weight", f"byte {at}")


def test_a_weight_that_is_too_large(tmp_path: Path) -> None:
    table = tdl_table(NAMES[0], ("d", [*TABLES["01"][:-1], 1e300]))
    refused(tmp_path / "file", tdl_file(table), "patterns are 01")
    (tmp_path / "file").write_bytes(tdl_file(table))
    with pytest.raises(ModelError, match=r"1e\+300"):
        load_model(tmp_path / "file")


def test_a_table_twice_or_not_in_every_stage(tmp_path: Path) -> None:
    held = ("f", TABLES["01"])
    path = tmp_path / "a.w"
    path.write_bytes(tdl_file(tdl_table(NAMES[0], held), tdl_table(NAMES[0], held)))
    with pytest.raises(ModelError, match="2 tables in stage 0"):
        load_model(path)
    path.write_bytes(tdl_file(tdl_table(NAMES[0], held), tdl_table(tdl_name("04", 1), held)))
    with pytest.raises(ModelError, match="2 stages, not 1"):
        load_model(path)
    with pytest.raises(ModelError, match="0 tables in stage 0"):
        load_model(f"{path}:stages=0,512")
    with pytest.raises(ModelError, match="0 is not a tile"):
        load_model(f"{path}:stages=0,0")


# --- another game, another network ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "error", "word"),
    [
        ("network=0123,569", ModelError, "needs 65536"),
        ("network=01", ModelError, "it has 2 tables"),
        ("network=01,569:stages=0,512", ModelError, "2 stages need 4"),
        ("network=01,569:stages=x", ModelError, "stages are tiles"),
        ("network=01,569:symmetry=3", ModelError, "isomorphisms"),
        ("network=01,569:symmetry=x", InputError, "symmetry is 8, 4 or 1"),
        ("network=01,569:target=dreams", ModelError, "dreams"),
        ("network=01,569:game=chess", ModelError, "no game is called"),
        ("network=01,569:size=2x2", ModelError, "cells 0 to 3"),
        ("network=nothing-x", ModelError, "no network is called"),
        ("patterns=01", InputError, "does not say how to read"),
        ("4x6", InputError, "does not say how to read"),
        ("", InputError, "does not say how to read"),
    ],
)
def test_what_does_not_fit_is_refused(told: str, error: type[AfterstateError], word: str, tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(FILES["course"])
    with pytest.raises(error, match=word):
        load_model(f"{tmp_path / 'weights.bin'}:{told}")


def test_another_games_tables(tmp_path: Path) -> None:
    for kind in ("demo", "tdl"):
        (tmp_path / kind).write_bytes(FILES[kind])
        with pytest.raises(ModelError, match="weights are for 2048 on the 4x4 board"):
            load_model(f"{tmp_path / kind}:game=threes")
        with pytest.raises(ModelError, match="its patterns are 01,569, not 0123"):
            read_header(f"{tmp_path / kind}:network=0123")


def test_the_commands_say_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(course_file(make_tables(["012", "345"])))
    check(run("info", path), Exit.MODEL, "3, 3 cells", "--network", "FILE:network=")
    check(run("move", f"{path}:network=x-y", "2"), Exit.MODEL, "x-y")
    check(run("eval", f"{path}:4x6"), Exit.INPUT, "network=4x6")
    check(run("move", f"{tmp_path / 'no.bin'}:network=4x6", "2"), Exit.FILE, "there is no model or run")
    (tmp_path / "a.w").write_bytes(b"RIFF" * 100)
    check(run("info", tmp_path / "a.w"), Exit.MODEL, "byte 0 is 82")
    check(run("convert", tmp_path / "a.w", tmp_path / "b.bin", "--network", "4x6"), Exit.MODEL, "52 49 46 46")


def test_our_own_models_need_no_reading(small: Path) -> None:
    best = small / "checkpoints" / "best.safetensors"
    with pytest.raises(InputError, match="says by itself"):
        load_model(f"{best}:network=4x6")


def test_a_file_may_have_colons_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a:b=c.bin"
    path.write_bytes(course_file(make_tables(["0123", "4567"])))
    assert split_reading(path) == (path, Reading())
    assert load_model(path).patterns == ("0123", "4567")
    assert split_reading(f"{path}:network=2x4") == (path, Reading(network="2x4"))


# --- anything at all -----------------------------------------------------------------------------------------------------


def mutate(raw: bytes, generator: random.Random) -> bytes:
    """A file with a few changes, mostly in its headers: other bytes, other numbers, parts left out, repeated or exchanged."""
    changed = bytearray(raw)
    heads = [0, 4, 8, 12, 16, 24, len(raw) - 4 * 16**3 - 40, len(raw) - 4 * 16**3 - 16, len(raw) - 16]
    for _ in range(generator.choice((1, 1, 1, 2, 4))):
        at = min(max(generator.choice(heads) + generator.randrange(12), 0), max(len(changed) - 1, 0))
        if generator.random() < 0.3:
            at = generator.randrange(len(changed) or 1)
        kind = generator.randrange(6)
        if kind == 0:
            changed[at : at + 1] = bytes([generator.randrange(256)])
        elif kind == 1:
            number = generator.choice([0, 1, 16, 255, 256, 4096, 2**31, 2**32 - 1, 2**60, 2**64 - 1, generator.getrandbits(64)])
            changed[at : at + 8] = struct.pack("<Q", number)
        elif kind == 2:
            changed[at : at + 2] = struct.pack("<H", generator.choice([0, 1, 2, 4, 8, 65535]))
        elif kind == 3:
            del changed[at : at + generator.choice((1, 2, 4, 8, 100, 100_000))]
        elif kind == 4:
            changed[at:at] = changed[at : at + generator.choice((1, 2, 4, 8, 100))]
        else:
            changed[at] ^= 1 << generator.randrange(8)
        changed = changed or bytearray(b"\0")
    return bytes(changed)


def test_anything_at_all_is_read_or_refused(tmp_path: Path, long: bool) -> None:
    """Only errors of ours, as one line, and never much memory. With --long a million files."""
    generator = random.Random(24)
    path = tmp_path / "file"
    kinds = sorted(FILES)
    tracemalloc.start()
    outcomes = {True: 0, False: 0}
    said: set[str] = set()
    for number in range(1_000_000 if long else 1500):
        raw = mutate(FILES[kinds[number % len(kinds)]], generator)
        path.write_bytes(raw)
        name = f"{path}:network={','.join(PATTERNS)}" if generator.random() < 0.8 else str(path)
        try:
            if (foreign := find_foreign(name)) is None:
                continue
            foreign.load_all()
            outcomes[True] += 1
        except AfterstateError as error:
            outcomes[False] += 1
            said.add(str(error)) if number < 1500 else None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not any("\n" in text or len(text) > 600 for text in said)
    assert min(outcomes.values()) > 100, "a mutation that nobody notices, or that always hurts, tests nothing"
    assert peak < 32 * MEBIBYTE
