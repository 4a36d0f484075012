"""The lmdb reader agrees with the library, and survives every damage."""

import lmdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srmcmc_tf.files.lmdb_file import LmdbFile


def write(folder, entries, **options):
    with lmdb.open(str(folder), map_size=2**26, **options) as database:
        for some in (entries[::2], entries[1::2]):  # several transactions
            with database.begin(write=True) as transaction:
                for key, value in some:
                    transaction.put(key, value)
    return folder / "data.mdb"


def contents(path):
    file = LmdbFile(path)
    return [(key, file.read(value)) for key, value in file.values()]


def some_entries():
    """Long keys, for a tree of three levels, and values of all lengths."""
    return [
        (f"{i * 7919 % 10007:0300d}".encode(), bytes([i % 251]) * (i * 20))
        for i in range(250)
    ]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return write(tmp_path_factory.mktemp("sound"), some_entries())


@settings(max_examples=10)
@given(
    st.dictionaries(
        st.binary(min_size=1, max_size=500), st.binary(max_size=5000)
    )
)
def test_entries_are_those_of_the_library(tmp_path_factory, entries):
    path = write(tmp_path_factory.mktemp("lmdb"), list(entries.items()))
    assert contents(path) == sorted(entries.items())


def test_deep_trees_and_deleted_entries_are_read(tmp_path):
    entries = some_entries()
    path = write(tmp_path, entries)
    with lmdb.open(str(tmp_path), map_size=2**26) as database:
        assert database.stat()["depth"] == 3
        with database.begin(write=True) as transaction:
            for key, _ in entries[:100]:
                transaction.delete(key)
    assert contents(path) == sorted(entries[100:])
    assert LmdbFile(path).size == 150


@given(cut=st.floats(0, 0.9))
def test_a_truncated_file_is_refused_in_one_line(tmp_path_factory, sound, cut):
    path = tmp_path_factory.mktemp("cut") / "data.mdb"
    content = sound.read_bytes()
    path.write_bytes(content[: int(cut * len(content))])
    with pytest.raises(ValueError) as error:
        contents(path)
    assert str(error.value) and "\n" not in str(error.value)


@given(
    st.lists(
        st.tuples(st.integers(0, 10**7), st.binary(min_size=1, max_size=9)),
        min_size=1,
        max_size=30,
    )
)
def test_a_damaged_file_is_read_or_refused_in_one_line(
    tmp_path_factory, sound, changes
):
    content = bytearray(sound.read_bytes())
    size = len(content)
    for place, value in changes:
        if place % 2:  # half of them where heads and pointers are
            place = place // 64 * 4096 + place % 64
        content[place % size : place % size + len(value)] = value
    path = tmp_path_factory.mktemp("damaged") / "data.mdb"
    path.write_bytes(content[:size])
    try:
        found = contents(path)
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
    else:
        assert len(found) <= 250


def test_pages_that_refer_to_each_other_do_not_go_on_forever(tmp_path, sound):
    page = 4096
    content = bytearray(sound.read_bytes())
    newest = max((0, page), key=lambda at: content[at + 144 : at + 152][::-1])
    root = int.from_bytes(content[newest + 128 : newest + 136], "little")
    head = slice(root * page, (root + 1) * page)
    branch = bytearray(content[head])
    count = (int.from_bytes(branch[12:14], "little") - 16) // 2
    for i in range(count):
        node = int.from_bytes(branch[16 + 2 * i : 18 + 2 * i], "little")
        branch[node : node + 6] = root.to_bytes(6, "little")
    content[head] = branch
    (tmp_path / "data.mdb").write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        contents(tmp_path / "data.mdb")


def test_other_files_are_no_lmdb(tmp_path):
    for content in (b"", b"text", bytes(9000)):
        (tmp_path / "data.mdb").write_bytes(content)
        with pytest.raises(ValueError, match="not an lmdb"):
            LmdbFile(tmp_path / "data.mdb")
    with pytest.raises(ValueError, match="not a regular file"):
        LmdbFile("/dev/zero")
    duplicates = tmp_path / "duplicates"
    with lmdb.open(str(duplicates), max_dbs=1) as database:
        database.open_db(b"named", dupsort=True)
    with pytest.raises(ValueError, match="another kind"):
        contents(duplicates / "data.mdb")
