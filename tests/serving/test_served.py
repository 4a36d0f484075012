import shutil

import pytest

from srmcmc_tf.errors import UserError
from srmcmc_tf.serving import served


def test_an_export_has_signatures_defaults_and_a_version(model):
    assert model.version == 1 and model.card["K"] == 5
    sample = model.signatures["sample"]
    assert list(sample.inputs) == ["K", "seeds"]
    assert sample.defaults == {"K": 5}
    assert model.signatures["reconstruct"].defaults == {"iterations": 200}
    assert model.signatures["sample_default"].defaults == {}


def test_an_export_is_found_or_its_absence_reported(exported, tmp_path):
    export = exported[0] / "export"
    assert served.load(export / "1").version == 1
    damaged = shutil.copytree(export / "1", tmp_path / "damaged" / "7")
    (damaged / "saved_model.pb").write_bytes(b"\xff\x00")
    empty = shutil.copytree(export / "1", tmp_path / "empty")
    (empty / "saved_model.pb").write_bytes(b"")
    unmarked = shutil.copytree(export / "1", tmp_path / "unmarked")
    (unmarked / "fingerprint.pb").write_bytes(b"\xff\x00")
    for path in (damaged, empty, unmarked, tmp_path / "nothing", exported[0]):
        with pytest.raises(UserError, match="is not an export"):
            served.load(path)
