import base64
import json
import re

import numpy as np
import pytest
import tensorflow as tf
from demo_client import b64, outputs, post
from helpers import ROOT, random_images
from hypothesis import given, settings
from hypothesis import strategies as st

from srmcmc_tf.data import pixels
from srmcmc_tf.serving import signatures

PNG = tf.io.encode_png(random_images(1)[0]).numpy()


def documented_requests():
    """Those of docs/serving.md by signature, with values for placeholders."""
    text = (ROOT / "docs" / "serving.md").read_text()
    block = re.search(r"```json\n(.*?)```", text, re.S).group(1)
    image = (random_images(1)[0] // 200).tolist()  # fit for all types
    for line in block.splitlines():
        line = line.replace("IMAGE", json.dumps(image))
        line = line.replace('"PNG"', json.dumps(b64(PNG)))
        request = json.loads(line)
        yield request.get("signature_name", "serving_default"), request


def test_the_documented_requests_are_answered_by_the_models_tensors(
    client, exported
):
    _, model = exported
    seen = {}
    for name, request in documented_requests():
        response = post(client, request)
        assert response.status_code == 200, response.text
        (answer,) = response.json.values()
        form = "outputs" if "inputs" in request else "predictions"
        assert list(response.json) == [form]
        seen.setdefault(name, answer)
    assert {*seen, "energy"} == {
        *signatures.SIGNATURES,
        "serving_default",
        "sample_default",
    }

    x = (random_images(1) // 200).astype(np.float32)
    floats = pixels.to_float(random_images(1) // 200)
    file = pixels.to_float(random_images(1))
    z = model.start([0]), model.start([1])
    expected = {
        "sample": model.sample([0, 1], K=10),
        "interpolate": model.interpolate(*z, [1.0, 0.7, 0.0]),
        "reconstruct": model.reconstruct(x, iterations=20).x,
        "reconstruct_uint8": model.reconstruct(floats, iterations=20).x,
        "reconstruct_png": model.reconstruct(file, iterations=20).x,
    }
    for name, images in expected.items():
        found = seen[name]
        np.testing.assert_array_equal(np.float32(found["images"]), images)
        np.testing.assert_array_equal(
            found["images_uint8"], pixels.to_uint8(images.numpy())
        )
        first = np.ravel(found["png_bytes"])[0]["b64"]
        np.testing.assert_array_equal(
            tf.io.decode_png(base64.b64decode(first)),
            np.reshape(found["images_uint8"], [-1, 8, 8, 1])[0],
        )
    for name, images in (
        ("serving_default", x),
        ("energy_uint8", floats),
        ("energy_png", file),
    ):
        np.testing.assert_array_equal(
            np.float32(seen[name]), model(images)[:, 0]
        )


SAMPLE = {"signature_name": "sample", "inputs": {"seeds": [1], "K": 3}}


def changed(**inputs):
    return {**SAMPLE, "inputs": {**SAMPLE["inputs"], **inputs}}


@pytest.mark.parametrize(
    "request_, named",
    [
        (b"", "JSON object"),
        (b"\xff\xfe{", "JSON object"),
        ("[" * 100_000, "JSON object"),
        ([], "JSON object"),
        ({}, "either inputs or instances"),
        ({**SAMPLE, "instances": [1]}, "either inputs or instances"),
        ({**SAMPLE, "signature_name": "nothing"}, "signature_name"),
        ({**SAMPLE, "signature_name": ["sample"]}, "signature_name"),
        ({**SAMPLE, "output_filter": "images"}, "output_filter"),
        ({**SAMPLE, "output_filter": [["images"]]}, "output_filter"),
        ({**SAMPLE, "inputs": {"K": 1}}, "inputs must be an object of"),
        (changed(more=1), "an object of K (optional), seeds"),
        (changed(seeds=[]), "seeds must hold 1 to 64"),
        (changed(seeds=[[1], [2, 3]]), "seeds must be int64 [n]"),
        (changed(seeds=["1"]), "seeds must be int64 [n]"),
        (changed(seeds=[1.5]), "seeds must be int64 [n]"),
        (changed(seeds=[2**63]), "seeds must be int64 [n]"),
        (changed(seeds=[2**80]), "seeds must be int64 [n]"),
        (changed(seeds=None), "seeds must be int64 [n]"),
        (changed(seeds={"b64": "AAAA"}), "seeds must be int64 [n]"),
        (changed(K=True), "K must be int32 []"),
        (changed(K=11), "K must be between 0 and 10"),
        (changed(K=[3]), "K must be int32 []"),
        ({"inputs": {"images": [[[[float("nan")]] * 8] * 8]}}, "images must"),
        ({"inputs": {"images": [[[[1e300]] * 8] * 8]}}, "images must"),
        (
            {
                "signature_name": "energy_uint8",
                "inputs": {"images_uint8": [[[[256]] * 8] * 8]},
            },
            "images_uint8 must be uint8",
        ),
        *(
            (
                {
                    "signature_name": "energy_png",
                    "inputs": {"png_bytes": files},
                },
                m,
            )
            for files, m in (
                ([], "png_bytes must hold 1 to 64"),
                ("AAAA", "png_bytes must be string"),
                ({"b64": b64(PNG)}, "png_bytes must be string"),
                ([{"b64": "?"}], "png_bytes must be string"),
                ([{"b64": 1}], "png_bytes must be string"),
                (["text"], "png_bytes must be PNG"),
                ([{"b64": b64(b"GIF89a")}], "png_bytes must be PNG"),
                ([{"b64": b64(PNG[:-50])}], "png_bytes must be PNG"),
            )
        ),
    ],
)
def test_a_bad_request_is_answered_by_one_line(client, request_, named):
    response = post(client, request_)
    assert response.status_code == 400
    assert named in response.json["error"]
    assert "\n" not in response.json["error"]


def test_a_reconstruction_that_would_take_hours_is_refused(client):
    images = np.zeros([3, 8, 8, 1]).tolist()
    for name, inputs in (
        ("reconstruct", {"images": images, "iterations": 134}),
        ("reconstruct", {"images": images}),
        ("reconstruct_default", {"images": images}),
        ("reconstruct", {"images": 0, "iterations": 1}),
    ):
        response = post(client, {"signature_name": name, "inputs": inputs})
        assert response.status_code == 400
        assert "images must be" in response.json["error"]


def test_what_is_left_out_has_the_value_of_the_python_method(client, exported):
    _, model = exported
    expected = model.sample([0, 1])
    for request in (
        {"signature_name": "sample", "inputs": {"seeds": [0, 1]}},
        {"signature_name": "sample", "inputs": [0, 1]},
        {"signature_name": "sample_default", "inputs": [0, 1]},
    ):
        found = post(client, {**request, "output_filter": ["images"]}).json
        images = np.float32(found["outputs"])
        np.testing.assert_array_equal(images, expected)
    given = {"images_uint8": random_images(1).tolist()}
    full = {**given, "iterations": 200}
    expected = outputs(client, "reconstruct_uint8", full)
    assert outputs(client, "reconstruct_uint8", given) == expected
    assert outputs(client, "reconstruct_uint8_default", given) == expected


def test_rows_are_answered_by_rows(client):
    columns = outputs(client, "sample", {"seeds": [3, 4]})
    for rows in ([3, 4], [{"seeds": 3}, {"seeds": 4}]):
        request = {"signature_name": "sample_default", "instances": rows}
        predictions = post(client, request).json["predictions"]
        assert len(predictions) == 2
        for i, row in enumerate(predictions):
            assert row == {name: column[i] for name, column in columns.items()}
    f = post(client, {"instances": columns["images"]}).json["predictions"]
    assert f == outputs(client, "energy", {"images": columns["images"]})
    files = {"signature_name": "energy_png", "instances": [{"b64": b64(PNG)}]}
    assert len(post(client, files).json["predictions"]) == 1


def test_the_status_is_that_of_tf_serving(client):
    for path in ("", "/versions/1"):
        response = client.get(f"/v1/models/model{path}")
        assert response.status_code == 200
        assert response.mimetype == "application/json"
        (one,) = response.json["model_version_status"]
        assert one == {
            "version": "1",
            "state": "AVAILABLE",
            "status": {"error_code": "OK", "error_message": ""},
        }


def test_the_metadata_describe_every_signature(client, model):
    for path in ("/metadata", "/versions/1/metadata"):
        found = client.get(f"/v1/models/model{path}").json
    assert found["model_spec"]["version"] == "1"
    found = found["metadata"]["signature_def"]["signature_def"]
    assert set(found) == set(model.signatures)
    sample = found["sample"]
    assert sample["method_name"] == "tensorflow/serving/predict"
    assert sample["defaults"] == {"K": 5}
    seeds = sample["inputs"]["seeds"]
    assert seeds["dtype"] == "DT_INT64"
    assert seeds["tensor_shape"]["dim"] == [{"size": "-1", "name": ""}]
    images = found["energy"]["inputs"]["images"]["tensor_shape"]["dim"]
    assert [dim["size"] for dim in images] == ["-1", "8", "8", "1"]


def test_a_version_in_the_path_is_that_of_the_model(client):
    path = "/v1/models/model/versions/1:predict"
    response = client.post(path, data=json.dumps(SAMPLE))
    assert response.status_code == 200
    assert response.json == post(client, SAMPLE).json


@pytest.mark.parametrize(
    "method, path, code",
    [
        ("GET", "/v1/models/other", 404),
        ("GET", "/v1/models/other/metadata", 404),
        ("GET", "/v1/models/model/versions/2", 404),
        ("POST", "/v1/models/other:predict", 404),
        ("POST", "/v1/models/model/versions/2:predict", 404),
        ("POST", f"/v1/models/model/versions/{9**99}:predict", 400),
        ("POST", "/v1/models/model/labels/stable:predict", 400),
        ("POST", "/v1/models/model:classify", 400),
        ("POST", "/v1/models/model:regress", 400),
        ("POST", "/v1/models/model", 400),
        ("GET", "/v1/models/model:predict", 400),
        ("GET", "/v1/models/model/versions/x", 400),
        ("GET", "/v1/models", 400),
        ("GET", "/v1/", 400),
        ("DELETE", "/v1/models/model", 400),
        ("PUT", "/v1/models/model:predict", 400),
    ],
)
def test_other_paths_have_the_codes_of_tf_serving(client, method, path, code):
    response = client.open(path, method=method, data=json.dumps(SAMPLE))
    assert response.status_code == code
    assert list(response.json) == ["error"]


SOME = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.just({"b64": b64(PNG)}),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["seeds", "K", "rho", "images", "b64"]), inner
        )
    ),
    max_leaves=8,
)
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "signature_name": st.sampled_from(
            [*signatures.SIGNATURES, "sample_default"]
        )
        | SOME,
        "inputs": SOME
        | st.fixed_dictionaries(
            {"seeds": st.lists(st.integers(-9, 9)) | SOME},
            optional={"K": st.integers(-1, 3) | SOME},
        ),
        "instances": SOME,
        "output_filter": SOME | st.just(["images"]),
    },
)
TRIES = dict(max_examples=200, deadline=None, derandomize=True, database=None)


@settings(**TRIES)
@given(REQUESTS | SOME)
def test_any_json_is_answered_or_explained(client, request_):
    explained(post(client, json.dumps(request_)))


@settings(**TRIES)
@given(st.binary() | st.text(), st.text(max_size=9))
def test_any_body_and_path_is_answered_or_explained(client, body, path):
    explained(post(client, body))
    explained(client.open(f"/v1/models/{path}", method="POST", data=body))


def explained(response):
    assert response.status_code in (200, 400, 404)
    if response.status_code != 200:
        assert list(response.json) == ["error"]
        assert "\n" not in response.json["error"]
