from srmcmc_tf import errors


def test_the_reason_is_one_line_without_tensorflows_additions():
    text = "/tmp/.x.tmp; No space left on device [Op:SaveV2]\nmore"
    assert errors.reason(OSError(text)) == "No space left on device"
    assert errors.reason(ValueError()) == "ValueError()"
    text = "{{function_node __wrapped__Add}} OOM when allocating [Op:Add]"
    assert errors.reason(ValueError(text)) == "OOM when allocating"


def test_all_kinds_of_memory_errors_are_known():
    class ResourceExhaustedError(Exception):
        """As TensorFlow's."""

    class _ArrayMemoryError(MemoryError):
        """As NumPy's."""

    assert errors.is_out_of_memory(ResourceExhaustedError())
    assert errors.is_out_of_memory(_ArrayMemoryError())
    assert not errors.is_out_of_memory(ValueError())
