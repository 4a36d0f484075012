import json

import numpy as np

from srmcmc_tf.generation import attractors


def test_a_run_reports_fixed_points_basins_and_recall(tiny_run, tmp_path):
    found = attractors.find(tiny_run, n=12, steps=5, out=tmp_path)
    record = json.loads(found.json.read_text())
    assert record == found.record and found.picture.exists()
    assert sum(record["basins"]) == record["starts"] == 12
    assert len(record["basins"]) == record["fixed_points"]
    for recall in record["recall"].values():
        assert 0 <= recall["same"] <= 1 and recall["mse_before"] > 0
    with np.load(found.file) as arrays:
        assert np.abs(arrays["x"]).max() <= 1
        assert len(arrays["x"]) == record["fixed_points"]
