"""The reader of our JSON files: any text is a value or one line of error."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srmcmc_tf.errors import UserError
from srmcmc_tf.files import json_file

SCHEMA = {"n": int, "records": {str: {"value": (float, type(None))}}}
GOOD = {
    "n": 3,
    "records": {"fid": {"value": 2.5, "n": 9}, "kid": {"value": None}},
}


def read(path, content):
    path.write_bytes(content)
    return json_file.read(path, SCHEMA, remedy="move it away")


def test_what_fits_the_schema_is_returned(tmp_path):
    assert read(tmp_path / "a.json", json.dumps(GOOD).encode()) == GOOD


def test_a_missing_file_is_none_and_has_no_lines(tmp_path):
    path = tmp_path / "file" / "a.json"
    assert json_file.read(path, SCHEMA, remedy="") is None
    assert json_file.read_lines(path, SCHEMA, remedy="") == []
    path.parent.write_text("")  # not a directory
    assert json_file.read(path, SCHEMA, remedy="") is None


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"", "Expecting value"),
        (b"[]", "its content must be an object"),
        (b'{"records": {}}', "lacks n"),
        (b'{"n": true, "records": {}}', "n must be a whole number"),
        (b'{"n": 1.0, "records": {}}', "n must be a whole number"),
        (b'{"n": 1, "n": 2, "records": {}}', "contains a name twice"),
        (b'{"n": 1, "records": {"a": {}}}', "lacks records.a.value"),
        (b'{"n": 1, "records": {}, "more": NaN}', "contains NaN"),
        (b'{"n": 1, "records": {}, "more": -Infinity}', "contains -Infinity"),
        (b'{"n": 1, "records": {}, "more": 1e999}', "contains 1e999"),
        (b'{"n": 99999999999999999999, "records": {}}', "too many digits"),
        (b"\xff\xfe", "is not text"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_damage_is_one_line_with_the_file_and_the_remedy(
    tmp_path, content, reason
):
    path = tmp_path / "a.json"
    with pytest.raises(UserError) as error:
        read(path, content)
    text = str(error.value)
    assert text.startswith(f"{path} is damaged (") and reason in text
    assert text.endswith("; move it away") and "\n" not in text
    assert path.read_bytes() == content


def test_what_is_no_regular_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # reading it would never end
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(UserError, match="not a regular file"):
            json_file.read(path, SCHEMA, remedy="")


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1}\n{"n": 2}\n')
    lines = json_file.read_lines(path, {"n": int}, remedy="")
    assert lines == [{"n": 1}, {"n": 2}]
    path.write_text('{"n": 1}\n{"n": \n')
    with pytest.raises(UserError, match=r"a\.jsonl, line 2 is damaged"):
        json_file.read_lines(path, {"n": int}, remedy="")


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        ).map(json.dumps),
        st.builds(
            lambda i, c: json.dumps(GOOD)[:i] + c + json.dumps(GOOD)[i + 1 :],
            st.integers(0, 60),
            st.characters(),
        ),
    )
)
def test_any_text_fits_the_schema_or_is_a_value_error(text):
    try:
        value = json_file.parse(text, SCHEMA)
    except ValueError:
        return
    assert type(value["n"]) is int
    for record in value["records"].values():
        assert type(record["value"]) in (int, float, type(None))
