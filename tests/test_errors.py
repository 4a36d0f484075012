from srmcmc_tf import errors


def test_the_reason_is_one_line_without_tensorflows_additions():
    text = "/tmp/.x.tmp; No space left on device [Op:SaveV2]\nmore"
    assert errors.reason(OSError(text)) == "No space left on device"
    assert errors.reason(ValueError()) == "ValueError()"
