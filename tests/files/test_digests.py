"""Digests must stay what they are: cached files and runs are named by them."""

import types

import numpy as np

from srmcmc_tf.files import digests

ARRAY = np.arange(6, dtype=np.uint8).reshape(2, 3)


def test_every_digest_is_the_string_that_old_runs_stored():
    assert digests.of_array(ARRAY) == "17e88db187afd62c"
    assert digests.of_text("key v1", 16) == "d18e2e473bdac0f8"
    assert digests.of_arrays({"b": ARRAY, "a": ARRAY + 1}) == "3a1b03b5"
    model = types.SimpleNamespace(weights=[ARRAY, ARRAY + 1])
    assert digests.of_weights(model) == (
        "29d11a0b378c35c9ec7dfa772e729f3b4e253b9c28ec416c34ef86fd345389a4"
    )


def test_the_memory_layout_of_an_array_does_not_matter():
    assert digests.of_array(np.asfortranarray(ARRAY)) == digests.of_array(ARRAY)


def test_the_order_of_named_arrays_does_not_matter_but_their_names_do():
    arrays = {"a": ARRAY, "b": ARRAY + 1}
    swapped = dict(reversed(arrays.items()))
    assert digests.of_arrays(swapped) == digests.of_arrays(arrays)
    renamed = {"a": ARRAY, "c": ARRAY + 1}
    assert digests.of_arrays(renamed) != digests.of_arrays(arrays)


def test_empty_and_scalar_arrays_have_digests():
    assert digests.of_array(np.zeros([0, 3])) != digests.of_array(np.float32(1))


def test_parts_of_a_file_are_spread_over_all_of_it(tmp_path):
    path = tmp_path / "file"
    content = np.random.default_rng(0).integers(0, 256, 200_000, np.uint8)
    path.write_bytes(content)
    found = digests.of_file_parts(path)
    assert found == digests.of_file_parts(path) and len(found) == 16
    for place in (0, 100_000, 199_999):  # smaller than 64 parts of 4 kB
        changed = content.copy()
        changed[place] ^= 1
        path.write_bytes(changed)
        assert digests.of_file_parts(path) != found
    for size in (0, 1, 4096, 4097):
        path.write_bytes(content[:size])
        assert digests.of_file_parts(path)
