import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from srmcmc_tf.cli import parsers
from srmcmc_tf.config import masks


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


def test_more_numbers_than_fit_into_the_memory_are_refused():
    begin = time.perf_counter()
    with pytest.raises(parsers.Refusal, match="2,147,483,648 numbers, of at"):
        parsers.integers()("0-2147483647")
    assert time.perf_counter() - begin < 1.0


@settings(derandomize=True, max_examples=80, deadline=None)
@given(st.text() | st.text("0123456789-,.", max_size=12))
@example("0,1,...")
@example("5,5,...,9")
@example("-1-3")
@example("9" * 5000)
def test_any_text_is_numbers_in_range_or_a_refusal(text):
    for parse in (parsers.integers(high=99), parsers.integer(0, 99)):
        try:
            found = parse(text)
        except parsers.Refusal:
            continue
        numbers = found if isinstance(found, list) else [found]
        assert numbers and all(0 <= number <= 99 for number in numbers)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=9))
def test_numbers_written_with_commas_are_read_back(numbers):
    assert parsers.integers()(",".join(map(str, numbers))) == numbers


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


def test_a_mask_is_a_name_or_becomes_a_text(tmp_path):
    assert parsers.mask("center") == "center"
    picture = np.zeros([8, 8], np.uint8)
    picture[2:5, 3:6] = 255
    Image.fromarray(picture).save(tmp_path / "mask.png")
    text = parsers.mask(str(tmp_path / "mask.png"))
    known = masks.known_pixels(text, 8)[..., 0]
    np.testing.assert_array_equal(known, picture > 0)
    assert parsers.mask(text) == text
    with pytest.raises(parsers.Refusal, match="center, left or a picture"):
        parsers.mask(str(tmp_path / "none.png"))


def test_classes_are_numbers_or_names():
    assert parsers.labels("0-2,7") == [0, 1, 2, 7]
    assert parsers.labels("cat,t-shirt") == ["cat", "t-shirt"]
    with pytest.raises(parsers.Refusal, match="must be classes"):
        parsers.labels("cat,")
