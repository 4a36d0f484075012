"""Every Python snippet in the documents runs, with smaller numbers."""

import re

import documents
import pytest

import srmcmc_tf

# tests/distribution/test_ray.py runs the one that needs Ray.
SNIPPETS = [b for b in documents.blocks("python") if "import ray" not in b.text]
SMALL = {
    "batch_size": 2,
    "epochs": 1,
    "iterations": 1,
    "K": 2,
    "n": 8,
    "n_f": 2,
    "steps_per_epoch": 1,
    "updates": 1,
}


@pytest.mark.parametrize("block", SNIPPETS, ids=lambda block: block.name)
def test_a_snippet_runs(block, inside):
    text = block.text
    for name, value in SMALL.items():
        text = re.sub(rf"\b{name}=\d+", f"{name}={value}", text)
    exec(compile(text, block.name, "exec"), {})
    if 'model.save("model.keras")' in text:
        assert srmcmc_tf.load("model.keras").image_shape == (32, 32, 3)


def test_the_languages_of_all_blocks_are_known():
    # Not run: sh and bibtex, of other programs. The JSON requests are sent by
    # tests/serving/test_rest.py.
    known = {"", "python", "json", "yaml", "sh", "bibtex"}
    assert {block.language for block in documents.blocks()} <= known
