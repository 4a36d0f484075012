import time

import pytest

from srmcmc_tf.cli import parsers


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("5", [5]),
        ("0-3", [0, 1, 2, 3]),
        ("1,2,7-9", [1, 2, 7, 8, 9]),
        ("0,20,...,100", [0, 20, 40, 60, 80, 100]),
        ("0-3,...,7", [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_lists_of_numbers(text, numbers):
    assert parsers.integers()(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "3-", "...,5", "0,...", "-4", "9-2"])
def test_wrong_lists_of_numbers_are_explained(text):
    with pytest.raises(parsers.Refusal, match="must be whole numbers"):
        parsers.integers()(text)


@pytest.mark.parametrize("text", ["0-999999999999999", "0,1,...,999999999999"])
def test_a_list_is_refused_before_it_is_made(text):
    begin = time.perf_counter()
    with pytest.raises(parsers.Refusal, match="from 0 to 9"):
        parsers.integers(high=9)(text)
    assert time.perf_counter() - begin < 1.0


def test_one_number_is_not_a_list():
    parse = parsers.integer(1, 9)
    assert parse("7") == 7
    for text in ("0", "10", "1-3", "two", ""):
        with pytest.raises(parsers.Refusal, match="a whole number, 1 to 9"):
            parse(text)


def test_words_are_some_of_those_allowed():
    assert parsers.choice("a", "b")("b") == "b"
    assert parsers.choices("a", "b", "c")("c,a") == ["c", "a"]
    for parse in (parsers.choice("a", "b"), parsers.choices("a", "b")):
        with pytest.raises(parsers.Refusal, match="must be one of a, b"):
            parse("d")


def test_a_directory_must_exist(tmp_path):
    assert parsers.directory(str(tmp_path)) == str(tmp_path)
    with pytest.raises(parsers.Refusal, match="no such directory"):
        parsers.directory(str(tmp_path / "missing"))


def test_a_path_becomes_absolute_unless_it_is_empty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parsers.absolute_path("a") == str(tmp_path / "a")
    assert parsers.absolute_path("") == ""
