import json
import time

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.exceptions import BadRequest

from srmcmc_tf.serving import json_tensors

SPECS = {
    "seeds": tf.TensorSpec([None], tf.int64),
    "x": tf.TensorSpec([None, 2], tf.float32),
    "K": tf.TensorSpec([], tf.int32),
    "png_bytes": tf.TensorSpec([None], tf.string),
}


def parse(request, *names, optional=()):
    specs = {name: SPECS[name] for name in names}
    tensors = json_tensors.parse(request, specs, optional)
    return {name: t.numpy().tolist() for name, t in tensors.items()}


def test_rows_and_columns_are_the_same_tensors():
    columns = {"inputs": {"seeds": [1, 2], "x": [[1, 2], [3, 4]]}}
    rows = {"instances": [{"seeds": 1, "x": [1, 2]}, {"seeds": 2, "x": [3, 4]}]}
    found = parse(columns, "seeds", "x")
    assert found == parse(rows, "seeds", "x") == columns["inputs"]


def test_a_single_input_needs_no_name():
    for request in (
        {"inputs": [1, 2]},
        {"instances": [1, 2]},
        {"inputs": {"seeds": [1, 2]}},
        {"instances": [{"seeds": 1}, {"seeds": 2}]},
    ):
        assert parse(request, "seeds") == {"seeds": [1, 2]}
        assert parse(request, "seeds", "K", optional=["K"]) == {"seeds": [1, 2]}


def test_bytes_are_base64():
    file = {"b64": "AAE="}
    for request in ({"inputs": [file]}, {"instances": [file]}):
        assert parse(request, "png_bytes") == {"png_bytes": [b"\x00\x01"]}
    rows = {"instances": [{"png_bytes": file}]}
    assert parse(rows, "png_bytes") == {"png_bytes": [b"\x00\x01"]}
    assert parse({"inputs": ["é"]}, "png_bytes") == {
        "png_bytes": ["é".encode()]
    }


@pytest.mark.parametrize(
    "request_, message",
    [
        ({}, "either inputs or instances"),
        ({"inputs": 1, "instances": [1]}, "either inputs or instances"),
        ({"inputs": [1]}, "inputs must be an object of seeds, K"),
        ({"inputs": {"K": 1}}, "inputs must be an object of seeds, K"),
        ({"inputs": {"seeds": [1], "K": 1, "x": 1}}, "an object of seeds, K"),
        ({"inputs": {"seeds": 1, "K": 1}}, r"seeds must be int64 \[n\]"),
        ({"inputs": {"seeds": [1], "K": [1]}}, r"K must be int32 \[\]"),
        ({"instances": []}, "at least one row"),
        ({"instances": {"seeds": 1}}, "at least one row"),
        ({"instances": [1]}, "a list of objects of seeds, K"),
        ({"instances": [{"seeds": 1, "K": 1}, 2]}, "row 1, must be an object"),
        ({"instances": [{"seeds": 1}]}, "row 0, must be an object of seeds"),
        ({"instances": [{"seeds": 1, "K": 3}]}, "K is one number per request"),
    ],
)
def test_a_malformed_request_is_explained(request_, message):
    with pytest.raises(BadRequest) as error:
        parse(request_, "seeds", "K")
    assert error.match(message)


def test_rows_have_the_same_inputs():
    with pytest.raises(BadRequest) as error:
        rows = [{"seeds": 1}, {"seeds": 1, "x": [1, 2]}]
        parse({"instances": rows}, "seeds", "x", optional=["x"])
    assert error.match("the same inputs as row 0")


def test_answers_have_the_form_of_the_request():
    f, mse = np.float32([0.5, 1.5]), np.float32([2, 3])
    files = np.array([b"\x00", b"\x01"], object)
    assert json_tensors.by_columns({"f": f}) == {"outputs": [0.5, 1.5]}
    assert json_tensors.by_rows({"f": f}) == {"predictions": [0.5, 1.5]}
    both = {"mse": mse, "png_bytes": files}
    assert json_tensors.by_columns(both) == {
        "outputs": {
            "mse": [2, 3],
            "png_bytes": [{"b64": "AA=="}, {"b64": "AQ=="}],
        }
    }
    assert json_tensors.by_rows(both) == {
        "predictions": [
            {"mse": 2, "png_bytes": {"b64": "AA=="}},
            {"mse": 3, "png_bytes": {"b64": "AQ=="}},
        ]
    }


def test_texts_for_numbers_take_no_memory():
    """NumPy would need 40 GB for them."""
    texts = ["a" * 500_000, *[""] * 20_000]
    start = time.process_time()
    with pytest.raises(BadRequest):
        parse({"inputs": texts}, "seeds")
    assert time.process_time() - start < 1


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.builds(lambda text: {"b64": text}, st.text()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*SPECS, "b64", ""]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(VALUES, VALUES, st.sampled_from([["seeds"], ["x", "K"], ["png_bytes"]]))
def test_any_value_is_tensors_of_the_specs_or_a_bad_request(one, two, names):
    specs = {name: SPECS[name] for name in names}
    for request in ({"inputs": one}, {"instances": [one, two]}):
        request = json.loads(json.dumps(request))
        try:
            tensors = json_tensors.parse(request, specs)
        except BadRequest as error:
            assert "\n" not in error.description
            continue
        for name, tensor in tensors.items():
            assert tensor.dtype == specs[name].dtype
            assert specs[name].shape.is_compatible_with(tensor.shape)
