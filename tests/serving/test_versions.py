import pytest

from srmcmc_tf.serving import versions


def test_versions_are_ordered_by_number(tmp_path):
    for name in ("10", "9", ".8.x", "notes", "²", "٣", "9" * 5000):
        if len(name) > 255:
            assert versions.number(tmp_path / name) is None
            continue
        (tmp_path / name).mkdir()
    assert versions.numbers(tmp_path) == [9, 10]
    assert versions.find(tmp_path) == tmp_path / "10"


def test_a_version_is_found_as_itself(tmp_path):
    (tmp_path / versions.CARD_JSON).write_text("{}")
    (tmp_path / "1").mkdir()
    assert versions.find(tmp_path) == tmp_path


def test_without_a_version_nothing_is_found(tmp_path):
    with pytest.raises(ValueError):
        versions.find(tmp_path)
    with pytest.raises(OSError):
        versions.find(tmp_path / "nothing")
